"""Kernels of crossed features: all combinations of the columns' features in a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.fingerprints import farm
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import HOST, host_array, string_array
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel

_CPU: Final = ("CPU",)
_WORD: Final = (1 << 64) - 1
_MULTIPLIER: Final = 0xC6A4A7935BD1E995
_SHIFT: Final = 47
_LARGEST: Final = (1 << 63) - 1


class _Column(NamedTuple):
    """A column: some features in each row, stored row by row.

    Attributes:
      counts: the number of features in each row, int64 [rows].
      features: numbers or bytes, row by row.

    """

    counts: Array
    features: Array


def _sparse_column(
    position: int, indices: Array, values: Array, shape: Array, rows: int
) -> _Column:
    """The column of a sparse matrix; `position` is its number in errors."""
    for array, rank, words in (
        (indices, 2, "indices should be a matrix"),
        (values, 1, "values should be a vector"),
        (shape, 1, "shapes should be a vector"),
    ):
        if array.ndim != rank:
            raise InvalidArgument(
                f"Input {words} but received shape {bracketed(array.shape)} at position {position}"
            )
    if indices.shape[1] != 2:
        raise InvalidArgument(
            f"Expected D2 of index to be 2 got {indices.shape[1]} at position {position}"
        )
    if values.shape != indices.shape[:1]:
        raise InvalidArgument(
            f"Expected size of values to be {len(indices)} got {len(values)} at position {position}"
        )
    if shape.shape != (2,) or int(shape[0]) != rows:
        raise InvalidArgument(
            f"Expected batch size {rows} got {shape.tolist()} at position {position}"
        )
    own = indices[:, 0]
    outside = (own < 0) | (own >= rows)
    if outside.any():
        raise InvalidArgument(f"Row {own[outside.argmax()]} is not in [0, {rows})")
    return _Column(HOST.bincount(own, minlength=rows), values[HOST.argsort(own, kind="stable")])


def _columns(parts: Sequence[Array], count: int) -> list[_Column]:
    """The columns; sparse ones come first."""
    indices, values, shapes = (parts[i * count : (i + 1) * count] for i in range(3))
    dense = parts[3 * count :]
    if not count and not dense:
        raise InvalidArgument("There must be at least one input to cross")
    for tensor in dense:
        require_rank(2, tensor=tensor)
    rows = int(shapes[0].reshape(-1)[0]) if count else dense[0].shape[0]
    columns = [
        _sparse_column(position, *tensor, rows)
        for position, tensor in enumerate(zip(indices, values, shapes, strict=True))
    ]
    for tensor in dense:
        if tensor.shape[0] != rows:
            raise InvalidArgument(f"Expected batch size {rows} got {tensor.shape[0]}")
        columns.append(_Column(HOST.full(rows, tensor.shape[1], "int64"), tensor.reshape(-1)))
    return columns


def _ranks(counts: Array) -> Array:
    """For successive groups of the given sizes, the position of each element in its group."""
    return HOST.arange(counts.sum()) - HOST.repeat(HOST.cumsum(counts) - counts, counts)


def _crossed(
    columns: Sequence[_Column], first: Array, combine: Callable[[Array, Array], Array]
) -> tuple[Array, Array, Array]:
    """The combinations of each row's features as a sparse matrix; the last column varies fastest.

    Args:
      columns: one or more.
      first: the start value of each row's combinations.
      combine: from combinations and features of the next column to longer combinations.

    """
    rows, combinations = HOST.arange(len(first)), first
    for counts, features in columns:
        more, starts = counts[rows], (HOST.cumsum(counts) - counts)[rows]
        feature_indices = HOST.repeat(starts, more) + _ranks(more)
        rows, combinations = (
            HOST.repeat(rows, more),
            combine(HOST.repeat(combinations, more), features[feature_indices]),
        )
    counts = HOST.bincount(rows, minlength=len(first))
    indices = HOST.stack([rows, _ranks(counts)], axis=1).astype("int64")
    shape = host_array([len(first), int(counts.max()) if len(first) else 0], "int64")
    return indices, combinations, shape


def _texts(features: Array) -> Array:
    if features.dtype.kind == "O":
        return features
    return string_array((str(number).encode() for number in features.tolist()), features.shape)


# Texts are joined in Python, one by one: 1.4 times TensorFlow's time.
def _joined(columns: Sequence[_Column], glue: bytes) -> tuple[Array, Array, Array]:
    texts = [_Column(column.counts, _texts(column.features)) for column in columns]
    more = [
        _Column(counts, features if not position else _glued(glue, features))
        for position, (counts, features) in enumerate(texts)
    ]
    first = string_array([b""] * len(columns[0].counts), columns[0].counts.shape)
    return _crossed(more, first, HOST.add)


def _glued(glue: bytes, features: Array) -> Array:
    return string_array((glue + text for text in features.tolist()), features.shape)


def _mixed(words: Array) -> Array:
    return words ^ words >> _SHIFT


def _chained(one: Array, other: Array) -> Array:
    """Fingerprints of pairs of fingerprints, mixed as in Murmur's hash."""
    second = _mixed(other * _MULTIPLIER) * _MULTIPLIER
    hashes = (one ^ _MULTIPLIER ^ second) * _MULTIPLIER
    return _mixed(_mixed(hashes) * _MULTIPLIER)


def _words(features: Array) -> Array:
    """A uint64 for each feature: its fingerprint, or the number itself."""
    if features.dtype.kind == "O":
        return HOST.asarray(farm(features.tolist()))
    return features.astype("uint64")


def _hashed(columns: Sequence[_Column], key: int, buckets: int) -> tuple[Array, Array, Array]:
    words = [_Column(column.counts, _words(column.features)) for column in columns]
    first = HOST.full(len(columns[0].counts), key & _WORD, "uint64")
    indices, hashes, shape = _crossed(words, first, _chained)
    return indices, (hashes % (buckets or _LARGEST)).astype("int64"), shape


@binder("SparseCross", devices=_CPU)
def sparse_cross(bind: Bind) -> KernelFunction:
    """All combinations of the features of each row, as texts or as hashes."""
    count, key, buckets = (bind.attrs[name] for name in ("N", "hash_key", "num_buckets"))

    def compute(*parts: Array) -> tuple[Array, Array, Array]:
        columns = _columns(parts, count)
        if bind.attrs["hashed_output"]:
            return _hashed(columns, key, buckets)
        return _joined(columns, b"_X_")

    return compute


@kernel("SparseCrossV2", devices=_CPU)
def sparse_cross_v2(_: ArrayModule, *parts: Array, N: int) -> tuple[Array, Array, Array]:
    """All combinations of the features of each row, joined by a separator."""
    *columns, separator = parts
    return _joined(_columns(columns, N), separator.item())
