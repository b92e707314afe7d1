"""Sparse tensors reordered and transposed, and merged from ids and values.

Source: TF 2.21.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sessrun.reference.api.ops.array_ops import concat, expand_dims, gather, rank, shape, transpose
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import fill
from sessrun.reference.api.ops.math_ops import range_
from sessrun.reference.api.sparse_ops import sparse_input, sparse_tensor_to_dense
from sessrun.reference.api.sparse_tensor import SparseTensor, SparseTensorValue
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.get_static_value import get_static_value
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["merged", "sparse_reorder"]


@public("sparse.reorder", "sparse_reorder")
def sparse_reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """Sort the elements of a sparse tensor by their indices.

    Raises:
      TypeError: `sp_input` is not sparse.

    """
    sparse = sparse_input(sp_input)
    inputs = {
        "input_indices": sparse.indices,
        "input_values": sparse.values,
        "input_shape": sparse.dense_shape,
    }
    op = apply_op("SparseReorder", inputs, {}, name)
    static = sparse.get_shape()
    if static.is_fully_defined():
        return SparseTensor(op.outputs[0], op.outputs[1], static.as_list())
    ordered = SparseTensor(op.outputs[0], op.outputs[1], identity(sparse.dense_shape))
    ordered.set_shape(static)
    return ordered


@public("sparse.transpose", "sparse_transpose")
def sparse_transpose(
    sp_input: SparseTensor, perm: TensorLike | None = None, name: str | None = None
) -> SparseTensor:
    """Permute the dimensions of a sparse tensor; without `perm` they are reversed.

    Args:
      sp_input: a sparse tensor.
      perm: the permutation: dimension i of the result is dimension `perm[i]`.
      name: the name of the scope.

    """
    with name_scope(name, "SparseTranspose", [*sp_input.parts()]):
        if perm is None:
            ndims = sp_input.shape.rank
            if ndims is None:
                count = rank(sp_input)
                perm = count - 1 - range_(0, count, 1)
            else:
                perm = ndims - 1 - np.arange(0, ndims, 1)
        indices = transpose(gather(transpose(sp_input.indices), perm))
        order = get_static_value(convert_to_tensor(perm))
        static = sp_input.get_shape()
        if order is not None and static.is_fully_defined():
            sizes = static.as_list()
            permuted: Any = [sizes[axis] for axis in order]
        else:
            permuted = gather(sp_input.dense_shape, perm)
        return sparse_reorder(SparseTensor(indices, sp_input.values, permuted))


def merged(
    indices: Sequence[SparseTensor | SparseTensorValue],
    values: SparseTensor | SparseTensorValue,
    sizes: Sequence[Any],
    *,
    already_sorted: bool,
    name: str | None = None,
) -> SparseTensor:
    """A sparse tensor whose last indices are the values of other sparse tensors.

    Args:
      indices: sparse tensors of ids, one for each new dimension.
      values: a sparse tensor of its values.
      sizes: the sizes of the new dimensions, ints or tensors.
      already_sorted: whether the elements are sorted already.
      name: the name of the scope.

    Raises:
      TypeError: a size is neither an int nor a tensor.

    """
    for size in sizes:
        if not isinstance(size, Tensor | numbers.Integral):
            raise TypeError(f"vocab_size has to be a Tensor or Python int. Found {type(size)}")
    with name_scope(name, "SparseMerge", [*(sparse.values for sparse in indices), values.values]):
        indices, values = [sparse_input(sparse) for sparse in indices], sparse_input(values)
        columns = [expand_dims(cast(sparse.values, dtypes.int64), axis=1) for sparse in indices]
        limits = [cast(size, dtypes.int64) for size in sizes]
        merged_indices = concat([indices[0].indices[:, :-1], *columns], axis=1)
        dense_shape = _with_last_sizes(indices[0].dense_shape, limits)
        result = SparseTensor(merged_indices, values.values, dense_shape)
        if already_sorted:
            return result
        ordered = sparse_reorder(result)
        return SparseTensor(ordered.indices, ordered.values, dense_shape)


def _with_last_sizes(shape: Tensor, limits: Sequence[Tensor]) -> Tensor:
    """The shape whose last size is replaced by the given sizes."""
    return concat([shape[:-1], list(limits)], axis=0)


@public("sparse.merge", "sparse_merge")
def sparse_merge(
    sp_ids: Any,
    sp_values: SparseTensor,
    vocab_size: Any,
    name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:
    """A sparse tensor of values whose last indices are ids from other sparse tensors.

    Args:
      sp_ids: one sparse tensor of integers, or a list of them.
      sp_values: a sparse tensor with the same number of elements.
      vocab_size: the size of the new dimension, a number or a tensor; a list for a list of ids.
      name: the name of the scope.
      already_sorted: whether the elements are sorted already.

    Raises:
      TypeError: the ids are not sparse, or a size is neither a number nor a tensor.
      ValueError: the numbers of sizes and of ids differ.

    """
    if isinstance(sp_ids, SparseTensor | SparseTensorValue):
        if not isinstance(vocab_size, Tensor | numbers.Integral):
            raise TypeError(f"vocab_size has to be a Tensor or an int, is {type(vocab_size)}")
        ids, sizes = [sp_ids], [vocab_size]
    else:
        if not isinstance(sp_ids, Iterable):
            raise TypeError(f"sp_ids has to be a SparseTensor or list thereof, is {type(sp_ids)}")
        if not isinstance(vocab_size, Iterable):
            raise TypeError(f"vocab_size has to be a list of sizes, is {type(vocab_size)}")
        ids, sizes = list(sp_ids), list(vocab_size)
    if len(ids) != len(sizes):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    return merged(ids, sp_values, sizes, already_sorted=already_sorted, name=name)


@public("sparse.to_indicator", "sparse_to_indicator")
def sparse_to_indicator(
    sp_input: SparseTensor, vocab_size: int | Tensor, name: str | None = None
) -> Tensor:
    """A dense bool tensor that is true at the ids (the values) of each row of a sparse tensor.

    Args:
      sp_input: a sparse tensor of int32 or int64.
      vocab_size: the size of the last dimension.
      name: the operation's name.

    """
    sparse = sparse_input(sp_input)
    with name_scope(name, "SparseToIndicator", sparse.parts()) as scope:
        count = shape(sparse.indices)[0]
        truths = sparse.with_values(fill(expand_dims(count, 0), True))
        indicator = merged([sparse], truths, [vocab_size], already_sorted=False, name=scope)
        return sparse_tensor_to_dense(indicator, False, validate_indices=False, name=scope)
