"""Kernels of broadcasting: of a tensor, of two shapes, and the axes that a gradient sums over."""

from __future__ import annotations

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.arrays import checked_shape
from sessrun.reference.kernels.host import host_array, ints
from sessrun.reference.kernels.input_shapes import vector_of
from sessrun.reference.kernels.registry import kernel
from sessrun.spec.rules.shapes import ShapeError, broadcast_shapes


@kernel("BroadcastTo", host_inputs=("shape",))
def broadcast_to(xp: ArrayModule, x: Array, shape: Array) -> Array:
    """The input broadcast to a shape."""
    target = checked_shape(shape)
    if x.ndim > len(target):
        raise InvalidArgument(f"Rank of input ({x.ndim}) must be no greater than {len(target)}")
    if any(n not in {1, m} for n, m in zip(x.shape[::-1], target[::-1], strict=False)):
        raise InvalidArgument(f"Incompatible shapes: {bracketed(x.shape)} vs. {bracketed(target)}")
    return xp.broadcast_to(x, target)


@kernel("BroadcastArgs", host_inputs=("s0", "s1"), host_outputs=("r0",))
def broadcast_args(_: ArrayModule, s0: Array, s1: Array) -> Array:
    """The shape that two shapes broadcast to."""
    try:
        shape = broadcast_shapes(tuple(vector_of(s0, "s0")), tuple(vector_of(s1, "s1")))
    except ShapeError as error:
        raise InvalidArgument(str(error)) from error
    return host_array([int(dim or 0) for dim in shape or ()], str(s0.dtype))


@kernel("BroadcastGradientArgs", host_inputs=("s0", "s1"), host_outputs=("r0", "r1"))
def broadcast_gradient_args(_: ArrayModule, s0: Array, s1: Array) -> tuple[Array, ...]:
    """For two shapes, the axes over which the gradient of each operand is summed."""
    for number, given in enumerate((s0, s1)):
        if given.ndim != 1:
            raise InvalidArgument(f"In[{number}] must be a vector.{bracketed(given.shape)}")
    shapes = [ints(s0), ints(s1)]
    count = max(map(len, shapes))
    first, second = ([1] * (count - len(shape)) + shape for shape in shapes)
    for a, b in zip(first, second, strict=True):
        if a != b and 1 not in {a, b}:
            raise InvalidArgument(f"Incompatible shapes: {shapes[0]} vs. {shapes[1]}")
    axes = [[axis for axis, dim in enumerate(shape) if dim == 1] for shape in (first, second)]
    if shapes[0] == shapes[1]:
        axes = [[], []]
    return tuple(host_array(side, str(s0.dtype)) for side in axes)
