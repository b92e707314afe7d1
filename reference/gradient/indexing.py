"""Gradients of operations that take or set elements by index. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.ops.array_ops import (
    concat,
    expand_dims,
    gather,
    reshape,
    squeeze,
    stack,
    transpose,
)
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import ones, zeros, zeros_like
from sessrun.reference.api.ops.gathering import gather_nd
from sessrun.reference.api.ops.math_ops import range_
from sessrun.reference.api.ops.reduce_ops import reduce_prod, reduce_sum
from sessrun.reference.api.ops.shape_ops import rank, shape, size
from sessrun.reference.api.ops.sparse_order import sparse_reorder
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.generated import tile
from sessrun.reference.build.gradient_nodes import gradient, node
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.build.static_values import constant_value
from sessrun.reference.gradient.arrays import dense
from sessrun.reference.graph import stacks
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__: list[str] = []


def _rows(op: Operation, grad: Any, params_shape: Tensor, count: Tensor) -> IndexedSlices:
    """The gradient of rows that were taken, as rows."""
    values = reshape(dense(grad), concat([count, params_shape[1:]], 0))
    return IndexedSlices(values, reshape(op.inputs[1], count), params_shape)


@gradient("Gather", "GatherV2")
def _gather(op: Operation, grad: Any) -> Any:
    params, indices, *axis = op.inputs
    with stacks.get_default_graph().colocate_with(params):
        params_shape = shape(params)
    count = expand_dims(size(indices), 0)
    if not axis:
        return [_rows(op, grad, params_shape, count), None]
    batch = int(op.get_attr("batch_dims"))
    if batch < 0:
        if indices.shape.rank is None:
            raise ValueError(
                "Currently, it is unsupported to take the gradient of tf.gather whose batch_dims "
                f"count from the end if the rank of the indices is unknown: {indices}"
            )
        batch += indices.shape.rank
    if constant_value(axis[0]) == 0:
        return [_rows(op, grad, params_shape, count), None, None]
    found = _along_axis(params_shape, indices, axis[0], grad, batch)
    return [reshape(found, shape(params)), None, None]


def _along_axis(params_shape: Tensor, indices: Tensor, axis: Tensor, grad: Any, batch: int) -> Any:
    """The gradient of what was taken along an axis: that in front, summed by index, put back."""
    outer, inner = params_shape[:axis], params_shape[axis:][1:]
    values_shape = concat([outer, [-1], inner], 0)
    last, before = size(values_shape), size(outer)
    batches, between = range_(batch), range_(batch, before)
    after = range_(before + 1, last)
    values = reshape(dense(grad), values_shape)
    order = concat([batches, [before], between, after], 0)
    turned = transpose(values, order)
    summed = _summed(gather(params_shape, order), turned, indices, batch, params_shape[axis])
    back = concat([batches, between + 1, [batch], after], 0)
    return transpose(summed, back)


def _summed(params_shape: Tensor, values: Tensor, indices: Tensor, batch: int, count: Any) -> Any:
    flat = expand_dims(size(indices), 0)
    if not batch:
        return node("UnsortedSegmentSum", values, reshape(indices, flat), count)
    whole = shape(values)
    outer, inner = whole[:batch], whole[batch:][1:]
    rows_in_all = node("Prod", outer, [0], keep_dims=False)
    rows = concat([[-1], inner], 0)
    count *= rows_in_all
    indices = _offset(params_shape, indices, batch)
    summed = node("UnsortedSegmentSum", reshape(values, rows), reshape(indices, flat), count)
    return reshape(summed, concat([outer, rows], 0))


def _offset(params_shape: Tensor, indices: Tensor, batch: int) -> Tensor:
    """The indices into what is flat over the batches."""
    dtype, found = indices.dtype.base_dtype, indices
    sizes = cast(params_shape, dtype)
    step: Any = ones([], dtype)
    for dimension in range(batch, 0, -1):
        count = sizes[dimension - 1]
        step *= sizes[dimension]
        starts = range_(zeros([], dtype), count, ones([], dtype)) * step
        before = tile([1], [dimension - 1])
        after = tile([1], [rank(indices) - dimension])
        found += reshape(starts, concat([before, [count], after], axis=0))
    return found


@gradient("GatherNd")
def _gather_nd(op: Operation, grad: Any) -> Any:
    params, indices = op.inputs
    whole = shape(params, out_type=indices.dtype)
    if indices.shape.rank == 2 and indices.shape[-1] == 1:
        return [IndexedSlices(grad, squeeze(indices, axis=-1), whole), None]
    return [node("ScatterNd", indices, grad, whole), None]


gradient("ScatterNd")(lambda op, grad: [None, gather_nd(grad, op.inputs[0]), None])


@gradient("TensorScatterUpdate")
def _tensor_scatter_update(op: Operation, grad: Any) -> Any:
    updates = gather_nd(grad, op.inputs[1])
    whole, none = identity(grad), zeros_like(op.inputs[2], grad.dtype)
    return [node("TensorScatterUpdate", whole, op.inputs[1], none), None, updates]


@gradient("TensorScatterAdd", "TensorScatterSub")
def _tensor_scatter_add(op: Operation, grad: Any) -> Any:
    updates = gather_nd(grad, op.inputs[1])
    whole = identity(grad)
    return [whole, None, updates if op.type.endswith("Add") else -updates]


gradient("ScatterNdNonAliasingAdd")(lambda op, grad: (grad, None, gather_nd(grad, op.inputs[1])))
gradient("SparseReorder")(lambda op, _places, grad: (None, gather(grad, _order_of(op)), None))


@gradient("SparseToDense")
def _sparse_to_dense(op: Operation, grad: Any) -> Any:
    """Zeros by the integers: TensorFlow does not say None there."""
    indices, sizes, *_ = op.inputs
    of_values = gather_nd(grad, indices)
    of_default = reduce_sum(grad) - reduce_sum(of_values)
    return zeros_like(indices), zeros_like(sizes), of_values, of_default


def _order_of(op: Operation) -> Any:
    """For each element of the input the place that it got."""
    count = shape(op.inputs[0])[0]
    numbers = range_(count)
    moved = sparse_reorder(SparseTensor(op.inputs[0], numbers, op.inputs[2]))
    return node("InvertPermutation", moved.values)


@gradient("DynamicPartition")
def _dynamic_partition(op: Operation, *grads: Any) -> Any:
    data, partitions = op.inputs
    count = op.get_attr("num_partitions")
    outer = shape(partitions)
    numbers = reshape(range_(reduce_prod(outer)), outer)
    places = node("DynamicPartition", numbers, partitions, num_partitions=count)
    together = node("ParallelDynamicStitch", places, list(grads))
    return [reshape(together, shape(data)), None]


@gradient("DynamicStitch", "ParallelDynamicStitch")
def _dynamic_stitch(op: Operation, grad: Any) -> Any:
    half = len(op.inputs) // 2
    whole = dense(grad)
    return [None] * half + [gather(whole, places) for places in op.inputs[:half]]


@gradient("TopKV2")
def _top_k(op: Operation, grad: Any, _indices: Any) -> Any:
    x, places = op.inputs[0], op.outputs[1]
    whole, taken = shape(x), shape(places)
    last_taken = gather(cast(taken, dtypes.int64), size(taken) - 1)
    rows = reshape(places, stack([-1, last_taken]))
    last = gather(cast(whole, dtypes.int64), size(whole) - 1)
    starts = range_(0, cast(shape(rows)[0], dtypes.int64) * last, last)
    flat = reshape(rows + cast(expand_dims(starts, -1), dtypes.int32), [-1])
    at, given = expand_dims(flat, -1), reshape(grad, [-1])
    found = node("ScatterNd", at, given, [reduce_prod(whole)])
    # The second is by the number of elements, which nothing follows: it is zero, and not None.
    return [reshape(found, whole), zeros([], dtypes.int32)]
