"""Gradients of operations whose inputs are broadcast: summed over what was repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.build.gradient_nodes import node
from sessrun.reference.graph import stacks
from sessrun.reference.graph.tensor import Tensor

__all__ = ["are_equal", "of_pair", "summed_to"]


class _Repeated(NamedTuple):
    """Over which axes an input was repeated, and the shape that it has.

    Attributes:
      shape: a tensor.
      axes: a list, or a tensor where the shapes are not known.
      matters: whether anything is to be summed.

    """

    shape: Tensor
    axes: Any
    matters: bool


def of_pair(inputs: Sequence[Tensor], of_x: Any, of_y: Any) -> tuple[Any, Any]:
    """The gradients of two inputs that were broadcast with one another.

    Args:
      inputs: the two, x and y.
      of_x: the gradient by x, as if it had the shape of the output; None if there is none.
      of_y: that by y.

    """
    first, second = _repeated(*inputs)
    return _summed(of_x, first), _summed(of_y, second)


def _repeated(x: Tensor, y: Tensor) -> tuple[_Repeated, _Repeated]:
    shapes = shape(x), shape(y)
    known = _axes(x, y)
    if known is None:
        axes = node("BroadcastGradientArgs", *shapes)
        return _Repeated(shapes[0], axes[0], True), _Repeated(shapes[1], axes[1], True)
    x_rank, y_rank = len(x.shape.as_list()), len(y.shape.as_list())
    return (
        _Repeated(shapes[0], known[0], bool(known[0]) or x_rank < y_rank),
        _Repeated(shapes[1], known[1], bool(known[1]) or y_rank < x_rank),
    )


def _axes(x: Tensor, y: Tensor) -> tuple[list[int], list[int]] | None:
    """Which axes of the result each is repeated along, as far as the shapes tell."""
    if x.shape.rank is None or y.shape.rank is None:
        return None
    rank = max(x.shape.rank, y.shape.rank)
    one: list[int | None] = [1]
    sizes = [one * (rank - len(each)) + each for each in (x.shape.as_list(), y.shape.as_list())]
    found: tuple[list[int], list[int]] = [], []
    for axis, (of_x, of_y) in enumerate(zip(*sizes, strict=True)):
        if of_x == 1 and of_y != 1:
            found[0].append(axis)
        elif of_y == 1 and of_x != 1:
            found[1].append(axis)
        elif of_x is None or of_y is None:
            return None
    return found


def _summed(gradient: Any, repeated: _Repeated) -> Any:
    if gradient is None or not repeated.matters:
        return gradient
    return node("Reshape", reduce_sum(gradient, repeated.axes, keepdims=True), repeated.shape)


def summed_to(tensors: Sequence[Tensor], partials: Sequence[Any], grad: Tensor) -> list[Any]:
    """The gradients of two inputs, whatever is known of their shapes.

    Args:
      tensors: the two inputs.
      partials: a function for each, from its shape to the derivative by it.
      grad: the gradient of the output.

    """
    shapes = [shape(tensor) for tensor in tensors]
    axes = node("BroadcastGradientArgs", *shapes)
    with stacks.get_default_graph().control_dependencies([grad]):
        made = [partial(whole) for partial, whole in zip(partials, shapes, strict=True)]
        return [
            node("Reshape", reduce_sum(partial * grad, over), whole)
            for partial, over, whole in zip(made, axes, shapes, strict=True)
        ]


def are_equal(x: Tensor, y: Tensor, gradient: Any) -> bool:
    """Whether all three are known to have the same shape."""
    if not isinstance(gradient, Tensor) or not x.shape.is_fully_defined():
        return False
    whole = x.shape.as_list()
    return all(
        each.shape.rank is not None and each.shape.as_list() == whole for each in (y, gradient)
    )
