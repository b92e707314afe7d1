"""The shape rule of sums of products over named dimensions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sessrun.spec.rules.shapes.base import (
    Dim,
    Shape,
    ShapeError,
    broadcast_shapes,
    merge_dims,
    rule,
)

__all__: list[str] = []

_SUBSCRIPTS = re.compile(r"[a-zA-Z]*(\.\.\.)?[a-zA-Z]*")


def _split(text: str) -> tuple[str, bool, str]:
    if not _SUBSCRIPTS.fullmatch(text):
        raise ShapeError(f"Invalid subscripts {text!r}")
    before, dots, behind = text.partition("...")
    return before, bool(dots), behind


def _named(parts: Sequence[str], shapes: Sequence[Shape]) -> tuple[dict[str, Dim], list[Shape]]:
    """The size of each label, and the dimensions behind each ellipsis."""
    sizes: dict[str, Dim] = {}
    hidden: list[Shape] = []
    for part, shape in zip(parts, shapes, strict=True):
        before, dots, behind = _split(part)
        named = len(before) + len(behind)
        if shape is None:
            hidden += [None] if dots else []
            for name in before + behind:
                sizes.setdefault(name, None)
            continue
        if len(shape) < named or (not dots and len(shape) != named):
            raise ShapeError(f"Expected rank {named} for {part!r}, got {len(shape)}")
        end = len(shape) - len(behind)
        for name, size in zip(before + behind, shape[: len(before)] + shape[end:], strict=True):
            sizes[name] = merge_dims(sizes.get(name), size)
        if dots:
            hidden.append(shape[len(before) : end])
    return sizes, hidden


@rule
def einsum(shapes: Sequence[Shape], equation: str) -> list[Shape]:
    """The dimensions that the equation names behind its arrow; those of the ellipsis broadcast."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    parts = left.split(",")
    if not arrow or len(parts) != len(shapes) or len(shapes) > 2:
        raise ShapeError(f"Expected an equation of {len(shapes)} inputs, at most 2: {equation}")
    sizes, hidden = _named(parts, shapes)
    before, dots, behind = _split(right)
    for name in before + behind:
        if name not in sizes:
            raise ShapeError(f"The label {name!r} is in no input")
    middle = broadcast_shapes(*hidden) if hidden else ()
    if middle and not dots:
        raise ShapeError(
            f"Shape must be at most rank 0 but is rank {len(middle)} for the "
            f"dimensions that {right!r} leaves out"
        )
    if middle is None:
        return [None]
    return [(*(sizes[name] for name in before), *middle, *(sizes[name] for name in behind))]
