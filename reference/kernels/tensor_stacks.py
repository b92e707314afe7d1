"""Kernels of stacks of tensors: a handle is the stack itself, which lives as long as the run."""

from __future__ import annotations

from typing import Any, Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import Internal, InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_text
from sessrun.reference.kernels.host import in_memory_of, kept, scalar_int
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.reference_handles import reference_to
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.state.resources import HandleReference
from sessrun.reference.state.tensor_stack_resource import TensorStack
from sessrun.spec.dtypes import BY_NAME

#: Dtypes whose values are not arrays.
_OPAQUE: Final = frozenset({"resource", "variant"})


def _name(bind: Bind) -> str:
    return attribute_text(bind.attrs["stack_name"]) or bind.node.name


@binder("StackV2", host_inputs=("max_size",), host_outputs=("handle",))
def stack(bind: Bind) -> KernelFunction:
    """A new stack in every run."""
    name, dtype = _name(bind), bind.attrs["elem_type"]

    def compute(max_size: Array) -> TensorStack:
        require_rank(0, max_size=max_size)
        return TensorStack(name, dtype, scalar_int(max_size))

    return compute


@binder("Stack", host_outputs=("handle",))
def older_stack(bind: Bind) -> KernelFunction:
    """A new stack in every run, as a reference handle."""
    name, dtype = _name(bind), bind.attrs["elem_type"]

    def compute() -> HandleReference:
        stack_ = TensorStack(name, dtype)
        return reference_to(stack_, "_stacks", stack_.name)

    return compute


def _stack_of(handle: object) -> TensorStack:
    if isinstance(handle, TensorStack):
        return handle
    raise InvalidArgument(
        "The handle is not one of a stack: it cannot be fed, create it with "
        "the operation Stack or StackV2 in the same run"
    )


@kernel("StackPushV2", host_inputs=("handle",))
def push(xp: ArrayModule, handle: object, value: Any, *, T: str) -> object:
    """Pushes a tensor on the stack, and returns it."""
    target = _stack_of(handle)
    if target.dtype != T:
        has, given = BY_NAME[target.dtype], BY_NAME[T]
        raise InvalidArgument(
            f"Must have type {has.enum} but got {given.enum}: Stack["
            f"{target.name}] is of {has.opdef}, not {given.opdef}"
        )
    pushed = value if T in _OPAQUE else kept(xp, value)
    target.push(pushed)
    return pushed


@kernel("StackPopV2", host_inputs=("handle",))
def pop(bind: Bind, handle: object, *, elem_type: str) -> object:
    """Pops a tensor from the stack."""
    xp, node = bind.xp, bind.node.name
    source = _stack_of(handle)
    value = source.pop()
    if source.dtype != elem_type:
        raise Internal(
            f"Output 0 of type {BY_NAME[source.dtype].opdef} does not match "
            f"declared output type {BY_NAME[elem_type].opdef} for node {node}"
        )
    return in_memory_of(xp, value)


@binder("StackCloseV2", host_inputs=("handle",))
def close(bind: Bind) -> KernelFunction:
    """Closes the stack."""
    del bind
    return lambda handle: _stack_of(handle).close()
