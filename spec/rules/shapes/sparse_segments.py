"""Shape rules of segments of gathered rows."""

from __future__ import annotations

from sessrun.spec.rules.shapes.base import Shape, ShapeError, Value, at_least, merge, ranked, rule

__all__: list[str] = []


def _rows(data: Shape, indices: Shape, segment_ids: Shape, count: int | None) -> Shape:
    merge(ranked(indices, 1, 1), ranked(segment_ids, 1, 1))
    at_least(data, 1)
    return None if data is None else (count, *data[1:])


@rule
def sparse_segments(data: Shape, indices: Shape, segment_ids: Shape) -> list[Shape]:
    """Segments of unknown number, of the shape of a row."""
    return [_rows(data, indices, segment_ids, None)]


@rule
def counted_sparse_segments(
    data: Shape, indices: Shape, segment_ids: Shape, count: Value
) -> list[Shape]:
    """So many segments, or rows, of the shape of a row."""
    number = None if count is None else int(count)
    if number is not None and number < 0:
        raise ShapeError(
            f"Cannot specify a negative value for num_segments or output_dim0: {number}"
        )
    return [_rows(data, indices, segment_ids, number)]


@rule
def sparse_segment_rows(
    data: Shape, indices: Shape, segment_ids: Shape, count: Shape
) -> list[Shape]:
    """Rows of unknown number, and where they belong."""
    ranked(count, 0, 0)
    return [_rows(data, indices, segment_ids, None), (None,)]
