"""Shape rules of lookup tables: a handle is a scalar, and what is behind it may be known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sessrun.spec.rules.shapes.base import (
    Dim,
    Shape,
    ShapeError,
    at_least,
    merge,
    merge_dims,
    ranked,
    rule,
)

__all__ = ["Table"]

_SCALAR: Final[Shape] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """What is known of the table behind a handle.

    Attributes:
      key_dtype: the dtype of its keys.
      value_dtype: the dtype of its values.
      key_shape: the shape of a key.
      value_shape: the shape of a value.

    """

    key_dtype: str
    value_dtype: str
    key_shape: Shape
    value_shape: Shape


def _check_dtypes(table: Table | None, key_dtype: str, value_dtype: str) -> None:
    if table is None:
        return
    for have, want in ((table.key_dtype, key_dtype), (table.value_dtype, value_dtype)):
        if have != want:
            raise ShapeError(f"Trying to read value with wrong dtype. Expected {have} got {want}")


def _vector(shape: Shape) -> Sequence[Dim]:
    vector = ranked(shape, 1, 1)
    return (None,) if vector is None else vector


@rule
def of_table(handle: Shape) -> list[Shape]:
    """No outputs; the handle is a scalar."""
    ranked(handle, 0, 0)
    return []


@rule
def size_of_table(handle: Shape) -> list[Shape]:
    """A scalar."""
    ranked(handle, 0, 0)
    return [_SCALAR]


@rule
def filled_table(handle: Shape, keys: Shape, values: Shape) -> list[Shape]:
    """No outputs; there is a scalar value for each key."""
    ranked(handle, 0, 0)
    merge(ranked(keys, 1, 1), values)
    return []


@rule
def filled_from_file(handle: Shape, filename: Shape) -> list[Shape]:
    """No outputs; the file's name is a scalar."""
    ranked(handle, 0, 0)
    ranked(filename, 0, 0)
    return []


@rule
def imported_table(handle: Shape, keys: Shape, values: Shape) -> list[Shape]:
    """No outputs; there is a row of values for each key."""
    ranked(handle, 0, 0)
    (count,) = _vector(keys)
    rows = at_least(values, 1)
    if rows is not None:
        merge_dims(count, rows[0])
    return []


@rule
def removed_from_table(handle: Shape, keys: Shape) -> list[Shape]:
    """No outputs; the keys are at least a vector."""
    ranked(handle, 0, 0)
    at_least(keys, 1)
    return []


@rule
def exported_table(
    handle: Shape, table: Table | None, key_dtype: str, value_dtype: str
) -> list[Shape]:
    """Keys and values of unknown shape."""
    ranked(handle, 0, 0)
    _check_dtypes(table, key_dtype, value_dtype)
    return [None, None]


@rule
def older_exported_table(handle: Shape) -> list[Shape]:
    """Keys, a vector, and values of unknown shape; the handle is a vector of 2."""
    merge(handle, (2,))
    return [(None,), None]


@rule
def looked_up(
    handle: Shape, table: Table | None, keys: Shape, key_dtype: str, value_dtype: str
) -> list[Shape]:
    """A value in the place of each key."""
    ranked(handle, 0, 0)
    _check_dtypes(table, key_dtype, value_dtype)
    if table is None or table.key_shape is None or table.value_shape is None or keys is None:
        return [None]
    outer = len(keys) - len(table.key_shape)
    if outer < 0:
        raise ShapeError(
            f"Expected keys to have suffix {list(table.key_shape)} but saw shape: {list(keys)}"
        )
    return [(*keys[:outer], *table.value_shape)]
