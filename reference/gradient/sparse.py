"""Gradients of operations on sparse tensors and on segments of gathered rows. Source: TF 2.21."""

from __future__ import annotations

from sessrun.reference.api.ops.array_ops import (
    concat,
    expand_dims,
    gather,
    reshape,
    slice_,
    squeeze,
    transpose,
)
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import ones, zeros_like
from sessrun.reference.api.ops.gathering import gather_nd
from sessrun.reference.api.ops.linalg_ops import matrix_transpose
from sessrun.reference.api.ops.math_ops import matmul
from sessrun.reference.api.ops.shape_ops import shape, size
from sessrun.reference.api.ops.sparse_math_ops import (
    sparse_add,
    sparse_dense_cwise_add,
    sparse_reduce_sum,
)
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType
from sessrun.reference.build.gradient_nodes import constants, gradient, node, nodes
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.gradient.arrays import dense
from sessrun.reference.gradient.reductions import kept_shape
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

constants(
    (
        "DenseToDenseSetOperation",
        "DenseToSparseSetOperation",
        "EditDistance",
        "SetSize",
        "SparseAddGrad",
        "SparseConcat",
        "SparseToSparseSetOperation",
    )
)


@gradient("SparseAdd")
def _added(op: Operation, *grads: Tensor) -> Gradients:
    by_values = nodes("SparseAddGrad", grads[1], op.inputs[0], op.inputs[3], op.outputs[0])
    for grad, values in zip(by_values, (op.inputs[1], op.inputs[4]), strict=True):
        grad.set_shape(values.get_shape())
    return [None, by_values[0], None, None, by_values[1], None, None]


@gradient("SparseTensorDenseAdd")
def _added_to_dense(op: Operation, grad: Tensor | IndexedSlices) -> Gradients:
    return [None, gather_nd(dense(grad), op.inputs[0]), None, grad]


@gradient("SparseReduceSum")
def _summed(op: Operation, grad: Tensor) -> Gradients:
    indices, _, dense_shape, axes = op.inputs
    kept = kept_shape(dense_shape, axes)
    reshaped = reshape(grad, kept)
    scale = dense_shape // cast(kept, dtypes.int64)
    return [None, gather_nd(reshaped, indices // scale), None, None]


@gradient("SparseSlice")
def _sliced(op: Operation, *grads: Tensor) -> Gradients:
    by_values = node("SparseSliceGrad", grads[1], op.inputs[0], op.inputs[3], op.outputs[0])
    by_values.set_shape(op.inputs[1].get_shape())
    return [None, by_values, None, None, None]


@gradient("SparseTensorDenseMatMul")
def _multiplied(op: Operation, grad: Tensor) -> Gradients:
    indices, values, dense_shape, b = op.inputs
    adjoint_a, adjoint_b = op.get_attr("adjoint_a"), op.get_attr("adjoint_b")
    of_b = node(
        "SparseTensorDenseMatMul", indices, values, dense_shape, grad, adjoint_a=not adjoint_a
    )
    if adjoint_b:
        of_b = matrix_transpose(of_b, conjugate=True)
    rows, columns = indices[:, 0], indices[:, 1]
    if adjoint_a:
        rows, columns = columns, rows
    left = gather(grad, rows)
    right = gather(transpose(b) if adjoint_b else b, columns)
    # The gradient of a value is the product of a row and a column.
    of_values = matmul(
        expand_dims(left, -1 if adjoint_a else -2),
        expand_dims(right, -1 if adjoint_a != adjoint_b else -2),
        adjoint_a=adjoint_a,
        adjoint_b=adjoint_a == adjoint_b,
    )
    return [None, squeeze(of_values, axis=[-2, -1]), None, of_b]


@gradient("SparseDenseCwiseAdd")
def _not_implemented(op: Operation, _grad: Tensor) -> Gradients:
    raise NotImplementedError(f"Gradient for {op.type} is not implemented.")


@gradient("SparseSparseMaximum", "SparseSparseMinimum")
def _not_callable(op: Operation, *_grads: Tensor) -> Gradients:
    """In TensorFlow a function of one gradient, though the operation has two outputs."""
    raise TypeError(f"Gradient for {op.type} is not implemented.")


def _times_dense(op: Operation, grad: Tensor, *, divided: bool) -> Gradients:
    indices, values, dense_shape, y = op.inputs
    y_shape = cast(shape(y), dtypes.int64)
    added = expand_dims(size(dense_shape) - size(y_shape), 0)
    scaling = dense_shape // concat([ones(added, dtypes.int64), y_shape], 0)
    scaled = slice_(indices // scaling, concat([[0], added], 0), [-1, -1])
    gathered = gather_nd(y, scaled)
    if divided:
        of_x = grad / gathered
        of_y = grad * (-values / node("Square", gathered))
    else:
        of_x, of_y = grad * gathered, grad * values
    by_y = sparse_add(zeros_like(y), SparseTensor(scaled, of_y, y_shape))
    return [None, of_x, None, by_y]


gradient("SparseDenseCwiseMul")(lambda op, grad: _times_dense(op, grad, divided=False))
gradient("SparseDenseCwiseDiv")(lambda op, grad: _times_dense(op, grad, divided=True))


@gradient("SparseSoftmax")
def _softmax(op: Operation, grad: Tensor) -> Gradients:
    indices, _, dense_shape = op.inputs
    output = SparseTensor(indices, op.outputs[0], dense_shape)
    of_output = SparseTensor(indices, grad, dense_shape)
    product = SparseTensor(indices, output.values * of_output.values, dense_shape)
    summed = -sparse_reduce_sum(product, [-1], keepdims=True)
    return [None, sparse_dense_cwise_add(of_output, summed).values * output.values, None]


@gradient("SparseFillEmptyRows")
def _filled(
    op: Operation, _indices: Tensor, grad: Tensor, _empty: Tensor, _reverse_map: Tensor
) -> Gradients:
    of_values, of_default = nodes("SparseFillEmptyRowsGrad", op.outputs[3], grad)
    return [None, of_values, None, of_default]


def _segments(kind: str) -> None:
    @gradient(f"SparseSegment{kind}", f"SparseSegment{kind}WithNumSegments")
    def compute(op: Operation, grad: Tensor) -> Gradients:
        data, indices, segment_ids, *more = op.inputs
        others = [None] * (2 + len(more))
        if op.get_attr("sparse_gradient"):
            data_shape = shape(data)
            rows, row_indices = nodes(
                f"SparseSegment{kind}GradV2", grad, indices, segment_ids, data_shape[0]
            )
            return [IndexedSlices(rows, row_indices, data_shape), *others]
        count = shape(data)[0]
        return [node(f"SparseSegment{kind}Grad", grad, indices, segment_ids, count), *others]


for _kind in ("Sum", "Mean", "SqrtN"):
    _segments(_kind)


def _product(
    a: Tensor, b: Tensor, dtype: DType, sparse: tuple[bool, bool], *, transpose_a: bool
) -> Tensor:
    """A product of matrices in a dtype; `sparse`: which of the two has many zeros."""
    product = matmul(a, b, transpose_a=transpose_a, a_is_sparse=sparse[0], b_is_sparse=sparse[1])
    return cast(product, dtype)


@gradient("SparseMatMul")
def _sparse_matmul(op: Operation, grad: Tensor) -> Gradients:
    a, b = op.inputs
    turned_a, turned_b = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    is_sparse = {
        id(a): op.get_attr("a_is_sparse"),
        id(b): op.get_attr("b_is_sparse"),
        id(grad): grad.op.type == "ReluGrad",
    }

    def product(x: Tensor, y: Tensor, dtype: DType, flip_x: bool, flip_y: bool) -> Tensor:
        flags = is_sparse[id(x)], is_sparse[id(y)]
        return _product(x, transpose(y) if flip_y else y, dtype, flags, transpose_a=flip_x)

    both = turned_a and turned_b
    x, y = (b, grad) if turned_a else (grad, b)
    of_a = product(x, y, a.dtype, both, turned_a or not turned_b)
    x, y = (grad, a) if turned_b else (a, grad)
    return [of_a, product(x, y, b.dtype, turned_b or not turned_a, both)]
