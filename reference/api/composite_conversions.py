"""Conversion of several values to tensors at once; composite values are not converted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "convert_n_to_tensor",
    "convert_n_to_tensor_or_composite",
    "convert_to_tensor_or_composite",
]


def convert_n_to_tensor(
    values: Sequence[object],
    dtype: DTypeLike | None = None,
    name: str | None = None,
    preferred_dtype: DTypeLike | None = None,
    as_ref: bool = False,
) -> list[Tensor]:
    """Convert values to tensors; the conversion of the ith one is named `name` and `_i`.

    Args:
      values: what `tf.convert_to_tensor` takes.
      dtype: the dtype of all, or None.
      name: the name that theirs begin with.
      preferred_dtype: a dtype to try first.
      as_ref: whether reference variables are wanted as references.

    Raises:
      TypeError: the values are no sequence, or one cannot be converted.

    """
    return [
        convert_to_tensor(value, dtype, called, preferred_dtype, as_ref=as_ref)
        for value, called in _named(values, name)
    ]


def convert_to_tensor_or_composite(
    value: object, dtype: DTypeLike | None = None, name: str | None = None, as_ref: bool = False
) -> Any:
    """Convert a value to a Tensor, unless it is a composite: IndexedSlices, a SparseTensor.

    Raises:
      ValueError: a composite value, or a tensor, has another dtype.

    """
    if not isinstance(value, IndexedSlices | SparseTensor):
        return convert_to_tensor(value, dtype, name, as_ref=as_ref)
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
        raise bad_value(
            f"Tensor conversion dtype mismatch. Requested dtype is {dtypes.as_dtype(dtype).name}, "
            f"Tensor has dtype {value.dtype.name}: {value!r}"
        )
    return value


def convert_n_to_tensor_or_composite(
    values: Sequence[object],
    dtype: DTypeLike | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> list[Any]:
    """Each of the values as `convert_to_tensor_or_composite` gives it; None stays None.

    Raises:
      TypeError: the values are no sequence, or one cannot be converted.

    """
    return [
        None if value is None else convert_to_tensor_or_composite(value, dtype, called, as_ref)
        for value, called in _named(values, name)
    ]


def _named(values: Sequence[object], name: str | None) -> list[tuple[object, str | None]]:
    if not isinstance(values, Sequence):
        raise TypeError("values must be a sequence.")
    return [(value, name and f"{name}_{i}") for i, value in enumerate(values)]
