"""Kernels of resource variables: a handle, and the variable behind it.

The variable lives in the session's resource store under its container and shared name; the handle
knows both, and says what the variable's dtype and shape were declared to be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sessrun.reference.kernels.host import frozen, host_array
from sessrun.reference.kernels.indexing import check_range, gather_nd
from sessrun.reference.kernels.registry import Bind, KernelError, VariableBuffer, binder
from sessrun.reference.kernels.updates import row_update
from sessrun.reference.resources import ResourceStore

__all__ = ["Handle"]


@dataclass(frozen=True, slots=True)
class Handle:
    """What a resource tensor holds: where the variable is kept and what it was declared to be.

    Attributes:
      store: the resources of the session.
      container: the container, or empty for the default one.
      name: the shared name.
      dtype: the declared dtype's spec name.
      shape: the declared shape, None for unknown dimensions or rank.

    """

    store: ResourceStore
    container: str
    name: str
    dtype: str
    shape: tuple[int | None, ...] | None

    def find(self, code: int = 5) -> VariableBuffer:
        """The variable.

        Raises:
          KernelError: of this code if it was never set or has been destroyed: 9 for a read, as
            TensorFlow was seen to do, 5 for whatever else.

        """
        found = self.store.get(self.container, self.name)
        if not isinstance(found, VariableBuffer) or found.value is None:
            raise KernelError(code, f"Could not find variable {self.name}. This could mean that "
                              "the variable has not been initialized.")  # fmt: skip
        return found

    def create(self) -> VariableBuffer:
        """The variable, made if there is none."""
        return self.store.get_or_create(
            self.container, self.name, VariableBuffer, lambda: VariableBuffer(self.name)
        )


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


@binder("VarHandleOp", host_outputs=("resource",))
def var_handle(bind: Bind) -> Callable[..., Any]:
    """The handle; every node of one container and name gives an equal one."""
    attrs = bind.attrs
    name = _text(attrs["shared_name"]) or bind.node.name
    handle = Handle(
        bind.resources, _text(attrs["container"]), name, attrs["dtype"], attrs["shape"]
    )
    return lambda: handle


@binder("ReadVariableOp", host_inputs=("resource",))
def read_variable(bind: Bind) -> Callable[..., Any]:
    """The value."""
    dtype = bind.attrs["dtype"]

    def compute(handle: Handle) -> Any:
        if handle.dtype != dtype:
            raise KernelError(3, f"Trying to read variable with wrong dtype. Expected {dtype} got "
                              f"{handle.dtype}")  # fmt: skip
        return handle.find(9).read()

    return compute


@binder("AssignVariableOp", host_inputs=("resource",))
def assign_variable(bind: Bind) -> Callable[..., Any]:
    """Sets the variable, which is made if there is none."""
    dtype, validate = bind.attrs["dtype"], bind.attrs["validate_shape"]

    def compute(handle: Handle, value: Any) -> None:
        if handle.dtype != dtype:
            raise KernelError(3, f"Trying to assign variable with wrong dtype. Expected "
                              f"{handle.dtype} got {dtype}")  # fmt: skip
        if validate and not _fits(handle.shape, value.shape):
            raise KernelError(3, f"Trying to assign to variable with tensor with wrong shape. "
                              f"Expected {handle.shape} got {value.shape}")  # fmt: skip
        buffer = handle.create()
        with buffer.lock:
            buffer.value = frozen(bind.xp.array(value))

    return compute


def _fits(wanted: tuple[int | None, ...] | None, shape: tuple[int, ...]) -> bool:
    return wanted is None or (
        len(wanted) == len(shape)
        and all(want in {None, have} for want, have in zip(wanted, shape, strict=True))
    )


def _update(op_type: str, combine: str) -> None:
    def bind(bind: Bind) -> Callable[..., Any]:
        function = getattr(bind.xp, combine)

        def compute(handle: Handle, value: Any) -> None:
            buffer = handle.find()
            with buffer.lock:
                old = buffer.read()
                if old.shape != value.shape:
                    raise KernelError(3, f"Cannot update variable with shape {list(old.shape)} "
                                      f"using a Tensor with shape {list(value.shape)}, shapes "
                                      "must be equal.")  # fmt: skip
                buffer.value = frozen(function(old, value))

        return compute

    binder(op_type, host_inputs=("resource",))(bind)


_update("AssignAddVariableOp", "add")
_update("AssignSubVariableOp", "subtract")


@binder("VarIsInitializedOp", host_inputs=("resource",), host_outputs=("is_initialized",))
def var_is_initialized(bind: Bind) -> Callable[..., Any]:
    """Whether the variable exists and has been set."""
    del bind

    def compute(handle: Handle) -> Any:
        found = handle.store.get(handle.container, handle.name)
        held = isinstance(found, VariableBuffer) and found.value is not None
        return host_array([held], "bool").reshape(())

    return compute


@binder("DestroyResourceOp", host_inputs=("resource",))
def destroy_resource(bind: Bind) -> Callable[..., Any]:
    """Takes the variable out of the store."""
    ignore = bind.attrs["ignore_lookup_error"]

    def compute(handle: Handle) -> None:
        if handle.store.remove(handle.container, handle.name) is None and not ignore:
            raise KernelError(5, f"Resource {handle.container}/{handle.name} does not exist.")

    return compute


@binder("VariableShape", host_inputs=("input",), host_outputs=("output",))
def variable_shape(bind: Bind) -> Callable[..., Any]:
    """The shape of the value."""
    dtype = bind.attrs["out_type"]
    return lambda handle: host_array(handle.find().read().shape, dtype)


@binder("ResourceGather", host_inputs=("resource",))
def resource_gather(bind: Bind) -> Callable[..., Any]:
    """Slices of the value along its first axis, batch by batch."""
    xp, batch = bind.xp, bind.attrs["batch_dims"]

    def compute(handle: Handle, indices: Any) -> Any:
        params = handle.find().read()
        if params.ndim <= batch:
            raise KernelError(3, f"params must be at least {batch + 1} dimensional")
        check_range(xp, indices, params.shape[batch], "indices")
        if batch == 0:
            return params[indices, ...]
        places = []
        for axis in range(batch):
            shape = [1] * indices.ndim
            shape[axis] = params.shape[axis]
            places.append(xp.arange(params.shape[axis]).reshape(shape))
        return params[(*places, indices, ...)]

    return compute


@binder("ResourceGatherNd", host_inputs=("resource",))
def resource_gather_nd(bind: Bind) -> Callable[..., Any]:
    """Slices at index vectors."""
    xp = bind.xp
    return lambda handle, indices: gather_nd(xp, handle.find().read(), indices)


def _scatter(
    op_type: str, ufunc: str | None, devices: tuple[str, ...] = ("CPU", "GPU")
) -> None:
    update = row_update(ufunc)

    def bind(bind: Bind) -> Callable[..., Any]:
        xp = bind.xp

        def compute(handle: Handle, indices: Any, updates: Any) -> None:
            buffer = handle.find()
            with buffer.lock:
                buffer.value = frozen(update(xp, buffer.read(), indices, updates))

        return compute

    binder(op_type, devices=devices, host_inputs=("resource",))(bind)


_scatter("ResourceScatterUpdate", None)
_scatter("ResourceScatterAdd", "add")
_scatter("ResourceScatterSub", "subtract")
_scatter("ResourceScatterMin", "minimum")
_scatter("ResourceScatterMax", "maximum")
# cupy has no `at` of these two.
_scatter("ResourceScatterMul", "multiply", ("CPU",))
_scatter("ResourceScatterDiv", "divide", ("CPU",))


@binder("ResourceCountUpTo", host_inputs=("resource",))
def resource_count_up_to(bind: Bind) -> Callable[..., Any]:
    """The value before it is counted up by one; an error once it is at the limit."""
    xp, limit = bind.xp, bind.attrs["limit"]

    def compute(handle: Handle) -> Any:
        buffer = handle.find()
        with buffer.lock:
            old = buffer.read()
            if old.shape != ():
                raise KernelError(3, "input is not a scalar")
            if old >= limit:
                raise KernelError(11, f"Reached limit of {limit}")
            buffer.value = old + xp.ones((), dtype=old.dtype)
        return old

    return compute
