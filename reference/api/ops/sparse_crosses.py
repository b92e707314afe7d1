"""Crosses of sparse features, and counts of the values of sparse tensors.

Their node names and op types are those of `tensorflow.compat.v1`.
"""

from __future__ import annotations

from typing import Any, Final

from sessrun.reference.api.argument_types import Structure
from sessrun.reference.api.ops.array_ops import reshape
from sessrun.reference.api.ops.assertions import assert_equal
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

#: The default key of the hash function.
_HASH_KEY: Final = 0xDECAFCAFFE


def _columns(inputs: TensorLike) -> tuple[dict[str, list[Tensor]], bool]:
    """The columns as inputs of an operation, integers as int64; and whether all are strings."""
    if not isinstance(inputs, list | tuple):
        raise bad_type("Inputs must be a list")
    if not all(isinstance(feature, SparseTensor | Tensor) for feature in inputs):
        raise bad_type("All inputs must be Tensor or SparseTensor.")
    sparse = [feature for feature in inputs if isinstance(feature, SparseTensor)]
    columns = {
        "indices": [feature.indices for feature in sparse],
        "values": [feature.values for feature in sparse],
        "shapes": [feature.dense_shape for feature in sparse],
        "dense_inputs": [feature for feature in inputs if not isinstance(feature, SparseTensor)],
    }
    is_text = all(
        feature.dtype == dtypes.string
        for part in ("values", "dense_inputs")
        for feature in columns[part]
    )
    for part in ("values", "dense_inputs"):
        columns[part] = [
            feature if feature.dtype == dtypes.string else cast(feature, dtypes.int64)
            for feature in columns[part]
        ]
    return columns, is_text


@public("sparse.cross")
def sparse_cross(
    inputs: TensorLike, name: str | None = None, separator: TensorLike | None = None
) -> SparseTensor:
    """The crosses of each row's features, as strings.

    Args:
      inputs: dense and sparse matrices of strings or integers, with equal numbers of rows.
      name: the operation's name.
      separator: the text between features, by default `_X_`.

    Raises:
      TypeError: the inputs are not a list of tensors.

    """
    glue = convert_to_tensor("_X_" if separator is None else separator, dtype=dtypes.string)
    columns, _ = _columns(inputs)
    return SparseTensor(*apply_op("SparseCrossV2", {**columns, "sep": glue}, {}, name).outputs)


@public("sparse.cross_hashed")
def sparse_cross_hashed(
    inputs: TensorLike, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """The crosses of each row's features, as hashes.

    Args:
      inputs: dense and sparse matrices of strings or integers, with equal numbers of rows.
      num_buckets: the number of hash buckets; 0 for the range of int64.
      hash_key: the key of the hash function.
      name: the operation's name.

    Raises:
      TypeError: the inputs are not a list of tensors.

    """
    columns, is_text = _columns(inputs)
    attrs = {
        "hashed_output": True,
        "num_buckets": num_buckets,
        "hash_key": hash_key or _HASH_KEY,
        "out_type": dtypes.int64,
        "internal_type": dtypes.string if is_text else dtypes.int64,
    }
    return SparseTensor(*apply_op("SparseCross", columns, attrs, name).outputs)


@public("sparse.bincount")
def sparse_bincount(
    values: Any,
    weights: TensorLike | None = None,
    axis: int | None = 0,
    minlength: int | None = None,
    maxlength: int | None = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """The counts of the numbers 0, 1, ..., or the sums of their weights, as a sparse tensor.

    Args:
      values: a tensor or a sparse tensor of integers that are not negative.
      weights: the weights of the values, dense or sparse as these, of the same shape.
      axis: 0 to count all values together, -1 to count the rows separately.
      minlength: the least size of the last dimension of the result.
      maxlength: the greatest size of that dimension; larger numbers are not counted.
      binary_output: whether the result says if a number occurs (1) instead of how often.
      name: the name of the scope.

    Raises:
      ValueError: the axis is another; weights are given for a binary output, or of another kind.

    """
    with name_scope(name, "count", [values, weights]):
        is_sparse = isinstance(values, SparseTensor)
        numbers = values if is_sparse else convert_to_tensor(values, name="values")
        if weights is not None and not isinstance(weights, SparseTensor):
            weights = convert_to_tensor(weights, name="weights")
        if weights is not None and binary_output:
            raise bad_value(
                "Arguments `binary_output` and `weights` are mutually exclusive. "
                "Please specify only one."
            )
        if axis not in {None, 0, -1}:
            raise bad_value(
                f"Unsupported value for argument axis={axis}. Only 0 and -1 are "
                "currently supported."
            )
        if axis != -1:
            numbers, weights = _in_one_row(numbers, weights)
        attrs = {
            "minlength": -1 if minlength is None else minlength,
            "maxlength": -1 if maxlength is None else maxlength,
            "binary_output": binary_output,
        }
        if isinstance(numbers, SparseTensor):
            inputs = {
                "indices": numbers.indices,
                "values": numbers.values,
                "dense_shape": numbers.dense_shape,
                "weights": _sparse_weights(numbers, weights),
            }
            return SparseTensor(*apply_op("SparseCountSparseOutput", inputs, attrs).outputs)
        inputs = {"values": numbers, "weights": _dense_weights(numbers, weights)}
        return SparseTensor(*apply_op("DenseCountSparseOutput", inputs, attrs).outputs)


def _in_one_row(numbers: TensorLike, weights: Structure) -> tuple[Tensor, Any]:
    if isinstance(numbers, SparseTensor):
        kept = None if weights is None else _sparse_weights(numbers, weights)
        return numbers.values, kept
    kept = None if weights is None else reshape(weights, [-1])
    return reshape(numbers, [-1]), kept


def _dense_weights(numbers: Tensor, weights: Any) -> Tensor:
    if weights is None:
        return constant([], dtype=numbers.dtype)
    if not isinstance(weights, Tensor):
        raise bad_value(
            "Argument `weights` must be a tf.Tensor if `values` is a tf.Tensor. "
            f"Received weights={weights} of type: {type(weights).__name__}"
        )
    return weights


def _sparse_weights(numbers: SparseTensor, weights: Any) -> Tensor:
    """The values of sparse weights, with a check that their indices are those of the numbers."""
    if weights is None:
        return constant([], dtype=numbers.values.dtype)
    if not isinstance(weights, SparseTensor):
        raise bad_value(
            "Argument `weights` must be a SparseTensor if `values` is a SparseTensor. "
            f"Received weights={weights} of type: {type(weights).__name__}"
        )
    checks = [
        assert_equal(one, other, message=f"'weights' and 'values' must have the same {what}.")
        for one, other, what in (
            (weights.dense_shape, numbers.dense_shape, "dense shape"),
            (weights.indices, numbers.indices, "indices"),
        )
        if one is not other
    ]
    if not checks:
        return weights.values
    with get_default_graph().control_dependencies(checks):
        return identity(weights.values)
