"""The gradient of Einsum. Source: TF 2.21."""

from __future__ import annotations

from sessrun.reference.api.ops.array_ops import concat, reshape, stack
from sessrun.reference.api.ops.cast_ops import conj
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import broadcast_to
from sessrun.reference.build.gradient_nodes import gradient, node, nodes
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.gradient.reductions import kept_shape
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

_DOTS = "..."


def _einsum(inputs: list[Tensor], equation: str) -> Tensor:
    return node("Einsum", inputs, equation=equation)


def _axis(labels: str, label: str) -> int:
    """The first axis of a label, negative where an ellipsis stands before it."""
    before, _, behind = labels.partition(_DOTS)
    position = before.find(label)
    return position if position >= 0 else behind.find(label) - len(behind)


def _ellipsis_axes(labels: str) -> tuple[int, int | None]:
    """The first axis of the ellipsis, and the one after its last axis; None for the end."""
    before, dots, behind = labels.partition(_DOTS)
    if not dots:
        return 0, 0
    return len(before), -len(behind) if behind else None


def _unsummed(grad: Tensor, result: str, labels: str, sizes: Tensor, summed: set[str]) -> Tensor:
    """The gradient by an operand some of whose axes were summed over.

    Args:
      grad: the gradient by the axes that were not summed over.
      result: their labels.
      labels: the labels of the operand.
      sizes: its shape.
      summed: the labels that were summed over.

    """
    names = "".join(sorted(summed))
    axes = [_axis(labels, name) for name in names]
    lengths = stack([sizes[axis] for axis in axes])
    repeats = len(set(labels)) + len(set(result)) < len(labels) + len(result)
    rest = "".join(name for name in labels if name not in summed)
    if not repeats and rest == result:
        return broadcast_to(reshape(grad, kept_shape(sizes, convert_to_tensor(axes))), sizes)
    summed_shape = concat([lengths, shape(grad)], axis=0)
    spread = concat([ones(len(summed), dtype=dtypes.int32), shape(grad)], axis=0)
    repeated = broadcast_to(reshape(grad, spread), summed_shape)
    return _einsum([repeated], f"{names}{result}->{labels}")


def _by_one(
    grad: Tensor, other: Tensor, sizes: Tensor, labels: str, others: str, result: str
) -> Tensor:
    """The gradient by one operand of two, before it is summed over broadcast axes."""
    summed = set(labels) - set(result + others + ".")
    left = "".join(name for name in labels if name not in summed)
    product = _einsum([grad, other], f"{result},{others}->{left}")
    return _unsummed(product, left, labels, sizes, summed) if summed else product


@gradient("Einsum")
def _of_einsum(op: Operation, grad: Tensor) -> Gradients:
    equation = op.get_attr("equation")
    text = equation.decode() if isinstance(equation, bytes) else equation
    left, result = text.split("->")
    if len(op.inputs) == 1:
        sizes = shape(op.inputs[0])
        summed = set(left) - set(result + _DOTS)
        if not summed:
            return _einsum([grad], f"{result}->{left}")
        return _unsummed(grad, result, left, sizes, summed)
    first, second = left.split(",")
    if _DOTS in result:
        first += "" if _DOTS in first else _DOTS
        second += "" if _DOTS in second else _DOTS
    x, y = op.inputs
    if grad.dtype.is_complex:
        x, y = conj(x), conj(y)
    of_x, of_y = shape(x), shape(y)
    by_x = _by_one(grad, y, of_x, first, second, result)
    by_y = _by_one(grad, x, of_y, second, first, result)
    if _DOTS not in result:
        return by_x, by_y
    (begin_x, end_x), (begin_y, end_y) = _ellipsis_axes(first), _ellipsis_axes(second)
    known = x.shape, y.shape
    if all(static.is_fully_defined() for static in known) and (
        known[0][begin_x:end_x] == known[1][begin_y:end_y]
    ):
        return by_x, by_y
    axes = nodes("BroadcastGradientArgs", of_x[begin_x:end_x], of_y[begin_y:end_y])
    return (
        reshape(reduce_sum(by_x, begin_x + axes[0]), of_x),
        reshape(reduce_sum(by_y, begin_y + axes[1]), of_y),
    )
