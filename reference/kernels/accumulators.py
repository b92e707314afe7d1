"""Kernels of accumulators: a handle, and the session's accumulator behind it."""

from __future__ import annotations

import functools
from typing import Any, Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.attribute_text import attribute_text, resource_names
from sessrun.reference.kernels.host import host_array, stacked
from sessrun.reference.kernels.input_shapes import one_number
from sessrun.reference.kernels.reference_handles import reference_to
from sessrun.reference.kernels.registry import (
    Bind,
    KernelFunction,
    Step,
    VariableBuffer,
    binder,
    kernel,
)
from sessrun.reference.state.queues.accumulator_resource import (
    Accumulator,
    DenseAccumulator,
    SparseAccumulator,
    SparseGradient,
)
from sessrun.reference.state.resources import DEFAULT_CONTAINER, HandleReference

_CPU: Final = ("CPU",)
_DTYPES: Final = frozenset({"float16", "float32", "float64"})


@binder("ResourceConditionalAccumulator", "SparseConditionalAccumulator", devices=_CPU)
def accumulator(bind: Bind) -> KernelFunction:
    """The handle of the accumulator with that container and name, created at the first use."""
    attrs, kind, dtype = bind.attrs, bind.node.type, bind.attrs["dtype"]
    container, name = resource_names(attrs)
    container, name = container or DEFAULT_CONTAINER, name or f"_0_{bind.node.name}"
    mean = attribute_text(attrs["reduction_type"]) == "MEAN"

    def make() -> Accumulator:
        if kind == "SparseConditionalAccumulator":
            stack = functools.partial(stacked, bind.xp)
            return SparseAccumulator(dtype, attrs["shape"], mean=mean, stack=stack)
        return DenseAccumulator(dtype, attrs["shape"], mean=mean)

    def compute() -> object:
        if dtype not in _DTYPES:
            raise InvalidArgument(
                f"No OpKernel was registered to support Op '{kind}' with dtype {dtype}"
            )
        resource = bind.resources.get_or_create(container, name, Accumulator, make)  # type: ignore[type-abstract]  # of any kind
        if kind == "ResourceConditionalAccumulator":
            return resource
        return reference_to(resource, container, name)

    return compute


def _accumulator_of(handle: object, kind: type[Accumulator] = Accumulator) -> Accumulator:
    """The accumulator behind a handle."""
    resource = handle.resource if isinstance(handle, HandleReference) else handle
    if not isinstance(resource, kind):
        raise InvalidArgument("The handle is not one of an accumulator of this kind")
    return resource


def _same_dtype(accumulator: Accumulator, dtype: str) -> None:
    if accumulator.dtype != dtype:
        raise InvalidArgument(f"The accumulator is of {accumulator.dtype}, not of {dtype}")


@kernel("ResourceAccumulatorApplyGradient", devices=_CPU)
def apply(
    xp: ArrayModule, handle: object, local_step: Array, gradient: Array, *, dtype: str
) -> None:
    """Adds a gradient, a copy: a fed array is still its owner's to write to."""
    target = _accumulator_of(handle, DenseAccumulator)
    _same_dtype(target, dtype)
    target.apply(one_number(local_step, "local_step"), xp.array(gradient))


@kernel("SparseAccumulatorApplyGradient", devices=_CPU)
def apply_sparse(
    xp: ArrayModule,
    handle: VariableBuffer,
    local_step: Array,
    indices: Any,
    values: Any,
    shape: Any,
    *,
    dtype: str,
    has_known_shape: bool,
) -> None:
    """Adds slices of a gradient."""
    target = _accumulator_of(handle, SparseAccumulator)
    _same_dtype(target, dtype)
    step = one_number(local_step, "local_step")
    dense_shape = shape if has_known_shape else None
    target.apply(step, SparseGradient(indices, xp.array(values), dense_shape))


@kernel("ResourceAccumulatorTakeGradient", devices=_CPU, needs_step=True, only_takes=True)
def take(bind: Bind, step: Step, handle: object, num_required: Array, *, dtype: str) -> Array:
    """The mean or sum, once there are enough gradients."""
    node = bind.node.name
    target = _accumulator_of(handle, DenseAccumulator)
    _same_dtype(target, dtype)
    wanted = one_number(num_required, "num_required")
    gradient: Array = step.take(node, lambda: target.take(wanted))
    return gradient


@kernel("SparseAccumulatorTakeGradient", devices=_CPU, needs_step=True, only_takes=True)
def take_sparse(
    bind: Bind, step: Step, handle: VariableBuffer, num_required: Array, *, dtype: str
) -> tuple[Array, Array, Array]:
    """The mean or sum as slices, once there are enough gradients."""
    node = bind.node.name
    target = _accumulator_of(handle, SparseAccumulator)
    _same_dtype(target, dtype)
    wanted = one_number(num_required, "num_required")
    indices, values, shape = step.take(node, lambda: target.take(wanted))
    return host_array(indices, "int64"), values, host_array(shape, "int64")


@binder("ResourceAccumulatorSetGlobalStep", devices=_CPU)
def set_global_step(bind: Bind) -> KernelFunction:
    """Sets the accumulator's global step: gradients of earlier steps are dropped."""
    del bind
    return lambda handle, step: _accumulator_of(handle).set_step(
        one_number(step, "new_global_step")
    )


@binder("ResourceAccumulatorNumAccumulated", devices=_CPU)
def num_accumulated(bind: Bind) -> KernelFunction:
    """The number of gradients accumulated since the last were taken."""
    return lambda handle: bind.xp.int32(len(_accumulator_of(handle)))
