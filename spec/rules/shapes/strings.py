"""Shape rules of operations on strings that are not elementwise."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.spec.rules.shapes.base import (
    Known,
    Shape,
    ShapeError,
    product,
    ranked,
    rule,
    with_rank,
)

__all__: list[str] = []


@rule
def split_strings(strings: Shape, separator: Shape) -> list[Shape]:
    """The parts of a sparse matrix, from a vector of strings."""
    ranked(strings, 1, 1)
    ranked(separator, 0, 0)
    return [(None, 2), (None,), (2,)]


@rule
def matched_strings(strings: Shape, *scalars: Shape) -> list[Shape]:
    """The shape of the strings; the pattern and its replacement are scalars."""
    for shape in scalars:
        ranked(shape, 0, 0)
    return [strings]


@rule
def code_points(strings: Shape, places: bool) -> list[Shape]:
    """One split more than there are strings, and unknown numbers of code points and places."""
    count = None if strings is None else product(strings)
    return [(None if count is None else count + 1,), *[(None,)] * (2 if places else 1)]


@rule
def fingerprints(data: Shape, method: Known) -> list[Shape]:
    """Eight bytes for each row; the only method is `farmhash64`."""
    ranked(data, 1, len(data or ()))
    ranked(method.shape, 0, 0)
    if method.value is not None and method.value.item() != b"farmhash64":
        raise ShapeError(f"Unsupported method: {method.value.item().decode(errors='replace')}")
    return [(None if data is None else data[0], None if method.value is None else 8)]


@rule
def encoded_rows(values: Shape, splits: Shape) -> list[Shape]:
    """A string for each row of code points: one less than there are splits."""
    with_rank(values, 1)
    (count,) = with_rank(splits, 1)
    if count == 0:
        raise ShapeError("Negative dimension size caused by subtracting 1 from 0")
    return [(None if count is None else count - 1,)]


@rule
def string_runs(data: Shape, splits: Shape) -> list[Shape]:
    """An unknown number of runs of strings, and the shape of the splits."""
    with_rank(data, 1)
    return [(None,), with_rank(splits, 1)]


@rule
def formatted_text(inputs: Sequence[Shape], template: str, placeholder: str) -> list[Shape]:
    """A scalar; the template has a placeholder for each tensor."""
    places = template.count(placeholder) if placeholder else 0
    if places != len(inputs):
        raise ShapeError(
            f"num placeholders in template and num inputs must match: {places} vs. {len(inputs)}"
        )
    return [()]
