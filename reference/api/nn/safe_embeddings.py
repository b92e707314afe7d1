"""`nn.safe_embedding_lookup_sparse`: an embedding lookup that tolerates invalid and missing ids.

Source: TF 2.21.
"""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.nn.embeddings import as_parts, embedding_lookup_sparse
from sessrun.reference.api.ops.array_ops import concat, gather, shape, size, slice_, stack, where
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import ones_like, zeros_like
from sessrun.reference.api.ops.reduce_ops import reduce_prod
from sessrun.reference.api.ops.sparse_array_ops import sparse_fill_empty_rows, sparse_reshape
from sessrun.reference.api.sparse_ops import sparse_retain
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.api.variables.resource_variables import ResourceVariable
from sessrun.reference.base.dtypes import DTypeLike, bool_, int32
from sessrun.reference.base.tensor_shape import unknown_shape
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import greater, greater_equal, logical_and, reshape, tile
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


def _matrices(weights: Any, dtype: DTypeLike | None) -> list[Any]:
    """The parts of a matrix as tensors; resource variables are not converted.

    Raises:
      ValueError: `weights` is empty.

    """
    parts = [] if weights is None else as_parts(weights)
    if not parts:
        raise bad_value(f"Missing embedding_weights {weights}.")
    return [
        part
        if isinstance(part, ResourceVariable) and dtype in {None, part.dtype}
        else convert_to_tensor(part, dtype=dtype)
        for part in parts
    ]


def _without_bad_numbers(
    ids: SparseTensor, weights: SparseTensor | None
) -> tuple[SparseTensor, SparseTensor | None]:
    is_good = greater_equal(ids.values, 0)
    if weights is None:
        return sparse_retain(ids, is_good), None
    is_good = logical_and(is_good, ones_like(weights.values, dtype=bool_))
    return sparse_retain(ids, is_good), sparse_retain(weights, is_good)


def _without_bad_weights(
    ids: SparseTensor, weights: SparseTensor | None
) -> tuple[SparseTensor, SparseTensor | None]:
    if weights is None:
        return ids, None
    is_good = greater(weights.values, 0)
    return sparse_retain(ids, is_good), sparse_retain(weights, is_good)


@public("nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike,
    sparse_ids: SparseTensor,
    sparse_weights: SparseTensor | None = None,
    combiner: str = "mean",
    default_id: TensorLike | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """As `embedding_lookup_sparse` for ids of any rank; invalid ids are ignored, rows may be empty.

    Args:
      embedding_weights: a matrix, a variable, or parts of one.
      sparse_ids: a SparseTensor of ids; negative ones are ignored.
      sparse_weights: None, or a SparseTensor of the same indices; entries with weights that are
        not positive are ignored, except with the combiner `sum`.
      combiner: as for `embedding_lookup_sparse`.
      default_id: the id of the row that empty rows get; by default they get zeros.
      name: the operations' scope.
      partition_strategy: as for `embedding_lookup`.
      max_norm: rows with a greater norm are scaled down to it.
      allow_fast_lookup: as for `embedding_lookup_sparse`.

    Returns:
      A tensor of shape `sparse_ids.shape[:-1] + [embedding width]`.

    Raises:
      ValueError: there are no parts, or the combiner is unknown.

    """
    dtype = None if sparse_weights is None else sparse_weights.dtype
    parts = _matrices(embedding_weights, dtype)
    with name_scope(name, "embedding_lookup", [*parts, sparse_ids, sparse_weights]) as scope:
        dense_shape = sparse_ids.dense_shape
        known = dense_shape.shape.as_list()[0]
        ndims = size(dense_shape) if known is None else known
        rows = reduce_prod(slice_(dense_shape, [0], [ndims - 1]))
        ids = sparse_reshape(sparse_ids, [rows, gather(dense_shape, ndims - 1)])
        ids, weights, is_empty = _cleaned(ids, sparse_weights, combiner, default_id or 0)
        embedded = embedding_lookup_sparse(
            parts,
            ids,
            weights,
            combiner=combiner,
            partition_strategy=partition_strategy,
            name=None if default_id is None else scope,
            max_norm=max_norm,
            allow_fast_lookup=allow_fast_lookup,
        )
        if default_id is None:
            column = reshape(is_empty, [-1, 1])
            is_nothing = tile(column, stack([1, shape(embedded)[1]]))
            embedded = where(is_nothing, zeros_like(embedded), embedded, name=scope)
        outer = slice_(cast(dense_shape, int32), [0], [ndims - 1])
        result = reshape(embedded, concat([outer, slice_(shape(embedded), [1], [-1])], 0))
        rank = None if known is None else known - 1
        result.set_shape(unknown_shape(rank).concatenate(embedded.shape[1:]))
        return result


def _cleaned(
    ids: SparseTensor, given: SparseTensor | None, combiner: str, default_id: TensorLike
) -> tuple[SparseTensor, SparseTensor | None, Tensor]:
    """Valid ids and their weights (or None) with no row empty, and which rows had been empty."""
    weights = None
    if given is not None:
        weights = SparseTensor(ids.indices, given.values, ids.dense_shape)
    ids, weights = _without_bad_numbers(ids, weights)
    if combiner != "sum":
        ids, weights = _without_bad_weights(ids, weights)
    ids, is_empty = sparse_fill_empty_rows(ids, default_id)
    if weights is not None:
        weights, _ = sparse_fill_empty_rows(weights, 1.0)
    return ids, weights, is_empty
