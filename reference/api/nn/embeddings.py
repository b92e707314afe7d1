"""Embedding lookups: rows of matrices by id, one by one or combined. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sessrun.reference.api.ops.array_ops import (
    concat,
    expand_dims,
    gather,
    rank,
    shape,
    size,
    stack,
    where,
)
from sessrun.reference.api.ops.cast_ops import cast, one
from sessrun.reference.api.ops.clipping import clip_by_norm
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.ops.math_ops import div_no_nan, range_
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.ops.sparse_math_ops import (
    sparse_segment_mean,
    sparse_segment_sqrt_n,
    sparse_segment_sum,
)
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.api.variables.partitioned_variable import PartitionedVariable
from sessrun.reference.api.variables.resource_variables import ResourceVariable
from sessrun.reference.base.dtypes import bfloat16, float16, float32, int32, int64
from sessrun.reference.base.tensor_shape import Dimension
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.generated import (
    dynamic_partition,
    maximum,
    reshape,
    segment_sum,
    sqrt,
    unique,
)
from sessrun.reference.build.generated import pow as power
from sessrun.reference.build.indexed_slices import convert_to_tensor_or_indexed_slices
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.default_graph import colocate_with, device
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["as_parts", "embedding_lookup", "embedding_lookup_sparse"]


def as_parts(params: TensorLike) -> list[Any]:
    """The parts of a matrix as a list; a matrix that is not partitioned is its only part."""
    if isinstance(params, PartitionedVariable):
        return list(params)
    return params if isinstance(params, list) else [params]


def _clipped(rows: Tensor, ids: TensorLike, max_norm: float | None) -> Tensor:
    """The rows, clipped to a norm of `max_norm` if that is not None."""
    if max_norm is None:
        return rows

    def ranked(value: TensorLike) -> int | Tensor:
        return convert_to_tensor(value).shape.ndims or rank(value)

    first, last = ranked(ids), ranked(rows)
    is_known = isinstance(first, int) and isinstance(last, int)
    axes = list(range(first, last)) if is_known else range_(first, last)
    clipped: Tensor = clip_by_norm(rows, max_norm, axes=axes)
    return clipped


@public("nn.embedding_lookup")
def embedding_lookup(
    params: TensorLike,
    ids: TensorLike,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: float | None = None,
) -> Tensor:
    """The rows of a matrix with these ids.

    Args:
      params: a matrix or another tensor, a variable, or parts of one.
      ids: integers, the ids of rows, of any shape.
      partition_strategy: which rows a part holds: with `mod` those whose id has one remainder,
        with `div` a range of ids.
      name: the operations' scope.
      validate_indices: ignored, as in TensorFlow.
      max_norm: rows with a greater norm are scaled down to it.

    Returns:
      A tensor of shape `ids.shape + params.shape[1:]`.

    Raises:
      ValueError: there are no parts, or the strategy is unknown.

    """
    del validate_indices
    if params is None:
        raise bad_value("params must be specified")
    if isinstance(params, list | tuple) and not params:
        raise bad_value("Length of params is currently 0. Need at least one param.")
    parts = as_parts(params)
    with name_scope(name, "embedding_lookup", [*parts, ids]) as scope:
        if not any(isinstance(part, ResourceVariable) for part in parts):
            parts = [
                convert_to_tensor_or_indexed_slices(part, name=f"params_{index}")
                for index, part in enumerate(parts)
            ]
        numbers = convert_to_tensor(ids, name="ids")
        if len(parts) == 1:
            with colocate_with(parts[0]):
                rows = _clipped(gather(parts[0], numbers, name=scope), numbers, max_norm)
            return identity(rows)
        return _lookup_in_parts(parts, numbers, partition_strategy, max_norm, scope)


def _lookup_in_parts(
    parts: Sequence[Any], ids: Tensor, strategy: str, max_norm: float | None, scope: str
) -> Tensor:
    count = len(parts)
    flat = reshape(ids, [-1])
    positions = range_(size(flat, out_type=int32))
    owners, numbers = _parts_of_ids(parts, flat, strategy)
    owners = cast(owners, int32)
    of_part = dynamic_partition(numbers, owners, count)
    positions_of_part = dynamic_partition(positions, owners, count)
    part_rows = []
    for part, own in zip(parts, of_part, strict=True):
        with device(None), colocate_with(part):
            part_rows.append(gather(part, own))
    inputs = {"indices": positions_of_part, "data": part_rows}
    rows = one("ParallelDynamicStitch", inputs, scope)
    known = parts[0].shape[1:]
    for part in parts[1:]:
        known = known.merge_with(part.shape[1:])
    if known.is_fully_defined():
        row = known
    else:
        with colocate_with(parts[0]):
            row = shape(parts[0])[1:]
    rows = reshape(rows, concat([shape(ids), row], 0))
    rows.set_shape(ids.shape.concatenate(known))
    return _clipped(rows, ids, max_norm)


def _parts_of_ids(parts: Sequence[TensorLike], ids: Tensor, strategy: str) -> tuple[Tensor, Tensor]:
    """For each id the index of the part that holds it, and its id within that part.

    Raises:
      ValueError: the strategy is unknown.

    """
    count = len(parts)
    if strategy == "mod":
        owners = ids % count
        return owners, ids // count
    if strategy != "div":
        raise bad_value(
            f"Unrecognized partition strategy: {strategy}. Must be one of either `mod` or `div`."
        )
    total = _row_count(parts, ids)
    per_part, extras = total // count, total % count
    owners = maximum(ids // (per_part + 1), (ids - extras) // per_part)
    is_longer = owners < extras
    return owners, where(is_longer, ids % (per_part + 1), (ids - extras) % per_part)


def _row_count(parts: Sequence[Any], ids: Tensor) -> Tensor:
    """The number of rows of all parts."""
    known = Dimension(0)
    sizes: list[Any] = []
    for part in parts:
        known += part.shape[0]
    if known.value:
        return constant(known.value, ids.dtype)
    for part in parts:
        if Dimension(part.shape[0]).value is None:
            with colocate_with(part):
                sizes.append(shape(part)[0])
        else:
            sizes.append(Dimension(part.shape[0]).value)
    return reduce_sum(cast(stack(sizes), ids.dtype))


@public("nn.embedding_lookup_sparse")
def embedding_lookup_sparse(
    params: TensorLike,
    sp_ids: SparseTensor,
    sp_weights: SparseTensor | None,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """For each row of a sparse matrix of ids the rows with these ids, combined into one.

    Args:
      params: a matrix, a variable, or parts of one.
      sp_ids: a SparseTensor of ids; no row of it may be empty.
      sp_weights: None, or a SparseTensor of the same indices.
      partition_strategy: as for `embedding_lookup`.
      name: the operations' scope.
      combiner: `sum`, `mean` (the default), or `sqrtn`: the sum divided by the norm of the weights.
      max_norm: rows with a greater norm are scaled down to it.
      allow_fast_lookup: whether rows are gathered without finding the unique ids first.

    Raises:
      ValueError: the combiner is unknown, or ids and weights do not fit.
      TypeError: ids or weights are not sparse.

    """
    combiner = "mean" if combiner is None else combiner
    if combiner not in {"mean", "sqrtn", "sum"}:
        raise bad_value(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    parts = as_parts(params)
    if not isinstance(sp_ids, SparseTensor):
        raise bad_type(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    if sp_weights is not None:
        _check_weights(sp_ids, sp_weights)
    with name_scope(name, "embedding_lookup_sparse", [*parts, sp_ids]) as scope:
        segments = convert_to_tensor(sp_ids.indices[:, 0], name="segment_ids")
        ids = sp_ids.values
        if len(parts) == 1 and not isinstance(parts[0], Tensor | ResourceVariable):
            parts = [convert_to_tensor(parts[0], name="params")]
        # As in TensorFlow, a resource variable is a composite tensor here, not a single matrix.
        is_matrix = len(parts) == 1 and isinstance(parts[0], Tensor)
        is_direct = is_matrix and parts[0].device == segments.device and max_norm is None
        if is_direct and (allow_fast_lookup or sp_weights is None):
            rows, numbers = parts[0], ids
            is_sparse = not allow_fast_lookup
        else:
            is_sparse = False
            ids, numbers = unique(ids)
            rows = embedding_lookup(parts, ids, partition_strategy, max_norm=max_norm)
        if sp_weights is not None:
            return _weighted(rows, numbers, sp_weights.values, segments, combiner, scope)
        if segments.dtype not in {int32, int64}:
            segments = cast(segments, int32)
        combined: Tensor = _COMBINERS[combiner](
            rows, numbers, segments, name=scope, sparse_gradient=is_sparse
        )
        return combined


_COMBINERS: Final[Mapping[str, Any]] = {
    "mean": sparse_segment_mean,
    "sqrtn": sparse_segment_sqrt_n,
    "sum": sparse_segment_sum,
}


def _check_weights(ids: SparseTensor, weights: TensorLike | SparseTensor) -> None:
    if not isinstance(weights, SparseTensor):
        raise bad_type(f"sp_weights must be either None or SparseTensor, got {type(weights)}")
    for part in ("values", "indices", "dense_shape"):
        ids_part, weights_part = getattr(ids, part), getattr(weights, part)
        ids_part.shape.assert_is_compatible_with(weights_part.shape)


def _weighted(
    rows: TensorLike, numbers: Tensor, weights: Tensor, segments: Tensor, combiner: str, scope: str
) -> Tensor:
    """The rows with these ids times their weights, combined by segment."""
    segments = cast(segments, int32)
    result = gather(rows, numbers)
    wanted = result.dtype
    if wanted in {float16, bfloat16}:
        result = cast(result, float32)
    weights = cast(weights, result.dtype)
    ndims = result.shape.ndims
    inner = expand_dims(rank(result) - 1, 0)
    outer = shape(weights)
    column = reshape(weights, concat([outer, ones(inner, dtype=outer.dtype)], 0))
    if ndims is not None:
        column.set_shape(weights.shape.concatenate([1] * (ndims - 1)))
    result *= column
    if combiner == "sum":
        result = segment_sum(result, segments, name=scope)
    else:
        result = segment_sum(result, segments)
        if combiner == "mean":
            total = segment_sum(column, segments)
        else:
            total = sqrt(segment_sum(power(column, 2), segments))
        result = div_no_nan(result, total, name=scope)
    return cast(result, wanted)
