"""Shape rules of checkpoints: a prefix is a scalar, names and slices are vectors of one length."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.spec.rules.shapes.base import Shape, ShapeError, Value, merge, ranked, rule
from sessrun.spec.tensor_slices import SliceError, read_spec

__all__: list[str] = []


@rule
def saved(prefix: Shape, names: Shape, slices: Shape, tensors: Sequence[Shape]) -> list[Shape]:
    """No outputs; there is a name and a slice for each tensor."""
    ranked(prefix, 0, 0)
    for vector in (names, slices):
        merge(ranked(vector, 1, 1), (len(tensors),))
    return []


@rule
def saved_tensors(file: Shape, names: Shape, tensors: Sequence[Shape]) -> list[Shape]:
    """No outputs; there is a name for each tensor."""
    ranked(file, 0, 0)
    merge(ranked(names, 1, 1), (len(tensors),))
    return []


@rule
def restored_tensor(pattern: Shape, name: Shape) -> list[Shape]:
    """Nothing is known."""
    ranked(pattern, 0, 0)
    ranked(name, 0, 0)
    return [None]


@rule
def restored_slice(pattern: Shape, name: Shape, part: Shape, text: Value) -> list[Shape]:
    """The shape of the slice, if it is known."""
    for shape in (pattern, name, part):
        ranked(shape, 0, 0)
    return [None if text is None else _slice_shape(text.item().decode(errors="replace"))]


@rule
def restored(
    prefix: Shape, names: Shape, slices: Shape, texts: Value, dtypes: Sequence[str]
) -> list[Shape]:
    """The shape of each slice that is known; nothing is known of whole tensors."""
    ranked(prefix, 0, 0)
    merge(ranked(names, 1, 1), ranked(slices, 1, 1))
    if texts is None:
        return [None] * len(dtypes)
    if texts.size != len(dtypes):
        raise ShapeError("The number of shape_and_slice doesn't match tensor outputs.")
    return [_slice_shape(text.decode(errors="replace")) for text in texts.tolist()]


def _slice_shape(text: str) -> Shape:
    if not text:
        return None
    try:
        return read_spec(text)[2]
    except SliceError as error:
        refused = ShapeError(error.message)
        refused.is_internal = error.is_outside
        raise refused from error


@rule
def merged_files(prefixes: Shape, destination: Shape) -> list[Shape]:
    """No outputs."""
    ranked(prefixes, 1, 1)
    ranked(destination, 0, 0)
    return []


@rule
def file_name(*scalars: Shape) -> list[Shape]:
    """A scalar, of scalars."""
    for shape in scalars:
        ranked(shape, 0, 0)
    return [()]


@rule
def vocabulary_lines(new: Shape, old: Shape, count: int) -> list[Shape]:
    """A vector of lines, and a scalar."""
    for shape in (new, old):
        ranked(shape, 0, 0)
    return [(count,), ()]


@rule
def reordered_matrix(name: Shape, rows: int, columns: int) -> list[Shape]:
    """A matrix of the given size."""
    ranked(name, 0, 0)
    return [(rows, columns)]
