"""Functions that parse records: `tf.parse_example`, `tf.decode_csv`. Source: TF 2.21."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.asserting import assert_
from sessrun.reference.api.input import parsing_features
from sessrun.reference.api.input.parsing_features import SparseFeature, Wanted, index_keys, wanted
from sessrun.reference.api.ops.array_ops import rank
from sessrun.reference.api.ops.math_ops import equal
from sessrun.reference.api.ops.sparse_order import merged
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build import generated
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["dense_default", "scalar_string"]

_NO_STRINGS: Final = np.empty(0, object)
#: What the name of a node has not.
_ODD: Final = re.compile(r"[^A-Za-z0-9_.\-/]")


@public("decode_csv", "io.decode_csv")
def decode_csv(
    records: TensorLike,
    record_defaults: Sequence[object],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[Tensor]:
    """The fields of lines, a tensor for each column.

    Args:
      records: strings, each a line.
      record_defaults: for each column a tensor of its dtype: one value for empty fields, or none
        if they are errors.
      field_delim: the character between fields.
      use_quote_delim: whether fields may be quoted.
      name: the operation's name.
      na_value: what else stands for an empty field.
      select_cols: the columns that are taken, in increasing order; all by default.

    Raises:
      ValueError: columns in another order, below 0, or not as many as defaults.

    """
    columns = list(select_cols or [])
    if any(second <= first for first, second in itertools.pairwise(columns)):
        raise ValueError("select_cols is not strictly increasing.")
    if columns and columns[0] < 0:
        raise ValueError("select_cols contains negative values.")
    if columns and len(columns) != len(record_defaults):
        raise ValueError("Length of select_cols and record_defaults do not match.")
    attrs = {
        "field_delim": field_delim,
        "use_quote_delim": use_quote_delim,
        "na_value": na_value,
        "select_cols": columns,
    }
    inputs = {"records": records, "record_defaults": record_defaults}
    return list(apply_op("DecodeCSV", inputs, attrs, name).outputs)


@public("io.parse_example", "parse_example")
def parse_example(
    serialized: TensorLike,
    features: Mapping[str, object],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[str, Tensor | SparseTensor]:
    """The features of serialized Examples.

    Args:
      serialized: a vector of strings, or a scalar.
      features: by name FixedLenFeature, VarLenFeature, FixedLenSequenceFeature or SparseFeature.
      name: the operations' name.
      example_names: a name for each example, for messages.

    Returns:
      By name a tensor, with a row for each example, or a SparseTensor.

    Raises:
      ValueError: there are no features, or one is not as it must be.

    """
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    asked = wanted(features)
    with name_scope(name, "ParseExample", [serialized, example_names]):
        given = convert_to_tensor(serialized, dtypes.string, name="serialized")
        parsed = _parsed(given, asked, name, example_names)
    for key, feature in asked.merged.items():
        parsed[key] = _sparse_feature(feature, parsed)
    return {key: parsed[key] for key in features}


def _sparse_feature(feature: SparseFeature, parsed: Mapping[str, Any]) -> SparseTensor:
    sizes = feature.size
    return merged(
        [parsed[key] for key in index_keys(feature)],
        parsed[feature.value_key],
        list(sizes) if isinstance(sizes, list | tuple) else [sizes],
        already_sorted=feature.already_sorted,
    )


def _parsed(
    serialized: Tensor, asked: Wanted, name: str | None, names: object
) -> dict[str, Tensor | SparseTensor]:
    """Every sparse and dense feature, by name."""
    defaults = [dense_default(key, *components) for key, components in asked.dense.items()]
    inputs = {
        "serialized": serialized,
        "names": _NO_STRINGS if names is None else names,
        "sparse_keys": list(asked.sparse) or _NO_STRINGS,
        "dense_keys": list(asked.dense) or _NO_STRINGS,
        "ragged_keys": _NO_STRINGS,
        "dense_defaults": defaults,
    }
    attrs = {
        "num_sparse": len(asked.sparse),
        "sparse_types": list(asked.sparse.values()),
        "ragged_value_types": [],
        "ragged_split_types": [],
        "dense_shapes": [shape for shape, _, _ in asked.dense.values()],
    }
    outputs = list(apply_op("ParseExampleV2", inputs, attrs, name).outputs)
    count = len(asked.sparse)
    parts = zip(*(outputs[start : start + count] for start in (0, count, 2 * count)), strict=True)
    sparse = {
        key: SparseTensor(*components) for key, components in zip(asked.sparse, parts, strict=True)
    }
    return {**sparse, **dict(zip(asked.dense, outputs[3 * count :], strict=True))}


def dense_default(
    key: str, shape: TensorShape, dtype: dtypes.DType, value: TensorLike | None
) -> Tensor:
    """The default of a dense feature: none if there must be a value, one to fill up with."""
    sizes = shape.as_list()
    varies = bool(sizes) and sizes[0] is None
    if value is None:
        if varies:
            return convert_to_tensor("" if dtype == dtypes.string else 0, dtype=dtype)
        return convert_to_tensor([], dtype=dtype)
    given = convert_to_tensor(value, dtype=dtype, name="key_" + _ODD.sub("_", key))
    return generated.reshape(given, [] if varies else sizes)


@public("io.parse_single_example", "parse_single_example")
def parse_single_example(
    serialized: TensorLike,
    features: Mapping[str, object],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[str, Tensor | SparseTensor]:
    """The features of one serialized Example.

    Args:
      serialized: a scalar string.
      features: as of `parse_example`.
      name: the operations' name.
      example_names: a scalar, the example's name.

    Returns:
      By name a tensor or a SparseTensor.

    Raises:
      ValueError: there are no features, a spec is invalid, or `serialized` is not a scalar.

    """
    if not features:
        raise ValueError("Invalid argument: features cannot be empty.")
    with name_scope(name, "ParseSingleExample", [serialized, example_names]):
        given = convert_to_tensor(serialized, name="serialized")
        return parse_example(scalar_string(given), features, name, example_names)


def scalar_string(value: Tensor) -> Tensor:
    """The tensor, after an assertion that it is a scalar if its rank is not known.

    Raises:
      ValueError: the static rank is not 0.

    """
    message = "Input serialized must be a scalar"
    ndims = value.shape.ndims
    if ndims == 0:
        return value
    if ndims is not None:
        raise ValueError(message)
    check = assert_(equal(rank(value), 0), [message], name="SerializedIsScalar")
    graph = get_default_graph()
    with graph.control_dependencies([check]), graph.colocate_with(value.op):
        checked = identity(value, name="serializedDependencies")
    checked.set_shape([])
    return checked


for _name in ("FixedLenFeature", "FixedLenSequenceFeature", "SparseFeature", "VarLenFeature"):
    public(_name, f"io.{_name}")(getattr(parsing_features, _name))
