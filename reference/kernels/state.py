"""Kernels of reference variables: reads, assignments, updates.

A reference is the variable's `VariableBuffer`. An array in a buffer is read-only and not shared: an
update makes a new array, so that values that were read do not change. Without `use_locking`
one of two concurrent updates may be lost.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import (
    AlreadyExists,
    Internal,
    InvalidArgument,
    NotFound,
    OutOfRange,
)
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.attribute_text import attribute_text, resource_names
from sessrun.reference.kernels.host import dtype_of, frozen, full
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import (
    Bind,
    KernelFunction,
    Step,
    VariableBuffer,
    binder,
    kernel,
)
from sessrun.reference.kernels.updates import (
    SLICE_UPDATES,
    RowUpdate,
    Update,
    row_update,
    slice_update,
)
from sessrun.reference.kernels.written_buffers import kept_array, update_rows

#: The context of an update that does not lock.
_UNLOCKED: Final = contextlib.nullcontext()
#: The container of temporary variables in the resources of a run.
_TEMPORARY: Final = "temporary variables"


class _Variable(VariableBuffer):
    """A buffer with the declared dtype and shape."""

    __slots__ = ("dtype", "shape")

    def __init__(self, name: str, dtype: str, shape: tuple[int, ...] | None) -> None:
        super().__init__(name)
        self.dtype = dtype
        self.shape = shape


@binder("VariableV2", "Variable")
def variable(bind: Bind) -> KernelFunction:
    """The buffer of that container and name, shared by all nodes on the device that name it."""
    dtype = bind.attrs["dtype"]
    container, shared = resource_names(bind.attrs)
    shared = shared or bind.node.name
    shape = bind.attrs["shape"]
    if bind.node.type == "Variable" and shape == ():  # which stands for an unknown shape
        shape = None
    if shape is not None and None in shape:
        raise InvalidArgument(f"Shape {bracketed(shape)} is not fully defined")

    def make() -> _Variable:
        buffer = _Variable(bind.node.name, dtype, shape)
        if shape is not None and 0 in shape:  # nothing to initialise
            buffer.value = frozen(bind.xp.zeros(shape, dtype_of(dtype)))
        return buffer

    scope = f"reference on {bind.device}"
    buffer = bind.resources.get_or_create(container, shared, _Variable, make, scope)

    def refuse() -> VariableBuffer:
        raise Internal(f"Variable {shared} is of dtype {buffer.dtype}, and not of dtype {dtype}")

    return refuse if buffer.dtype != dtype else lambda: buffer


@binder("TemporaryVariable", needs_step=True, may_wait=False)
def temporary_variable(bind: Bind) -> KernelFunction:
    """A new buffer of zeros under the variable's name; TensorFlow's is not initialized."""
    name = attribute_text(bind.attrs["var_name"]) or bind.node.name
    shape, dtype = bind.attrs["shape"] or (), dtype_of(bind.attrs["dtype"])
    zero = b"" if dtype.kind == "O" else 0

    def compute(step: Step) -> VariableBuffer:
        if None in shape:
            raise InvalidArgument(
                f"Shape {bracketed(shape)} is not fully defined: a temporary variable needs one"
            )
        buffer = VariableBuffer(bind.node.name)
        buffer.value = frozen(full(bind.xp, shape, zero, dtype))
        kept = step.resources.get_or_create(_TEMPORARY, name, VariableBuffer, lambda: buffer)
        if kept is not buffer:
            raise AlreadyExists(f"Temporary variable {name} exists already")
        return buffer

    return compute


@kernel("DestroyTemporaryVariable", needs_step=True, may_wait=False)
def destroy_temporary_variable(
    _: ArrayModule, step: Step, ref: VariableBuffer, *, var_name: str | bytes
) -> Array:
    """The last value; the name becomes free."""
    name = attribute_text(var_name)
    if step.resources.remove(_TEMPORARY, name) is None:
        raise NotFound(f"Temporary variable {name} does not exist")
    value: Array = ref.read()
    return value


def _held(bind: Bind) -> Callable[[VariableBuffer], contextlib.AbstractContextManager[object]]:
    """The context in which an update reads and sets the buffer."""
    if bind.attrs["use_locking"]:
        return lambda ref: ref.lock
    return lambda _: _UNLOCKED


@binder("Assign")
def assign(bind: Bind) -> KernelFunction:
    """Sets the variable; unless validated, the shape may change."""
    held, validate = _held(bind), bind.attrs["validate_shape"]

    def compute(ref: VariableBuffer, value: Array) -> VariableBuffer:
        with held(ref):
            wanted = _shape_held(ref)
            if validate and wanted is not None and wanted != value.shape:
                raise InvalidArgument(
                    "Assign requires shapes of both tensors to match. lhs shape= "
                    f"{list(wanted)} rhs shape= {list(value.shape)}"
                )
            ref.value = frozen(kept_array(bind.xp, value))
        return ref

    return compute


def _shape_held(ref: VariableBuffer) -> tuple[int, ...] | None:
    """The shape of the value, or the declared one; None if neither is known."""
    value = ref.peek()
    if value is not None:
        shape: tuple[int, ...] = value.shape
        return shape
    return ref.shape if isinstance(ref, _Variable) else None


def _update(op_type: str, combine: Callable[[Array, Array], Array]) -> None:
    def updated(ref: VariableBuffer, value: Array) -> VariableBuffer:
        old = ref.value
        if old is None:
            old = ref.read()
        if old.shape != value.shape:
            raise InvalidArgument(
                f"{op_type} requires shapes of both tensors to match: "
                f"{list(old.shape)} and {list(value.shape)}"
            )
        ref.value = frozen(combine(old, value))
        return ref

    def locked(ref: VariableBuffer, value: Array) -> VariableBuffer:
        with ref.lock:
            return updated(ref, value)

    def bind(bind: Bind) -> KernelFunction:
        return locked if bind.attrs["use_locking"] else updated

    binder(op_type)(bind)


_update("AssignAdd", operator.add)
_update("AssignSub", operator.sub)


@binder("IsVariableInitialized")
def is_variable_initialized(bind: Bind) -> KernelFunction:
    """Whether the variable has been set."""
    return lambda ref: bind.xp.asarray(ref.peek() is not None)


@kernel("CountUpTo")
def count_up_to(xp: ArrayModule, ref: VariableBuffer, *, limit: int) -> Array:
    """The value before it is counted up by one; an error once it is at the limit."""
    with ref.lock:
        old: Array = ref.read()
        require_rank(0, old=old)
        if old >= limit:
            raise OutOfRange(f"Reached limit of {limit}")
        ref.value = old + xp.ones((), dtype=old.dtype)
    return old


def _scatter_rows(op_type: str, update: RowUpdate) -> None:
    def bind(bind: Bind) -> KernelFunction:
        xp = bind.xp

        def compute(ref: VariableBuffer, indices: Array, updates: Array) -> VariableBuffer:
            update_rows(ref, update, xp, indices, updates)
            return ref

        return compute

    binder(op_type)(bind)


def _scatter(op_type: str, update: Update) -> None:
    def bind(bind: Bind) -> KernelFunction:
        xp, held = bind.xp, _held(bind)

        def compute(ref: VariableBuffer, indices: Array, updates: Array) -> VariableBuffer:
            with held(ref):
                ref.value = frozen(update(xp, ref.read(), indices, updates))
            return ref

        return compute

    binder(op_type)(bind)


for _name, _ufunc in (
    ("Update", None),
    ("Add", "add"),
    ("Sub", "subtract"),
    ("Mul", "multiply"),
    ("Div", "divide"),
    ("Min", "minimum"),
    ("Max", "maximum"),
):
    _scatter_rows(f"Scatter{_name}", row_update(_ufunc))
for _name, _ufunc in SLICE_UPDATES.items():
    _scatter(f"ScatterNd{_name}", slice_update(_ufunc))
