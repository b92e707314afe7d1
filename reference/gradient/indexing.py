"""Gradients of operations that take or set elements by index. Source: TF 2.21."""

from __future__ import annotations

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
from sessrun.reference.api.ops.math_ops import divide, equal, range_
from sessrun.reference.api.ops.reduce_ops import reduce_prod, reduce_sum
from sessrun.reference.api.ops.shape_ops import rank, shape, size
from sessrun.reference.api.ops.sparse_order import sparse_reorder
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.generated import scatter_nd, tile
from sessrun.reference.build.gradient_nodes import gradient, node, nodes
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.gradient.arrays import dense
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor


def _rows(op: Operation, grad: Tensor, params_shape: Tensor, count: Tensor) -> IndexedSlices:
    """The gradient of the rows that were gathered, as IndexedSlices."""
    values = reshape(dense(grad), concat([count, params_shape[1:]], 0))
    return IndexedSlices(values, reshape(op.inputs[1], count), params_shape)


@gradient("Gather", "GatherV2")
def _gather(op: Operation, grad: Tensor) -> Gradients:
    params, indices, *axis = op.inputs
    with default_graph.get_default_graph().colocate_with(params):
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
    by_params = _along_axis(params_shape, indices, axis[0], grad, batch)
    return [reshape(by_params, shape(params)), None, None]


def _along_axis(
    params_shape: Tensor, indices: Tensor, axis: Tensor, grad: Tensor, batch: int
) -> Tensor:
    """The gradient of a Gather along an axis: moved to the front, summed by index, moved back."""
    outer, inner = params_shape[:axis], params_shape[axis:][1:]
    values_shape = concat([outer, [-1], inner], 0)
    last, before = size(values_shape), size(outer)
    batches, between = range_(batch), range_(batch, before)
    after = range_(before + 1, last)
    values = reshape(dense(grad), values_shape)
    order = concat([batches, [before], between, after], 0)
    in_front = transpose(values, order)
    summed = _summed(gather(params_shape, order), in_front, indices, batch, params_shape[axis])
    back = concat([batches, between + 1, [batch], after], 0)
    return transpose(summed, back)


def _summed(
    params_shape: Tensor, values: Tensor, indices: Tensor, batch: int, count: Tensor
) -> Tensor:
    index_count = expand_dims(size(indices), 0)
    if not batch:
        return node("UnsortedSegmentSum", values, reshape(indices, index_count), count)
    values_shape = shape(values)
    outer, inner = values_shape[:batch], values_shape[batch:][1:]
    rows_in_all = node("Prod", outer, [0], keep_dims=False)
    rows = concat([[-1], inner], 0)
    count *= rows_in_all
    indices = _offset(params_shape, indices, batch)
    summed = node("UnsortedSegmentSum", reshape(values, rows), reshape(indices, index_count), count)
    return reshape(summed, concat([outer, rows], 0))


def _offset(params_shape: Tensor, indices: Tensor, batch: int) -> Tensor:
    """Indices into the params with all batches in one axis."""
    dtype, offset = indices.dtype.base_dtype, indices
    sizes = cast(params_shape, dtype)
    step = ones([], dtype)
    for dimension in range(batch, 0, -1):
        count = sizes[dimension - 1]
        step *= sizes[dimension]
        starts = range_(zeros([], dtype), count, ones([], dtype)) * step
        before = tile([1], [dimension - 1])
        after = tile([1], [rank(indices) - dimension])
        offset += reshape(starts, concat([before, [count], after], axis=0))
    return offset


@gradient("GatherNd")
def _gather_nd(op: Operation, grad: Tensor) -> Gradients:
    params, indices = op.inputs
    params_shape = shape(params, out_type=indices.dtype)
    if indices.shape.rank == 2 and indices.shape[-1] == 1:
        return [IndexedSlices(grad, squeeze(indices, axis=-1), params_shape), None]
    return [node("ScatterNd", indices, grad, params_shape), None]


gradient("ScatterNd")(lambda op, grad: [None, gather_nd(grad, op.inputs[0]), None])


@gradient("TensorScatterUpdate")
def _tensor_scatter_update(op: Operation, grad: Tensor) -> Gradients:
    updates = gather_nd(grad, op.inputs[1])
    by_tensor, no_updates = identity(grad), zeros_like(op.inputs[2], grad.dtype)
    return [node("TensorScatterUpdate", by_tensor, op.inputs[1], no_updates), None, updates]


@gradient("TensorScatterAdd", "TensorScatterSub")
def _tensor_scatter_add(op: Operation, grad: Tensor) -> Gradients:
    updates = gather_nd(grad, op.inputs[1])
    by_tensor = identity(grad)
    return [by_tensor, None, updates if op.type.endswith("Add") else -updates]


gradient("ScatterNdNonAliasingAdd")(lambda op, grad: (grad, None, gather_nd(grad, op.inputs[1])))
gradient("SparseReorder")(lambda op, _indices, grad: (None, gather(grad, _order_of(op)), None))


@gradient("SparseToDense")
def _sparse_to_dense(op: Operation, grad: Tensor) -> Gradients:
    """The gradients by the integer inputs are zeros, not None, as in TensorFlow."""
    indices, sizes, *_ = op.inputs
    of_values = gather_nd(grad, indices)
    of_default = reduce_sum(grad) - reduce_sum(of_values)
    return zeros_like(indices), zeros_like(sizes), of_values, of_default


def _order_of(op: Operation) -> Tensor:
    """The position in the output of each element of the input."""
    count = shape(op.inputs[0])[0]
    numbers = range_(count)
    moved = sparse_reorder(SparseTensor(op.inputs[0], numbers, op.inputs[2]))
    return node("InvertPermutation", moved.values)


@gradient("DynamicPartition")
def _dynamic_partition(op: Operation, *grads: Tensor) -> Gradients:
    data, partitions = op.inputs
    count = op.get_attr("num_partitions")
    outer = shape(partitions)
    numbers = reshape(range_(reduce_prod(outer)), outer)
    positions = nodes("DynamicPartition", numbers, partitions, num_partitions=count)
    stitched = node("ParallelDynamicStitch", positions, list(grads))
    return [reshape(stitched, shape(data)), None]


@gradient("DynamicStitch", "ParallelDynamicStitch")
def _dynamic_stitch(op: Operation, grad: Tensor) -> Gradients:
    half = len(op.inputs) // 2
    dense_grad = dense(grad)
    return [None] * half + [gather(dense_grad, indices) for indices in op.inputs[:half]]


@gradient("TopKV2")
def _top_k(op: Operation, grad: Tensor, _indices: Tensor) -> Gradients:
    x, indices = op.inputs[0], op.outputs[1]
    x_shape, indices_shape = shape(x), shape(indices)
    k = gather(cast(indices_shape, dtypes.int64), size(indices_shape) - 1)
    index_rows = reshape(indices, stack([-1, k]))
    row_size = gather(cast(x_shape, dtypes.int64), size(x_shape) - 1)
    starts = range_(0, cast(shape(index_rows)[0], dtypes.int64) * row_size, row_size)
    flat = reshape(index_rows + cast(expand_dims(starts, -1), dtypes.int32), [-1])
    positions, flat_grad = expand_dims(flat, -1), reshape(grad, [-1])
    by_flat = node("ScatterNd", positions, flat_grad, [reduce_prod(x_shape)])
    # The second is by the number of elements: zero, not None, as in TensorFlow.
    return [reshape(by_flat, x_shape), zeros([], dtypes.int32)]


@gradient("NthElement")
def _nth_element(op: Operation, grad: Tensor) -> tuple[Tensor, None]:
    """The gradient in equal parts for all elements that equal the one selected."""
    is_selected = cast(equal(expand_dims(op.outputs[0], -1), op.inputs[0]), grad.dtype)
    column = expand_dims(grad, -1)
    count = expand_dims(reduce_sum(is_selected, -1), -1)
    return divide(is_selected, count) * column, None


def _gathered(value: Tensor, indices: Tensor, policy: str) -> Tensor:
    inputs = {"params": value, "indices": indices}
    return apply_op("GatherNd", inputs, {"bad_indices_policy": policy}, None).outputs[0]


@gradient("TensorScatterMax", "TensorScatterMin")
def _scatter_extreme(op: Operation, grad: Tensor) -> tuple[Tensor, None, Tensor]:
    """The gradient in equal parts for the element and the updates that equal the result."""
    x, indices, updates = op.inputs
    result, policy = op.outputs[0], op.get_attr("bad_indices_policy")
    of_x = cast(equal(x, result), grad.dtype)
    of_updates = cast(equal(updates, _gathered(result, indices, policy)), grad.dtype)
    sizes = shape(x, out_type=indices.dtype)
    update_counts = scatter_nd(indices, of_updates, sizes, bad_indices_policy=policy)
    count = of_x + update_counts
    by_x = grad * of_x / count
    return by_x, None, _gathered(grad / count, indices, policy) * of_updates
