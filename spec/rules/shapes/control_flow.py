"""Shape rules of the operations that conditionals and loops are made of."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.spec.rules.shapes.base import Shape, ranked, rule

__all__: list[str] = []


@rule
def switched(data: Shape, pred: Shape) -> list[Shape]:
    """Twice the shape of the data; the predicate is a scalar."""
    ranked(pred, 0, 0)
    return [data, data]


@rule
def first_alive(inputs: Sequence[Shape]) -> list[Shape]:
    """What all inputs have in common, and a scalar; ranks that differ have nothing."""
    first, *rest = inputs
    for shape in rest:
        if first is None or shape is None or len(first) != len(shape):
            return [None, ()]
        first = tuple(a if a == b else None for a, b in zip(first, shape, strict=True))
    return [first, ()]


@rule
def entered(data: Shape, constant: bool) -> list[Shape]:
    """The shape of what is constant; else a later iteration may have another."""
    return [data if constant else None]


@rule
def scalar_of(value: Shape) -> list[Shape]:
    """A scalar, which the input must be."""
    ranked(value, 0, 0)
    return [()]
