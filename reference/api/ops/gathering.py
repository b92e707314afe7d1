"""`gather_nd`, which gathers slices at index vectors, `batch_gather`, `tensor_scatter_update`."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.ops.array_ops import (
    concat,
    expand_dims,
    gather,
    rank,
    shape,
    squeeze,
    stack,
    transpose,
    unstack,
)
from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.ops.grids import meshgrid
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import reshape, tile
from sessrun.reference.build.get_static_value import get_static_value
from sessrun.reference.build.gradient_nodes import node
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["gather_nd", "tensor_scatter_update"]


def _checked(batch_dims: object, params: Tensor, indices: Tensor) -> None:
    if not isinstance(batch_dims, int):
        raise bad_type(f"Argument `batch_dims` must be an int; got {batch_dims}")
    if batch_dims < 0:
        raise bad_value("tf.gather_nd does not allow negative batch_dims.")
    for what, tensor in (("indices", indices), ("params", params)):
        ndims = tensor.shape.ndims
        if ndims is not None and batch_dims >= ndims:
            raise bad_value(
                f"Argument `batch_dims` = {batch_dims} must be less than rank(`{what}`) = {ndims}"
            )


def _gather_nd_in_batches(
    params: TensorLike,
    indices: TensorLike,
    batch_dims: int,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Tensor:
    """`gather_nd` with batch dimensions.

    The indices of the batches are prepended to the index vectors.

    Args:
      params: of shape [*batches, *sizes].
      indices: integers of shape [*batches, *wanted, depth].
      batch_dims: the number of batch dimensions.
      name: the name of the scope.
      bad_indices_policy: how an index that is out of range is treated.

    Raises:
      TypeError: `batch_dims` is not an int.
      ValueError: `batch_dims` is negative, or exceeds a rank.

    """
    with name_scope(name, "BatchGatherND", [params, indices]):
        index_vectors = convert_to_tensor(indices, name="indices")
        value = convert_to_tensor(params, name="params")
        _checked(batch_dims, value, index_vectors)
        alone = batch_dims == 0
        if alone:
            value, index_vectors, batch_dims = (
                expand_dims(value, axis=0),
                expand_dims(index_vectors, axis=0),
                1,
            )
        value_shape, index_shape = shape(value), shape(index_vectors)
        batches = value_shape[:batch_dims]
        count = node("Prod", batches, [0])
        inner_rank = rank(index_vectors) - batch_dims - 1
        inner = index_shape[batch_dims:-1]
        grid = _grid(batches, index_vectors.dtype)
        sizes = shape(grid)
        spread = [sizes[:1], ones(inner_rank, dtype=sizes.dtype), sizes[1:]]
        grid = reshape(grid, concat(spread, axis=0))
        grid = tile(grid, multiples=concat(((1,), inner, (1,)), axis=0))
        flat = reshape(index_vectors, shape=concat(([count], index_shape[batch_dims:]), axis=0))
        full_indices = concat((grid, flat), axis=-1)
        out = node("GatherNd", value, full_indices, bad_indices_policy=bad_indices_policy)
        out = reshape(out, shape=concat((batches, shape(out)[1:]), axis=0))
        return squeeze(out, axis=0) if alone else out


def _grid(batches: Tensor, dtype: DTypeLike) -> Tensor:
    """The index vectors of all batches, as the rows of a matrix."""
    sizes = unstack(batches, axis=0)
    ranges = [
        node("Cast", node("Range", 0, node("Cast", size, DstT="int32"), 1), DstT=dtype)
        for size in sizes
    ]
    flat = [reshape(coordinates, shape=(-1,)) for coordinates in meshgrid(*ranges, indexing="ij")]
    return transpose(stack(flat, axis=0))


@public("gather_nd", "manip.gather_nd")
def gather_nd(
    params: TensorLike,
    indices: TensorLike,
    name: str | None = None,
    batch_dims: Any = 0,
    bad_indices_policy: str = "",
) -> Tensor:
    """Slices of `params` at index vectors, in each batch if `batch_dims` is not 0.

    Raises:
      TypeError: the number of batch dimensions is unknown.
      ValueError: `batch_dims` exceeds a rank.

    """
    known = get_static_value(batch_dims)
    batches = batch_dims if known is None else int(known)
    if known is None or batches:
        return _gather_nd_in_batches(params, indices, batches, name, bad_indices_policy)
    if hasattr(params, "gather_nd") and bad_indices_policy in {"", "DEFAULT"}:
        slices: Tensor = params.gather_nd(indices, name=name)
        return slices
    inputs = {"params": params, "indices": indices}
    return one("GatherNd", inputs, name, bad_indices_policy=bad_indices_policy)


@public("batch_gather")
def batch_gather(params: TensorLike, indices: TensorLike, name: str | None = None) -> Tensor:
    """Gather in each batch: `gather` with all dimensions of `indices` but the last as batches.

    Raises:
      ValueError: the rank of the indices is unknown.

    """
    with name_scope(name, "BatchGather", [params, indices]):
        index_tensor = convert_to_tensor(indices, name="indices")
        value = convert_to_tensor(params, name="params")
        if index_tensor.shape.ndims is None:
            raise bad_value("batch_gather does not allow indices with unknown shape.")
        return gather(value, index_tensor, batch_dims=index_tensor.shape.ndims - 1)


@public("tensor_scatter_nd_update", "tensor_scatter_update")
def tensor_scatter_update(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """A copy of the tensor with the elements at index vectors replaced."""
    return one(
        "TensorScatterUpdate", {"tensor": tensor, "indices": indices, "updates": updates}, name
    )
