"""Gradients of operations that broadcast two inputs: summed over the axes of the broadcast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.build.gradient_nodes import node, nodes
from sessrun.reference.build.gradient_registry import Gradient
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.tensor import Tensor

__all__ = ["are_equal", "of_first", "of_pair", "summed_to"]


class _Broadcast(NamedTuple):
    """How an input was broadcast.

    Attributes:
      shape: the shape of the input.
      axes: the axes of the result along which it was repeated; a tensor if shapes are not known.
      needs_sum: whether the gradient in the shape of the result must be summed.

    """

    shape: Tensor
    axes: list[int] | Tensor
    needs_sum: bool


def of_pair(inputs: Sequence[Tensor], of_x: Tensor, of_y: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of two inputs that were broadcast to a common shape.

    Args:
      inputs: the inputs x and y.
      of_x: the gradient by x before the sum, in the shape of the output.
      of_y: the gradient by y likewise.

    """
    first, second = _broadcasts(*inputs)
    return _summed(of_x, first), _summed(of_y, second)


def of_first(x: Tensor, y: Tensor, of_x: Tensor) -> Tensor:
    """As `of_pair`, the gradient by x alone."""
    return _summed(of_x, _broadcasts(x, y)[0])


def _broadcasts(x: Tensor, y: Tensor) -> tuple[_Broadcast, _Broadcast]:
    shapes = shape(x), shape(y)
    known = _axes(x, y)
    if known is None:
        axes = nodes("BroadcastGradientArgs", *shapes)
        return _Broadcast(shapes[0], axes[0], True), _Broadcast(shapes[1], axes[1], True)
    x_rank, y_rank = len(x.shape.as_list()), len(y.shape.as_list())
    return (
        _Broadcast(shapes[0], known[0], bool(known[0]) or x_rank < y_rank),
        _Broadcast(shapes[1], known[1], bool(known[1]) or y_rank < x_rank),
    )


def _axes(x: Tensor, y: Tensor) -> tuple[list[int], list[int]] | None:
    """The axes of the result along which x and y are repeated; None if the shapes do not tell."""
    if x.shape.rank is None or y.shape.rank is None:
        return None
    rank = max(x.shape.rank, y.shape.rank)
    one: list[int | None] = [1]
    sizes = [
        one * (rank - len(sizes_of)) + sizes_of
        for sizes_of in (x.shape.as_list(), y.shape.as_list())
    ]
    axes: tuple[list[int], list[int]] = [], []
    for axis, (of_x, of_y) in enumerate(zip(*sizes, strict=True)):
        if of_x == 1 and of_y != 1:
            axes[0].append(axis)
        elif of_y == 1 and of_x != 1:
            axes[1].append(axis)
        elif of_x is None or of_y is None:
            return None
    return axes


def _summed(gradient: Tensor, broadcast: _Broadcast) -> Tensor:
    if not broadcast.needs_sum:
        return gradient
    return node("Reshape", reduce_sum(gradient, broadcast.axes, keepdims=True), broadcast.shape)


def summed_to(
    tensors: Sequence[Tensor], partials: Sequence[Callable[[Tensor], Tensor]], grad: Tensor
) -> list[Tensor]:
    """The gradients of two inputs by BroadcastGradientArgs, even if their shapes are known.

    Args:
      tensors: the inputs.
      partials: for each input a function from its shape to the derivative by it.
      grad: the gradient of the output.

    """
    shapes = [shape(tensor) for tensor in tensors]
    axes = nodes("BroadcastGradientArgs", *shapes)
    with default_graph.get_default_graph().control_dependencies([grad]):
        derivatives = [
            partial(tensor_shape) for partial, tensor_shape in zip(partials, shapes, strict=True)
        ]
        return [
            node("Reshape", reduce_sum(partial * grad, reduced), tensor_shape)
            for partial, reduced, tensor_shape in zip(derivatives, axes, shapes, strict=True)
        ]


def are_equal(x: Tensor, y: Tensor, gradient: Gradient) -> bool:
    """Whether two inputs and a dense gradient are known to have the same shape."""
    if not isinstance(gradient, Tensor) or not x.shape.is_fully_defined():
        return False
    sizes = x.shape.as_list()
    return all(
        tensor.shape.rank is not None and tensor.shape.as_list() == sizes
        for tensor in (y, gradient)
    )
