"""Shape rules of connectionist temporal classification."""

from __future__ import annotations

from sessrun.spec.rules.shapes.base import Dim, Shape, merge_dims, ranked, rule

__all__: list[str] = []


def _batch(inputs: Shape, lengths: Shape) -> Dim:
    dims, count = ranked(inputs, 3, 3), ranked(lengths, 1, 1)
    batch = None if dims is None else dims[1]
    return batch if count is None else merge_dims(batch, count[0])


@rule
def ctc_loss(inputs: Shape, indices: Shape, values: Shape, lengths: Shape) -> list[Shape]:
    """A number for each sequence, and the inputs' shape."""
    rows, count = ranked(indices, 2, 2), ranked(values, 1, 1)
    if rows is not None and count is not None:
        merge_dims(rows[0], count[0])
    batch = _batch(inputs, lengths)
    time, _, classes = ranked(inputs, 3, 3) or (None, None, None)
    return [(batch,), (time, batch, classes)]


@rule
def ctc_decoded(inputs: Shape, lengths: Shape, paths: int) -> list[Shape]:
    """For each path a sparse matrix, and a number for each sequence and path."""
    batch = _batch(inputs, lengths)
    return [*[(None, 2)] * paths, *[(None,)] * paths, *[(2,)] * paths, (batch, paths)]
