"""Functions of sparse tensors: some of their elements, their bytes.

Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sessrun.reference.api.ops.array_ops import gather, reshape, where
from sessrun.reference.api.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.errors import bad_type
from sessrun.reference.graph.tensor import Tensor

__all__ = ["EXPORTS", "named_parts", "of_parts", "sparse_input", "sparse_retain"]


def sparse_input(value: Any) -> SparseTensor:
    """The sparse tensor that a value is.

    Raises:
      TypeError: it is none.

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


def of_parts(parts: Any, rank: int | None) -> SparseTensor:
    """The sparse tensor of an operation's three outputs, whose rank may be known."""
    indices, values, shape = parts
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """Those elements that are to be retained, in a sparse tensor of the same shape.

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


def serialize_sparse(sp_input: Any, name: str | None = None, out_type: Any = dtypes.string) -> Any:
    """Three strings, shape [3]: the bytes of its indices, values and shape.

    Raises:
      TypeError: it is not sparse.

    """
    inputs, attrs = named_parts(sparse_input(sp_input)), {"out_type": out_type}
    return apply_op("SerializeSparse", inputs, attrs, name).outputs[0]


def serialize_many_sparse(
    sp_input: Any, name: str | None = None, out_type: Any = dtypes.string
) -> Any:
    """Three strings for each of its rows, shape [rows, 3].

    Raises:
      TypeError: it is not sparse.

    """
    inputs, attrs = named_parts(sparse_input(sp_input)), {"out_type": out_type}
    return apply_op("SerializeManySparse", inputs, attrs, name).outputs[0]


def deserialize_sparse(
    serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None
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


def deserialize_many_sparse(
    serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None
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


EXPORTS: Final[Mapping[str, Any]] = {
    "deserialize_many_sparse": deserialize_many_sparse,
    "io.deserialize_many_sparse": deserialize_many_sparse,
    "io.serialize_many_sparse": serialize_many_sparse,
    "io.serialize_sparse": serialize_sparse,
    "serialize_many_sparse": serialize_many_sparse,
    "serialize_sparse": serialize_sparse,
    "sparse.retain": sparse_retain,
    "sparse_retain": sparse_retain,
}
