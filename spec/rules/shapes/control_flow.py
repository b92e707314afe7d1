"""Shape rules of the operations that conditionals and loops are made of."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.spec.rules.shapes.base import Shape, ShapeError, ranked, rule

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
def common_shape(index: Shape, inputs: Sequence[Shape]) -> list[Shape]:
    """The shape of all inputs, if it is known whole and the same; the index is a scalar."""
    ranked(index, 0, 0)
    first = inputs[0]
    if first is None or None in first or any(shape != first for shape in inputs):
        return [None]
    return [first]


@rule
def entered(data: Shape, constant: bool) -> list[Shape]:
    """The shape of what is constant; else a later iteration may have another."""
    return [data if constant else None]


@rule
def declared_shapes(shapes: Sequence[Shape], dtypes: Sequence[str]) -> list[Shape]:
    """The shapes that an attribute says, or unknown ones where it says none."""
    if not shapes:
        return [None] * len(dtypes)
    if len(shapes) != len(dtypes):
        raise ShapeError(
            f"`output_shapes` must be the same length as num outputs ({len(shapes)} vs. "
            f"{len(dtypes)})"
        )
    return list(shapes)


@rule
def declared_or_same(shapes: Sequence[Shape], inputs: Sequence[Shape]) -> list[Shape]:
    """The shapes that an attribute says, or where it says none those of the inputs."""
    return declared_shapes(shapes, [""] * len(inputs)) if shapes else list(inputs)


@rule
def first_ones(inputs: Sequence[Shape], takes: Sequence[str], gives: Sequence[str]) -> list[Shape]:
    """The shapes of as many of the inputs; of what a handle refers to nothing is known."""
    if len(gives) > len(inputs):
        raise ShapeError("len(inputs) < len(outputs)")
    return [
        None if dtype == "resource" else shape
        for shape, dtype, _ in zip(inputs, takes, gives, strict=False)
    ]
