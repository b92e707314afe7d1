"""Sparse tensors put into order, and made of indices and values that were parsed apart.

Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessrun.reference import dtypes
from sessrun.reference.build import apply_op
from sessrun.reference.framework_ops import identity
from sessrun.reference.name_scopes import name_scope
from sessrun.reference.ops.array_ops import concat, expand_dims
from sessrun.reference.ops.cast_ops import cast
from sessrun.reference.sparse_tensor import SparseTensor
from sessrun.reference.tensor import Tensor

__all__ = ["merged", "sparse_reorder"]


def sparse_reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """The same elements in the order of their indices."""
    inputs = {
        "input_indices": sp_input.indices,
        "input_values": sp_input.values,
        "input_shape": sp_input.dense_shape,
    }
    op = apply_op("SparseReorder", inputs, {}, name)
    static = sp_input.get_shape()
    whole = static.as_list() if static.is_fully_defined() else identity(sp_input.dense_shape)
    return SparseTensor(op.outputs[0], op.outputs[1], whole)


def merged(
    indices: Sequence[SparseTensor],
    values: SparseTensor,
    sizes: Sequence[Any],
    *,
    already_sorted: bool,
) -> SparseTensor:
    """A sparse tensor of values at indices that are the values of other ones, one each dimension.

    Args:
      indices: their values are the indices.
      values: its values.
      sizes: the size of each dimension, an int or a tensor.
      already_sorted: whether the elements are in order.

    Raises:
      TypeError: a size is neither an int nor a tensor.

    """
    for size in sizes:
        if not isinstance(size, Tensor | int):
            raise TypeError(
                f"vocab_size has to be a Tensor or Python int. Found {type(size)}"
            )
    with name_scope(None, "SparseMerge", [*(each.values for each in indices), values.values]):
        columns = [expand_dims(each.values, axis=1) for each in indices]
        limits = [cast(size, dtypes.int64) for size in sizes]
        places = concat([indices[0].indices[:, :-1], *columns], axis=1)
        whole = _grown(indices[0].dense_shape, limits)
        result = SparseTensor(places, values.values, whole)
        if already_sorted:
            return result
        ordered = sparse_reorder(result)
        return SparseTensor(ordered.indices, ordered.values, whole)


def _grown(shape: Tensor, limits: Sequence[Tensor]) -> Tensor:
    """The shape with these sizes in place of its last one."""
    return concat([shape[:-1], list(limits)], axis=0)
