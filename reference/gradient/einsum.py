"""The gradient of sums of products over named dimensions. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.ops.array_ops import concat, reshape, stack
from sessrun.reference.api.ops.cast_ops import conj
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import broadcast_to
from sessrun.reference.build.gradient_nodes import gradient, node
from sessrun.reference.gradient.reductions import kept_shape
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__: list[str] = []

_DOTS = "..."


def _einsum(inputs: list[Tensor], equation: str) -> Tensor:
    found: Tensor = node("Einsum", inputs, equation=equation)
    return found


def _axis(labels: str, label: str) -> int:
    """The first axis of a label, counted from the end where an ellipsis stands before it."""
    before, _, behind = labels.partition(_DOTS)
    place = before.find(label)
    return place if place >= 0 else behind.find(label) - len(behind)


def _hidden(labels: str) -> tuple[int, int | None]:
    """From where to where the dimensions of the ellipsis go."""
    before, dots, behind = labels.partition(_DOTS)
    if not dots:
        return 0, 0
    return len(before), -len(behind) if behind else None


def _unsummed(grad: Tensor, result: str, labels: str, sizes: Tensor, summed: set[str]) -> Tensor:
    """The gradient by one operand, some of whose dimensions were summed over."""
    names = "".join(sorted(summed))
    axes = [_axis(labels, name) for name in names]
    lengths = stack([sizes[axis] for axis in axes])
    repeats = len(set(labels)) + len(set(result)) < len(labels) + len(result)
    rest = "".join(name for name in labels if name not in summed)
    if not repeats and rest == result:
        return broadcast_to(reshape(grad, kept_shape(sizes, convert_to_tensor(axes))), sizes)
    whole = concat([lengths, shape(grad)], axis=0)
    spread = concat([ones(len(summed), dtype=dtypes.int32), shape(grad)], axis=0)
    wide = broadcast_to(reshape(grad, spread), whole)
    return _einsum([wide], f"{names}{result}->{labels}")


def _by_one(
    grad: Tensor, other: Tensor, sizes: Tensor, labels: str, others: str, result: str
) -> Tensor:
    """The gradient by one operand of two, before what was broadcast is summed."""
    summed = set(labels) - set(result + others + ".")
    left = "".join(name for name in labels if name not in summed)
    found = _einsum([grad, other], f"{result},{others}->{left}")
    return _unsummed(found, left, labels, sizes, summed) if summed else found


@gradient("Einsum")
def _of_einsum(op: Operation, grad: Any) -> Any:
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
    (begin_x, end_x), (begin_y, end_y) = _hidden(first), _hidden(second)
    known = x.shape, y.shape
    if all(each.is_fully_defined() for each in known) and (
        known[0][begin_x:end_x] == known[1][begin_y:end_y]
    ):
        return by_x, by_y
    axes = node("BroadcastGradientArgs", of_x[begin_x:end_x], of_y[begin_y:end_y])
    return (
        reshape(reduce_sum(by_x, begin_x + axes[0]), of_x),
        reshape(reduce_sum(by_y, begin_y + axes[1]), of_y),
    )
