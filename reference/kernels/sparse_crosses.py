"""Kernels of crossed features: every combination of what the columns have in a row."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

from sessrun.reference.fingerprints import farm
from sessrun.reference.kernels.host import HOST, host_array, string_array
from sessrun.reference.kernels.registry import Bind, KernelError, binder
from sessrun.reference.node_summary import bracketed

__all__: list[str] = []

_CPU: Final = ("CPU",)
_INVALID: Final = 3
_WORD: Final = (1 << 64) - 1
_MULTIPLIER: Final = 0xC6A4A7935BD1E995
_SHIFT: Final = 47
_LARGEST: Final = (1 << 63) - 1

#: A column: for each row its features, numbers or bytes.
Column = list[list[Any]]


def _sparse_column(indices: Any, values: Any, shape: Any, rows: int) -> Column:
    if indices.ndim != 2 or indices.shape[1] != 2:
        raise KernelError(_INVALID, "Expected sparse inputs to be matrices, got indices of shape "
                          f"{bracketed(indices.shape)}")  # fmt: skip
    if values.shape != indices.shape[:1]:
        raise KernelError(_INVALID, f"Expected {len(indices)} values, got {values.shape}")
    if shape.shape != (2,) or int(shape[0]) != rows:
        raise KernelError(_INVALID, f"Expected batch size {rows}, got {shape.tolist()}")
    column: Column = [[] for _ in range(rows)]
    for row, value in zip(indices[:, 0].tolist(), values.tolist(), strict=True):
        if not 0 <= row < rows:
            raise KernelError(_INVALID, f"Row {row} is not in [0, {rows})")
        column[row].append(value)
    return column


def _columns(parts: Sequence[Any], count: int) -> Column:
    """For each row the features of every column; sparse columns come first."""
    indices, values, shapes = (parts[i * count : (i + 1) * count] for i in range(3))
    dense = parts[3 * count :]
    if not count and not dense:
        raise KernelError(_INVALID, "There must be at least one input to cross")
    for each in dense:
        if each.ndim != 2:
            raise KernelError(_INVALID, "Dense inputs should be matrices but received shape "
                              f"{bracketed(each.shape)}")  # fmt: skip
    rows = int(shapes[0][0]) if count else dense[0].shape[0]
    columns = [_sparse_column(*each, rows) for each in zip(indices, values, shapes, strict=True)]
    for each in dense:
        if each.shape[0] != rows:
            raise KernelError(_INVALID, f"Expected batch size {rows} got {each.shape[0]}")
        columns.append(each.tolist())
    return [list(row) for row in zip(*columns, strict=True)]


def _sparse_matrix(rows: list[list[Any]]) -> tuple[Any, Any]:
    """The indices and the shape of a sparse matrix of rows."""
    places = [(row, place) for row, found in enumerate(rows) for place in range(len(found))]
    width = max(map(len, rows), default=0)
    indices = HOST.array(places, dtype="int64").reshape(len(places), 2)
    return indices, host_array([len(rows), width], "int64")


def _crossed(rows: Column, combine: Callable[[Sequence[Any]], Any]) -> list[list[Any]]:
    return [[combine(features) for features in itertools.product(*row)] for row in rows]


def _text(feature: Any) -> bytes:
    return feature if isinstance(feature, bytes) else str(feature).encode()


# Text is joined cross by cross in Python: six times TensorFlow's time.
def _joined(rows: Column, glue: bytes) -> Any:
    crossed = _crossed(rows, lambda features: glue.join(map(_text, features)))
    indices, shape = _sparse_matrix(crossed)
    return indices, string_array(itertools.chain(*crossed), (len(indices),)), shape


def _mixed(word: int) -> int:
    return word ^ (word >> _SHIFT)


def _chained(one: int, other: int) -> int:
    """The fingerprint of two fingerprints after each other, mixed as Murmur's hash does."""
    second = _mixed(other * _MULTIPLIER & _WORD) * _MULTIPLIER & _WORD
    found = (one ^ _MULTIPLIER ^ second) * _MULTIPLIER & _WORD
    return _mixed(_mixed(found) * _MULTIPLIER & _WORD)


# FarmHash in Python, feature by feature, takes seventy times TensorFlow's time.
def _hashed(features: Sequence[Any], key: int, buckets: int) -> int:
    words = (farm(each) if isinstance(each, bytes) else each & _WORD for each in features)
    found = functools.reduce(_chained, words, key & _WORD)
    return found % (buckets or _LARGEST)


@binder("SparseCross", devices=_CPU)
def sparse_cross(bind: Bind) -> Callable[..., Any]:
    """All combinations of each row's features, as texts or as hashes."""
    count, key, buckets = (bind.attrs[name] for name in ("N", "hash_key", "num_buckets"))

    def compute(*parts: Any) -> Any:
        rows = _columns(parts, count)
        if not bind.attrs["hashed_output"]:
            return _joined(rows, b"_X_")
        crossed = _crossed(rows, lambda features: _hashed(features, key, buckets))
        indices, shape = _sparse_matrix(crossed)
        return indices, host_array(list(itertools.chain(*crossed)), "int64"), shape

    return compute


@binder("SparseCrossV2", devices=_CPU)
def sparse_cross_v2(bind: Bind) -> Callable[..., Any]:
    """All combinations of each row's features, joined by a separator."""
    count = bind.attrs["N"]

    def compute(*parts: Any) -> Any:
        *columns, separator = parts
        return _joined(_columns(columns, count), separator.item())

    return compute
