"""Functions of sparse tensors: placeholders, retained elements, dense forms, serialization.

Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.array_ops import gather, reshape, sparse_to_dense, where
from sessrun.reference.api.ops.fill_ops import zeros
from sessrun.reference.api.sparse_tensor import (
    SparseTensor,
    SparseTensorValue,
    convert_to_tensor_or_sparse_tensor,
)
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import TensorShape, dimension_value
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import (
    identity,
    placeholder,
    placeholder_with_default,
)
from sessrun.reference.build.get_static_value import seen_shape
from sessrun.reference.errors import bad_type
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "named_parts",
    "of_parts",
    "sparse_input",
    "sparse_placeholder",
    "sparse_retain",
    "sparse_tensor_to_dense",
]


def sparse_input(value: SparseTensor | SparseTensorValue | TensorLike | None) -> SparseTensor:
    """The value as a SparseTensor.

    Raises:
      TypeError: `value` is neither a SparseTensor nor a SparseTensorValue.

    """
    sparse = convert_to_tensor_or_sparse_tensor(value)
    if not isinstance(sparse, SparseTensor):
        raise bad_type("Input must be a SparseTensor.")
    return sparse


def named_parts(sparse: SparseTensor) -> dict[str, Tensor]:
    """Its parts, by the names that operations have for them."""
    return {
        "sparse_indices": sparse.indices,
        "sparse_values": sparse.values,
        "sparse_shape": sparse.dense_shape,
    }


def of_parts(parts: Sequence[Tensor], rank: int | None) -> SparseTensor:
    """The sparse tensor of an operation's three outputs, whose rank may be known."""
    indices, values, shape = parts
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


@public("sparse.retain", "sparse_retain")
def sparse_retain(sp_input: TensorLike | SparseTensor, to_retain: TensorLike) -> SparseTensor:
    """Keep the elements where `to_retain` is true, in a sparse tensor of the same shape.

    Args:
      sp_input: a sparse tensor of N elements.
      to_retain: bool, shape [N].

    Raises:
      TypeError: `sp_input` is not sparse.
      ValueError: there are more or fewer elements.

    """
    sparse, chosen = sparse_input(sp_input), convert_to_tensor(to_retain)
    if chosen.shape.ndims is not None:
        chosen.shape.assert_has_rank(1)
        sparse.values.shape[0].assert_is_compatible_with(chosen.shape[0])
    places = reshape(where(chosen), [-1])
    indices, values = gather(sparse.indices, places), gather(sparse.values, places)
    return SparseTensor(indices, values, identity(sparse.dense_shape))


@public("io.serialize_sparse", "serialize_sparse")
def serialize_sparse(
    sp_input: SparseTensor, name: str | None = None, out_type: DTypeLike = dtypes.string
) -> Tensor:
    """Three strings, shape [3]: the bytes of its indices, values and shape.

    Raises:
      TypeError: `sp_input` is not sparse.

    """
    inputs, attrs = named_parts(sparse_input(sp_input)), {"out_type": out_type}
    return apply_op("SerializeSparse", inputs, attrs, name).outputs[0]


@public("io.serialize_many_sparse", "serialize_many_sparse")
def serialize_many_sparse(
    sp_input: SparseTensor, name: str | None = None, out_type: DTypeLike = dtypes.string
) -> Tensor:
    """Three strings for each of its rows, shape [rows, 3].

    Raises:
      TypeError: `sp_input` is not sparse.

    """
    inputs, attrs = named_parts(sparse_input(sp_input)), {"out_type": out_type}
    return apply_op("SerializeManySparse", inputs, attrs, name).outputs[0]


def deserialize_sparse(
    serialized_sparse: TensorLike,
    dtype: DTypeLike,
    rank: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    """The sparse tensor of three strings; of arrays of such triples those of them, stacked.

    Args:
      serialized_sparse: string, shape [..., 3].
      dtype: that of the values.
      rank: of the result, if it is known.
      name: the operation's name.

    """
    inputs, attrs = {"serialized_sparse": serialized_sparse}, {"dtype": dtype}
    return of_parts(apply_op("DeserializeSparse", inputs, attrs, name).outputs, rank)


@public("deserialize_many_sparse", "io.deserialize_many_sparse")
def deserialize_many_sparse(
    serialized_sparse: TensorLike,
    dtype: DTypeLike,
    rank: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    """The sparse tensor whose rows are those of these triples of strings.

    Args:
      serialized_sparse: string, shape [rows, 3].
      dtype: that of the values.
      rank: of the result, if it is known.
      name: the operation's name.

    """
    inputs, attrs = {"serialized_sparse": serialized_sparse}, {"dtype": dtype}
    outputs = apply_op("DeserializeManySparse", inputs, attrs, name).outputs
    return of_parts(outputs, rank)


@public("sparse.placeholder", "sparse_placeholder")
def sparse_placeholder(
    dtype: DTypeLike, shape: Any = None, name: str | None = None
) -> SparseTensor:
    """A SparseTensor that every run that needs it must feed.

    Args:
      dtype: the dtype of its values.
      shape: the dense shape: None, a list, a TensorShape or a tensor; where it is given,
        a feed may leave it out.
      name: a prefix of the names of its placeholders.

    Raises:
      ValueError: `shape` has no known rank.

    """
    names = {
        part: None if name is None else f"{name}/{part}"
        for part in ("shape", "shape_default", "values", "indices")
    }
    static: TensorShape | None = None
    rank: int | None = None
    if shape is None:
        dense_shape = placeholder(dtypes.int64, [None], names["shape"])
    else:
        if isinstance(shape, Tensor):
            default, static = shape, seen_shape(shape)
        else:
            sizes = [None if size == -1 else dimension_value(size) for size in shape]
            static = TensorShape(sizes)
            known = [-1 if size is None else size for size in sizes]
            default = convert_to_tensor(known, dtypes.int64, names["shape_default"])
        rank = default.shape[0].value
        dense_shape = placeholder_with_default(default, default.shape, names["shape"])
    values = placeholder(dtype, [None], names["values"])
    sparse = SparseTensor(
        placeholder(dtypes.int64, [None, rank], names["indices"]), values, dense_shape
    )
    if static is not None:
        sparse.set_shape(static)
    return sparse


@public("sparse.to_dense", "sparse_tensor_to_dense")
def sparse_tensor_to_dense(
    sp_input: SparseTensor,
    default_value: TensorLike | None = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """The dense tensor, with `default_value` (by default zero) where no element is given.

    Args:
      sp_input: a SparseTensor or a SparseTensorValue.
      default_value: a scalar of its dtype.
      validate_indices: whether indices must be in order, without repetition.
      name: the operation's name.

    Raises:
      TypeError: `sp_input` is no sparse value.

    """
    sparse = convert_to_tensor_or_sparse_tensor(sp_input)
    if not isinstance(sparse, SparseTensor):
        raise bad_type("Input must be a SparseTensor.")
    if default_value is None:
        default_value = zeros([], sparse.dtype)
    return sparse_to_dense(
        sparse.indices, sparse.dense_shape, sparse.values, default_value, validate_indices, name
    )
