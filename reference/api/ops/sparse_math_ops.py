"""Sums, products and reductions of sparse tensors, public as `sparse.*`.

Their node names and op types are those of `tensorflow.compat.v1`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.api.ops.array_ops import transpose
from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.api.ops.numerics import broadcast_static_shape
from sessrun.reference.api.ops.reduce_ops import all_axes, chosen
from sessrun.reference.api.sparse_ops import sparse_input
from sessrun.reference.api.sparse_tensor import (
    SparseTensor,
    SparseTensorValue,
    is_sparse,
)
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.raw_wrappers import wrapper
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["sparse_add", "sparse_dense_cwise_add", "sparse_reduce_sum"]


def _parts(prefix: str, sparse: SparseTensor) -> dict[str, Tensor]:
    """The parts of a sparse tensor, by the names of inputs of an operation."""
    return {
        f"{prefix}_indices": sparse.indices,
        f"{prefix}_values": sparse.values,
        f"{prefix}_shape": sparse.dense_shape,
    }


@public("sparse.add", "sparse_add")
def sparse_add(
    a: Any,
    b: TensorLike | SparseTensor,
    threshold: TensorLike | None = None,
    thresh: TensorLike | None = None,
) -> Any:
    """The sum of two tensors of one shape, at least one of them sparse.

    Args:
      a: a sparse or dense tensor.
      b: a sparse or dense tensor.
      threshold: sums with smaller absolute values are dropped from a sparse result; 0 by default.
      thresh: the older name of `threshold`.

    Returns:
      A sparse tensor if both are, else a dense one.

    Raises:
      TypeError: neither is sparse.
      ValueError: the static shapes differ.

    """
    limit = chosen(threshold, thresh, "threshold", "thresh")
    limit = 0 if limit is None else limit
    if not (is_sparse(a) or is_sparse(b)):
        raise bad_type("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not (is_sparse(a) and is_sparse(b)):
        sparse, dense = (b, a) if is_sparse(b) else (a, b)
        summand: SparseTensor | SparseTensorValue = sparse
        return one(
            "SparseTensorDenseAdd",
            {
                "a_indices": summand.indices,
                "a_values": summand.values,
                "a_shape": summand.dense_shape,
                "b": dense,
            },
        )
    first, second = sparse_input(a), sparse_input(b)
    least = convert_to_tensor(limit, first.values.dtype.real_dtype.base_dtype, name="threshold")
    outputs = wrapper("SparseAdd")(**_parts("a", first), **_parts("b", second), thresh=least)
    first.get_shape().assert_is_compatible_with(second.get_shape())
    static = broadcast_static_shape(first.get_shape(), second.get_shape())
    sizes = static.as_list() if static.is_fully_defined() else outputs.sum_shape
    return SparseTensor(outputs.sum_indices, outputs.sum_values, sizes)


@public("sparse.matmul", "sparse.sparse_dense_matmul", "sparse_tensor_dense_matmul")
def sparse_tensor_dense_matmul(
    sp_a: Any,
    b: TensorLike,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a sparse and a dense matrix, in either order.

    Args:
      sp_a: a sparse matrix, or a dense one if `b` is sparse.
      b: a dense matrix, or a sparse one.
      adjoint_a: whether the first factor is conjugated and transposed.
      adjoint_b: whether the second factor is conjugated and transposed.
      name: the operation's name.

    Raises:
      TypeError: neither is sparse.

    """
    if is_sparse(b):
        turned = (
            (adjoint_a, adjoint_b) if adjoint_a != adjoint_b else (not adjoint_a, not adjoint_b)
        )
        return transpose(sparse_tensor_dense_matmul(b, sp_a, *turned))
    sparse = sparse_input(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [sparse.indices, sparse.values, b]):
        dense = convert_to_tensor(b, name="b")
        return one(
            "SparseTensorDenseMatMul",
            {**_parts("a", sparse), "b": dense},
            adjoint_a=adjoint_a,
            adjoint_b=adjoint_b,
        )


def sparse_dense_cwise_add(sp_t: SparseTensor, dense_t: TensorLike) -> SparseTensor:
    """Add the elements of a dense tensor, broadcast, to the elements of a sparse one."""
    inputs = {**_parts("sp", sp_t), "dense": dense_t}
    return SparseTensor(sp_t.indices, one("SparseDenseCwiseAdd", inputs), sp_t.dense_shape)


def _reduction(op_type: str, summary: str, *, gives_sparse: bool) -> Callable[..., Any]:
    def reduce(
        sp_input: SparseTensor,
        axis: TensorLike | None = None,
        keepdims: bool | None = None,
        reduction_axes: TensorLike | None = None,
        keep_dims: bool | None = None,
    ) -> Any:
        kept = bool(chosen(keepdims, keep_dims, "keepdims", "keep_dims"))
        axes = chosen(axis, reduction_axes, "axis", "reduction_axes")
        inputs = {
            **_parts("input", sp_input),
            "reduction_axes": all_axes(sp_input) if axes is None else axes,
        }
        outputs = wrapper(op_type)(**inputs, keep_dims=kept)
        return SparseTensor(*outputs) if gives_sparse else outputs

    reduce.__doc__ = f"""{summary}

    Args:
      sp_input: a sparse tensor.
      axis: an axis or a list of axes; None for all.
      keepdims: whether the reduced axes stay, with size 1.
      reduction_axes: the older name of `axis`.
      keep_dims: the older name of `keepdims`.

    """
    return reduce


sparse_reduce_sum = _reduction(
    "SparseReduceSum", "The sums over axes, as a dense tensor.", gives_sparse=False
)
sparse_reduce_sum_sparse = _reduction(
    "SparseReduceSumSparse", "The sums over axes, as a sparse tensor.", gives_sparse=True
)
sparse_reduce_max = _reduction(
    "SparseReduceMax",
    "The maxima of present elements over axes, as a dense tensor.",
    gives_sparse=False,
)
sparse_reduce_max_sparse = _reduction(
    "SparseReduceMaxSparse",
    "The maxima of present elements over axes, as a sparse tensor.",
    gives_sparse=True,
)


@public("sparse.softmax", "sparse_softmax")
def sparse_softmax(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """The softmax along the last dimension, over the elements that are present."""
    values = [sp_input.indices, sp_input.values]
    with name_scope(name, "SparseSoftmax", values):
        probabilities = one("SparseSoftmax", _parts("sp", sp_input))
        return SparseTensor(sp_input.indices, probabilities, sp_input.dense_shape)


def _extreme(op_type: str, summary: str) -> Callable[..., SparseTensor]:
    def choose(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
        values = [sp_a.indices, sp_a.values, sp_b.indices, sp_b.values]
        with name_scope(name, op_type, values) as scope:
            outputs = wrapper(op_type)(**_parts("a", sp_a), **_parts("b", sp_b), name=scope)
        return SparseTensor(outputs.output_indices, outputs.output_values, sp_a.dense_shape)

    choose.__doc__ = summary
    return choose


sparse_maximum = _extreme(
    "SparseSparseMaximum", "The elementwise maximum of sparse tensors; missing elements are 0."
)
sparse_minimum = _extreme(
    "SparseSparseMinimum", "The elementwise minimum of sparse tensors; missing elements are 0."
)


def _segments(op_type: str, summary: str) -> Callable[..., Tensor]:
    def combine(
        data: TensorLike,
        indices: TensorLike,
        segment_ids: TensorLike,
        name: str | None = None,
        num_segments: TensorLike | None = None,
        sparse_gradient: bool = False,
    ) -> Tensor:
        inputs = {"data": data, "indices": indices, "segment_ids": segment_ids}
        if num_segments is None:
            return one(op_type, inputs, name, sparse_gradient=sparse_gradient)
        return one(
            f"{op_type}WithNumSegments",
            {**inputs, "num_segments": num_segments},
            name,
            sparse_gradient=sparse_gradient,
        )

    combine.__doc__ = f"""{summary}

    Args:
      data: a tensor of rank 1 or more.
      indices: which of its rows are gathered, a vector.
      segment_ids: the segments of these indices, in ascending order.
      name: the operation's name.
      num_segments: how many segments, if more than ids.
      sparse_gradient: whether the gradient is IndexedSlices of the gathered rows.

    """
    return combine


sparse_segment_sum = _segments("SparseSegmentSum", "The sums of gathered rows by segment.")
sparse_segment_mean = _segments("SparseSegmentMean", "The means of gathered rows by segment.")
sparse_segment_sqrt_n = _segments(
    "SparseSegmentSqrtN",
    "The sums of gathered rows by segment, divided by the roots of their counts.",
)


@public("sparse_matmul")
def sparse_matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product, in float32, of two dense matrices that may have many zeros."""
    flags = {
        "transpose_a": transpose_a,
        "transpose_b": transpose_b,
        "a_is_sparse": a_is_sparse,
        "b_is_sparse": b_is_sparse,
    }
    return one("SparseMatMul", {"a": a, "b": b}, name, **flags)


public("sparse.maximum", "sparse_maximum")(sparse_maximum)
public("sparse.minimum", "sparse_minimum")(sparse_minimum)
public("sparse.reduce_max", "sparse_reduce_max")(sparse_reduce_max)
public("sparse.reduce_max_sparse", "sparse_reduce_max_sparse")(sparse_reduce_max_sparse)
public("sparse.reduce_sum", "sparse_reduce_sum")(sparse_reduce_sum)
public("sparse.reduce_sum_sparse", "sparse_reduce_sum_sparse")(sparse_reduce_sum_sparse)
public("sparse.segment_mean", "sparse_segment_mean")(sparse_segment_mean)
public("sparse.segment_sqrt_n", "sparse_segment_sqrt_n")(sparse_segment_sqrt_n)
public("sparse.segment_sum", "sparse_segment_sum")(sparse_segment_sum)
