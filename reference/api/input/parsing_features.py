"""How a feature of an Example is parsed: `tf.FixedLenFeature` and its kin. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType, DTypeLike, as_dtype
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "SparseFeature",
    "VarLenFeature",
    "Wanted",
    "wanted",
]


class VarLenFeature(NamedTuple):
    """A feature of any length, parsed to a SparseTensor.

    Attributes:
      dtype: of its values.

    """

    dtype: DTypeLike


class FixedLenFeature(NamedTuple):
    """A feature of one shape, parsed to a tensor.

    Attributes:
      shape: of its values in one example.
      dtype: of its values.
      default_value: of examples without the feature; None if all must have it.

    """

    shape: ShapeLike
    dtype: DTypeLike
    default_value: TensorLike | None = None


class FixedLenSequenceFeature(NamedTuple):
    """A feature of rows, parsed to a tensor that is as long as the longest example.

    Attributes:
      shape: of a row.
      dtype: of its values.
      allow_missing: whether an example may be without it: it must be true.
      default_value: what shorter examples are filled up with; zeros or empty strings if None.

    """

    shape: ShapeLike
    dtype: DTypeLike
    allow_missing: bool = False
    default_value: TensorLike | None = None


class SparseFeature(NamedTuple):
    """A SparseTensor whose indices and values are features.

    Attributes:
      index_key: the feature of the indices, or a list of one for each dimension.
      value_key: the feature of the values.
      dtype: of the values.
      size: of the dimension that the indices are in, or a list of sizes.
      already_sorted: whether each example has its values in the order of their indices.

    """

    index_key: str | Sequence[str]
    value_key: str
    dtype: DTypeLike
    size: int | Sequence[int]
    already_sorted: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """The features to parse, as the arguments of the parsing operations.

    Attributes:
      sparse: dtype by feature, of those parsed to sparse tensors, in order.
      dense: shape, dtype and default by feature, of those parsed to tensors, in order.
      merged: SparseFeatures, which are parsed as several features.

    """

    sparse: dict[str, DType] = field(default_factory=dict)
    dense: dict[str, tuple[TensorShape, DType, TensorLike | None]] = field(default_factory=dict)
    merged: dict[str, SparseFeature] = field(default_factory=dict)

    def add_sparse(self, key: str, dtype: DType) -> None:
        """Ask for a feature as a sparse tensor.

        Raises:
          ValueError: the same feature was added with another dtype.

        """
        have = self.sparse.setdefault(key, dtype)
        if have != dtype:
            raise ValueError(f"Conflicting type {have} vs {dtype} for feature {key}.")


def wanted(features: Mapping[str, Any]) -> Wanted:
    """The features to parse, from feature specs by name.

    Raises:
      ValueError: a spec is of no known kind, lacks a dtype or a shape, or contradicts another.

    """
    result = Wanted()
    for key in sorted(features):
        feature = features[key]
        _check(key, feature)
        dtype = as_dtype(feature.dtype)
        if isinstance(feature, VarLenFeature):
            result.add_sparse(key, dtype)
        elif isinstance(feature, SparseFeature):
            for index in index_keys(feature):
                result.add_sparse(index, dtypes.int64)
            result.add_sparse(feature.value_key, dtype)
            result.merged[key] = feature
        else:
            shape = TensorShape(feature.shape)
            if isinstance(feature, FixedLenSequenceFeature):
                shape = TensorShape([None]).concatenate(shape)
            result.dense[key] = (shape, dtype, feature.default_value)
    both = result.dense.keys() & result.sparse.keys()
    if both:
        raise ValueError(f"Dense and sparse keys must not intersect; both have {sorted(both)}")
    return result


def index_keys(feature: SparseFeature) -> list[str]:
    """The features of the indices."""
    keys = feature.index_key
    return [keys] if isinstance(keys, str) else list(keys)


_KINDS: Final = (VarLenFeature, FixedLenFeature, FixedLenSequenceFeature, SparseFeature)


def _check(key: str, feature: object) -> None:
    if not isinstance(feature, _KINDS):
        raise ValueError(  # noqa: TRY004 - TensorFlow's class
            f"Unsupported {type(feature).__name__} {feature} for key {key!r}"
        )
    missing = []
    if isinstance(feature, SparseFeature):
        missing = [word for word in ("index_key", "value_key") if not getattr(feature, word)]
    if not feature.dtype:
        missing.append("type")
    if isinstance(feature, FixedLenFeature | FixedLenSequenceFeature) and feature.shape is None:
        missing.append("shape")
    if missing:
        raise ValueError(f"Missing {missing[0]} for feature {key}. Received feature={feature}")
    if isinstance(feature, FixedLenSequenceFeature) and not feature.allow_missing:
        raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
    if isinstance(feature, FixedLenFeature):
        sizes = TensorShape(feature.shape).as_list()
        if sizes and sizes[0] is None:
            raise ValueError(
                f"First dimension of shape for feature {key} unknown. Consider using "
                f"FixedLenSequenceFeature. Received feature={feature}."
            )
        if None in sizes:
            raise ValueError(
                f"All dimensions of shape for feature {key} need to be known but "
                f"received {feature.shape!s}."
            )
