"""Labels for CTC losses: collapsed repetitions, dense labels as sparse ones, unique labels.

Source: TF 2.21.
"""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.control_flow.map_fn import map_fn
from sessrun.reference.api.ops.array_ops import boolean_mask, concat, expand_dims, pad, shape
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import ones_like
from sessrun.reference.api.ops.grids import sequence_mask
from sessrun.reference.api.ops.math_ops import not_equal, range_
from sessrun.reference.api.ops.reduce_ops import reduce_max, reduce_sum
from sessrun.reference.api.ops.sparse_array_ops import sparse_reshape
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.base.dimension import dimension_value
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import logical_and, reshape, scatter_nd, unique
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["ctc_unique_labels", "dense_labels_to_sparse", "size_at"]


def size_at(tensor: Tensor, axis: int) -> int | Tensor:
    """The size of a dimension: a number if it is known and not zero, else a scalar tensor."""
    return dimension_value(tensor.shape[axis]) or shape(tensor)[axis]


@public("nn.collapse_repeated")
def collapse_repeated(
    labels: TensorLike, seq_length: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Labels without those that equal the previous label.

    Args:
      labels: [batch, max labels].
      seq_length: [batch], the number of labels in each row.
      name: the operations' scope.

    Returns:
      The labels, padded with zeros, and their number in each row, in the dtype of `seq_length`.

    """
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        rows = convert_to_tensor(labels, name="labels")
        lengths = convert_to_tensor(seq_length, name="seq_length")
        first = ones_like(rows[:, :1], dtypes.bool_)
        is_new = concat([first, not_equal(rows[:, 1:], rows[:, :-1])], axis=1)
        is_label = sequence_mask(lengths, maxlen=size_at(rows, 1))
        is_new = logical_and(is_new, is_label)
        counts = reduce_sum(cast(is_new, dtypes.int32), axis=1)
        most = reduce_max(counts)
        is_filled = sequence_mask(counts, maxlen=most)
        flat, flat_new, flat_filled = (
            reshape(matrix, [-1]) for matrix in (rows, is_new, is_filled)
        )
        positions = range_(size_at(flat_filled, 0))
        kept = scatter_nd(
            indices=expand_dims(boolean_mask(positions, flat_filled), axis=1),
            updates=boolean_mask(flat, flat_new),
            shape=shape(flat_filled),
        )
        full_shape = [size_at(rows, 0), most]
        return reshape(kept, full_shape), cast(counts, lengths.dtype)


def dense_labels_to_sparse(dense: TensorLike, length: TensorLike) -> SparseTensor:
    """Rows of labels as a sparse matrix of int32.

    Args:
      dense: [batch, max labels].
      length: [batch], the number of labels in each row.

    """
    values = reshape(dense, [-1])
    numbers = range_(shape(values, out_type=dtypes.int64)[0])
    is_label = reshape(sequence_mask(length, maxlen=shape(dense)[1]), [-1])
    positions = expand_dims(boolean_mask(numbers, is_label), 1)
    kept = boolean_mask(values, is_label)
    flat = SparseTensor(
        indices=positions,
        values=cast(kept, dtypes.int32),
        dense_shape=shape(values, out_type=dtypes.int64),
    )
    matrix = sparse_reshape(flat, shape(dense))
    most = reduce_max(length)
    sizes = [cast(matrix.dense_shape[0], dtypes.int64), cast(most, dtypes.int64)]
    return SparseTensor(indices=matrix.indices, values=matrix.values, dense_shape=sizes)


@public("nn.ctc_unique_labels")
def ctc_unique_labels(labels: TensorLike, name: str | None = None) -> Any:
    """For each row its unique labels, padded with zeros, and the index of each label among them.

    Args:
      labels: [batch, max labels], padded with zeros.
      name: the operations' scope.

    Returns:
      int64 and int32 tensors, both [batch, max labels].

    """
    with name_scope(name, "ctc_unique_labels", [labels]):
        rows = convert_to_tensor(labels, name="labels")

        def of_row(row: Tensor) -> list[Tensor]:
            distinct = unique(row)
            short = size_at(distinct.idx, 0) - size_at(distinct.y, 0)
            padded = pad(distinct.y, [[0, short]])
            return [cast(padded, dtypes.int64), distinct.idx]

        return map_fn(of_row, rows, dtype=[dtypes.int64, dtypes.int32])
