"""Shape rules of sparse tensors: their bytes, and what keeps them."""

from __future__ import annotations

from sessrun.spec.rules.shapes.base import Dim, Shape, ShapeError, merge_dims, ranked, rule

__all__ = ["sparse_rank"]

#: How many serialized tensors a sparse one is.
_PARTS = 3


def _parts(indices: Shape, values: Shape, shape: Shape) -> None:
    ranked(indices, 2, 2)
    ranked(values, 1, 1)
    ranked(shape, 1, 1)


def sparse_rank(indices: Shape, values: Shape, shape: Shape) -> Dim:
    """The rank of the sparse tensor that has these parts, as far as it is known.

    Raises:
      ShapeError: they do not belong together.

    """
    places, count = ranked(indices, 2, 2), ranked(values, 1, 1)
    dims = ranked(shape, 1, 1)
    if places is not None and count is not None:
        merge_dims(places[0], count[0])
    rank = None if places is None else places[1]
    return rank if dims is None else merge_dims(rank, dims[0])


@rule
def serialized_sparse(indices: Shape, values: Shape, shape: Shape) -> list[Shape]:
    """Three serialized tensors."""
    _parts(indices, values, shape)
    return [(_PARTS,)]


@rule
def serialized_sparse_rows(indices: Shape, values: Shape, shape: Shape) -> list[Shape]:
    """Three serialized tensors for each row."""
    _parts(indices, values, shape)
    return [(None, _PARTS)]


@rule
def deserialized_sparse(serialized: Shape) -> list[Shape]:
    """Indices, values and a shape, of triples."""
    if serialized is not None:
        if not serialized:
            raise ShapeError("Shape must be at least rank 1 but is rank 0")
        merge_dims(serialized[-1], _PARTS)
    return [(None, None), (None,), (None,)]


@rule
def deserialized_sparse_rows(serialized: Shape) -> list[Shape]:
    """Indices, values and a shape, of a matrix of triples."""
    rows = ranked(serialized, 2, 2)
    if rows is not None:
        merge_dims(rows[1], _PARTS)
    return [(None, None), (None,), (None,)]


@rule
def kept_sparse(indices: Shape, values: Shape, shape: Shape) -> list[Shape]:
    """One number."""
    _parts(indices, values, shape)
    return [()]


@rule
def kept_sparse_rows(indices: Shape, values: Shape, shape: Shape) -> list[Shape]:
    """A number for each row."""
    _parts(indices, values, shape)
    return [(None,)]


@rule
def taken_sparse(handles: Shape) -> list[Shape]:
    """Indices, values and a shape, of a vector of numbers."""
    ranked(handles, 1, 1)
    return [(None, None), (None,), (None,)]
