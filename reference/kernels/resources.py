"""Kernels of resource variables: a handle, and the variable behind it.

The variable is kept in the session's resource store by container, shared name and device; the
handle holds these, and the declared dtype and shape.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import (
    FailedPrecondition,
    InvalidArgument,
    KernelError,
    NotFound,
    OutOfRange,
)
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.host import dtype_of, frozen, host_array
from sessrun.reference.kernels.index_ranges import within, zeroed
from sessrun.reference.kernels.indexing import gather_nd
from sessrun.reference.kernels.input_shapes import require_rank, require_same_shape
from sessrun.reference.kernels.registry import Bind, KernelFunction, VariableBuffer, binder, kernel
from sessrun.reference.kernels.updates import (
    SLICE_UPDATES,
    RowUpdate,
    Update,
    row_update,
    slice_update,
)
from sessrun.reference.kernels.written_buffers import kept_array, update_rows
from sessrun.reference.state.resources import ResourceStore

__all__ = ["Handle"]


@dataclass(frozen=True, slots=True)
class Handle:
    """The value of a resource tensor: where the variable is kept, and how it was declared.

    Attributes:
      store: the resources of the session.
      container: the container, or empty for the default one.
      name: the shared name.
      dtype: the declared dtype's spec name.
      shape: the declared shape, None for unknown dimensions or rank.
      scope: distinguishes it from other resources of its name: its kind and device.

    """

    store: ResourceStore
    container: str
    name: str
    dtype: str
    shape: tuple[int | None, ...] | None
    scope: str = ""

    def held(self) -> VariableBuffer | None:
        """The variable if it has been set, else None."""
        resource = self.store.get(self.container, self.name, self.scope)
        return (
            resource
            if isinstance(resource, VariableBuffer) and resource.peek() is not None
            else None
        )

    def find(self, kind: type[KernelError] = NotFound) -> VariableBuffer:
        """The variable.

        Raises:
          KernelError: of this kind, if it was never set or has been destroyed: in TensorFlow,
            FailedPrecondition for a read, Internal for an optimizer's step, NotFound
            otherwise; InvalidArgument if it is of another dtype.

        """
        buffer = self.held()
        if buffer is None:
            raise kind(
                f"Could not find variable {self.name}. This could mean that "
                "it has been destroyed, or is uninitialized."
            )
        self._check(buffer)
        return buffer

    def create(self) -> VariableBuffer:
        """The variable, created if it does not exist.

        Raises:
          InvalidArgument: the variable exists with another dtype.

        """
        buffer = self.store.get_or_create(
            self.container,
            self.name,
            VariableBuffer,
            lambda: VariableBuffer(self.name),
            self.scope,
        )
        self._check(buffer)
        return buffer

    def remove(self) -> bool:
        """Remove the variable from the store; returns whether it existed."""
        return self.store.remove(self.container, self.name, self.scope) is not None

    def _check(self, buffer: VariableBuffer) -> None:
        """Check the dtype: another node of the same shared name may have set another one."""
        value = buffer.peek()
        if value is not None and value.dtype != dtype_of(self.dtype):
            raise InvalidArgument(
                f"Variable {self.name} is of dtype {value.dtype}, and not of dtype {self.dtype}"
            )


@binder("VarHandleOp", host_outputs=("resource",))
def var_handle(bind: Bind) -> KernelFunction:
    """The handle; nodes with the same container and name, empty ones too, give equal handles."""
    attrs = bind.attrs
    name = attribute_text(attrs["shared_name"])
    handle = Handle(
        bind.resources,
        attribute_text(attrs["container"]),
        name,
        attrs["dtype"],
        attrs["shape"],
        f"resource on {bind.device}",
    )
    return lambda: handle


@binder("ReadVariableOp", host_inputs=("resource",))
def read_variable(bind: Bind) -> KernelFunction:
    """The value of the variable."""
    dtype = bind.attrs["dtype"]

    def compute(handle: Handle) -> Array:
        if handle.dtype != dtype:
            raise InvalidArgument(
                f"Trying to read variable with wrong dtype. Expected {dtype} got {handle.dtype}"
            )
        value: Array = handle.find(FailedPrecondition).read()
        return value

    return compute


@binder("AssignVariableOp", host_inputs=("resource",))
def assign_variable(bind: Bind) -> KernelFunction:
    """Sets the variable, creating it if necessary."""
    dtype, validate = bind.attrs["dtype"], bind.attrs["validate_shape"]

    def compute(handle: Handle, value: Array) -> None:
        if handle.dtype != dtype:
            raise InvalidArgument(
                f"Trying to assign variable with wrong dtype. Expected {handle.dtype} got {dtype}"
            )
        buffer = handle.create()
        with buffer.lock:
            if validate and buffer.value is not None and buffer.value.shape != value.shape:
                raise InvalidArgument(
                    f"Trying to assign to variable with tensor with wrong shape. "
                    f"Expected {buffer.value.shape} got {value.shape}"
                )
            buffer.value = frozen(kept_array(bind.xp, value))

    return compute


def _update(op_type: str, combine: Callable[[Array, Array], Array]) -> None:
    def bind(_: Bind) -> KernelFunction:
        def compute(handle: Handle, value: Array) -> None:
            buffer = handle.find()
            with buffer.lock:
                old = buffer.read()
                if old.shape != value.shape:  # looked at first: it is a matter of 1 µs
                    require_same_shape(old=old, value=value)
                buffer.value = frozen(combine(old, value))

        return compute

    binder(op_type, host_inputs=("resource",))(bind)


_update("AssignAddVariableOp", operator.add)
_update("AssignSubVariableOp", operator.sub)


@kernel("VarIsInitializedOp", host_inputs=("resource",), host_outputs=("is_initialized",))
def var_is_initialized(_: ArrayModule, handle: Handle) -> Array:
    """Whether the variable exists and has been set."""
    return host_array([handle.held() is not None], "bool").reshape(())


@kernel("DestroyResourceOp", host_inputs=("resource",))
def destroy_resource(_: ArrayModule, handle: Handle, *, ignore_lookup_error: bool) -> None:
    """Removes the variable from the store."""
    if not handle.remove() and not ignore_lookup_error:
        raise NotFound(f"Resource {handle.container}/{handle.name} does not exist.")


@binder("VariableShape", host_inputs=("input",), host_outputs=("output",))
def variable_shape(bind: Bind) -> KernelFunction:
    """The shape of the value."""
    dtype = bind.attrs["out_type"]
    return lambda handle: host_array(handle.find().read().shape, dtype)


@kernel("ResourceGather", host_inputs=("resource",))
def resource_gather(xp: ArrayModule, handle: Handle, indices: Array, *, batch_dims: int) -> Array:
    """Slices of the value along its first axis, batch by batch."""
    params = handle.find().read()
    if params.ndim <= batch_dims:
        raise InvalidArgument(f"params must be at least {batch_dims + 1} dimensional")
    indices, inside = within(xp, indices, params.shape[batch_dims], "indices")
    if batch_dims == 0:
        return zeroed(xp, xp.take(params, indices, axis=0), inside)
    batch_indices = []
    for axis in range(batch_dims):
        shape = [1] * indices.ndim
        shape[axis] = params.shape[axis]
        batch_indices.append(xp.arange(params.shape[axis]).reshape(shape))
    return zeroed(xp, params[(*batch_indices, indices, ...)], inside)


@binder("ResourceGatherNd", host_inputs=("resource",))
def resource_gather_nd(bind: Bind) -> KernelFunction:
    """Slices of the value at index vectors."""
    xp = bind.xp
    return lambda handle, indices: gather_nd(xp, handle.find().read(), indices)


def _scatter_rows(op_type: str, update: RowUpdate) -> None:
    def bind(bind: Bind) -> KernelFunction:
        xp = bind.xp

        def compute(handle: Handle, indices: Array, updates: Array) -> None:
            update_rows(handle.find(), update, xp, indices, updates)

        return compute

    binder(op_type, host_inputs=("resource",))(bind)


def _scatter(op_type: str, update: Update) -> None:
    def bind(bind: Bind) -> KernelFunction:
        xp = bind.xp

        def compute(handle: Handle, indices: Array, updates: Array) -> None:
            buffer = handle.find()
            with buffer.lock:
                buffer.value = frozen(update(xp, buffer.read(), indices, updates))

        return compute

    binder(op_type, host_inputs=("ref",))(bind)


for _name, _ufunc in (
    ("Update", None),
    ("Add", "add"),
    ("Sub", "subtract"),
    ("Mul", "multiply"),
    ("Div", "divide"),
    ("Min", "minimum"),
    ("Max", "maximum"),
):
    _scatter_rows(f"ResourceScatter{_name}", row_update(_ufunc))
for _name, _ufunc in SLICE_UPDATES.items():
    _scatter(f"ResourceScatterNd{_name}", slice_update(_ufunc))


@kernel("ResourceCountUpTo", host_inputs=("resource",))
def resource_count_up_to(xp: ArrayModule, handle: Handle, *, limit: int) -> Array:
    """The value before it is counted up by one; an error once it is at the limit."""
    buffer = handle.find()
    with buffer.lock:
        old: Array = buffer.read()
        require_rank(0, old=old)
        if old >= limit:
            raise OutOfRange(f"Reached limit of {limit}")
        buffer.value = old + xp.ones((), dtype=old.dtype)
    return old
