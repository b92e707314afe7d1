"""Kernels of crossed features: every combination of what the columns have in a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from sessrun.reference.base.fingerprints import farm
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import HOST, host_array, string_array
from sessrun.reference.kernels.registry import Bind, binder

__all__: list[str] = []

_CPU: Final = ("CPU",)
_WORD: Final = (1 << 64) - 1
_MULTIPLIER: Final = 0xC6A4A7935BD1E995
_SHIFT: Final = 47
_LARGEST: Final = (1 << 63) - 1


class _Column(NamedTuple):
    """What a column has: in each row some features, those of a row beside each other.

    Attributes:
      counts: int64 [rows], how many each row has.
      features: numbers or bytes, those of the first row first.

    """

    counts: Any
    features: Any


def _sparse_column(place: int, indices: Any, values: Any, shape: Any, rows: int) -> _Column:
    """The column of a sparse matrix, which is the one at that place."""
    for array, rank, words in (
        (indices, 2, "indices should be a matrix"),
        (values, 1, "values should be a vector"),
        (shape, 1, "shapes should be a vector"),
    ):
        if array.ndim != rank:
            raise InvalidArgument(
                f"Input {words} but received shape {bracketed(array.shape)} at position {place}"
            )
    if indices.shape[1] != 2:
        raise InvalidArgument(
            f"Expected D2 of index to be 2 got {indices.shape[1]} at position {place}"
        )
    if values.shape != indices.shape[:1]:
        raise InvalidArgument(
            f"Expected size of values to be {len(indices)} got {len(values)} at position {place}"
        )
    if shape.shape != (2,) or int(shape[0]) != rows:
        raise InvalidArgument(
            f"Expected batch size {rows} got {shape.tolist()} at position {place}"
        )
    own = indices[:, 0]
    outside = (own < 0) | (own >= rows)
    if outside.any():
        raise InvalidArgument(f"Row {own[outside.argmax()]} is not in [0, {rows})")
    return _Column(HOST.bincount(own, minlength=rows), values[HOST.argsort(own, kind="stable")])


def _columns(parts: Sequence[Any], count: int) -> list[_Column]:
    """The columns; sparse ones come first."""
    indices, values, shapes = (parts[i * count : (i + 1) * count] for i in range(3))
    dense = parts[3 * count :]
    if not count and not dense:
        raise InvalidArgument("There must be at least one input to cross")
    for each in dense:
        if each.ndim != 2:
            raise InvalidArgument(
                f"Dense inputs should be a matrix but received shape {bracketed(each.shape)}"
            )
    rows = int(shapes[0].reshape(-1)[0]) if count else dense[0].shape[0]
    columns = [
        _sparse_column(place, *each, rows)
        for place, each in enumerate(zip(indices, values, shapes, strict=True))
    ]
    for each in dense:
        if each.shape[0] != rows:
            raise InvalidArgument(f"Expected batch size {rows} got {each.shape[0]}")
        columns.append(_Column(HOST.full(rows, each.shape[1], "int64"), each.reshape(-1)))
    return columns


def _places(counts: Any) -> Any:
    """For groups of so many elements, one behind the other, each element's place in its group."""
    return HOST.arange(counts.sum()) - HOST.repeat(HOST.cumsum(counts) - counts, counts)


def _crossed(
    columns: Sequence[_Column], first: Any, combine: Callable[[Any, Any], Any]
) -> tuple[Any, Any, Any]:
    """The sparse matrix of what comes of every row's combinations, the last column's fastest.

    Args:
      columns: one or more.
      first: for each row what its combinations begin with.
      combine: from what they are so far, and the features of the next column, to what they are.

    """
    rows, found = HOST.arange(len(first)), first
    for counts, features in columns:
        more, starts = counts[rows], (HOST.cumsum(counts) - counts)[rows]
        places = HOST.repeat(starts, more) + _places(more)
        rows, found = HOST.repeat(rows, more), combine(HOST.repeat(found, more), features[places])
    counts = HOST.bincount(rows, minlength=len(first))
    indices = HOST.stack([rows, _places(counts)], axis=1).astype("int64")
    shape = host_array([len(first), int(counts.max()) if len(first) else 0], "int64")
    return indices, found, shape


def _texts(features: Any) -> Any:
    if features.dtype.kind == "O":
        return features
    return string_array((str(each).encode() for each in features.tolist()), features.shape)


# Texts are put together in Python, one by one: 1.4 times TensorFlow's time.
def _joined(columns: Sequence[_Column], glue: bytes) -> Any:
    texts = [_Column(column.counts, _texts(column.features)) for column in columns]
    more = [
        _Column(counts, features if not place else _glued(glue, features))
        for place, (counts, features) in enumerate(texts)
    ]
    first = string_array([b""] * len(columns[0].counts), columns[0].counts.shape)
    return _crossed(more, first, HOST.add)


def _glued(glue: bytes, features: Any) -> Any:
    return string_array((glue + each for each in features.tolist()), features.shape)


def _mixed(words: Any) -> Any:
    return words ^ words >> _SHIFT


def _chained(one: Any, other: Any) -> Any:
    """Fingerprints of two fingerprints after each other, mixed as Murmur's hash does."""
    second = _mixed(other * _MULTIPLIER) * _MULTIPLIER
    found = (one ^ _MULTIPLIER ^ second) * _MULTIPLIER
    return _mixed(_mixed(found) * _MULTIPLIER)


def _words(features: Any) -> Any:
    """A number of 64 bits for each feature, uint64."""
    return farm(features.tolist()) if features.dtype.kind == "O" else features.astype("uint64")


def _hashed(columns: Sequence[_Column], key: int, buckets: int) -> Any:
    words = [_Column(column.counts, _words(column.features)) for column in columns]
    first = HOST.full(len(columns[0].counts), key & _WORD, "uint64")
    indices, found, shape = _crossed(words, first, _chained)
    return indices, (found % (buckets or _LARGEST)).astype("int64"), shape


@binder("SparseCross", devices=_CPU)
def sparse_cross(bind: Bind) -> Callable[..., Any]:
    """All combinations of each row's features, as texts or as hashes."""
    count, key, buckets = (bind.attrs[name] for name in ("N", "hash_key", "num_buckets"))

    def compute(*parts: Any) -> Any:
        columns = _columns(parts, count)
        if bind.attrs["hashed_output"]:
            return _hashed(columns, key, buckets)
        return _joined(columns, b"_X_")

    return compute


@binder("SparseCrossV2", devices=_CPU)
def sparse_cross_v2(bind: Bind) -> Callable[..., Any]:
    """All combinations of each row's features, joined by a separator."""
    count = bind.attrs["N"]

    def compute(*parts: Any) -> Any:
        *columns, separator = parts
        return _joined(_columns(columns, count), separator.item())

    return compute
