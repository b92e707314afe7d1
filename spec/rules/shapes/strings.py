"""Shape rules of operations on strings that are not elementwise."""

from __future__ import annotations

from sessrun.spec.rules.shapes.base import Shape, ranked, rule

__all__: list[str] = []


@rule
def split_strings(strings: Shape, separator: Shape) -> list[Shape]:
    """The parts of a sparse matrix, from a vector of strings."""
    ranked(strings, 1, 1)
    ranked(separator, 0, 0)
    return [(None, 2), (None,), (2,)]


@rule
def matched_strings(strings: Shape, *scalars: Shape) -> list[Shape]:
    """The shape of the strings; the pattern and what it is replaced by are scalars."""
    for shape in scalars:
        ranked(shape, 0, 0)
    return [strings]
