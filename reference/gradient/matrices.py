"""Gradients of matrix products, and of matrices and their diagonals. Source: TF 2.21."""

from __future__ import annotations

from sessrun.reference.api.ops.array_ops import concat, reshape, slice_, stack
from sessrun.reference.api.ops.cast_ops import conj
from sessrun.reference.api.ops.fill_ops import ones, zeros, zeros_like
from sessrun.reference.api.ops.math_ops import matmul
from sessrun.reference.api.ops.matrix_diagonals import (
    matrix_diag,
    matrix_diag_part,
    matrix_set_diag,
)
from sessrun.reference.api.ops.reduce_ops import reduce_min, reduce_sum
from sessrun.reference.api.ops.shape_ops import rank, shape
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import broadcast_to, cross
from sessrun.reference.build.gradient_nodes import gradient, node, nodes
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.gradient.reductions import kept_shape
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor


@gradient("MatMul")
def _matmul(op: Operation, grad: Tensor) -> Gradients:
    """With C = A B: dA = dC B', dB = A' dC; a transposed input exchanges the factors."""
    a, b = conj(op.inputs[0]), conj(op.inputs[1])
    is_a, is_b = op.get_attr("transpose_a"), op.get_attr("transpose_b")

    def product(x: Tensor, y: Tensor, first: bool, second: bool, of: str) -> Tensor:
        return node(
            "MatMul",
            x,
            y,
            transpose_a=first,
            transpose_b=second,
            grad_a=of == "a",
            grad_b=of == "b",
        )

    of_a = product(b, grad, is_b, True, "a") if is_a else product(grad, b, False, not is_b, "a")
    of_b = product(grad, a, True, is_a, "b") if is_b else product(a, grad, not is_a, False, "b")
    return of_a, of_b


def _batch_products(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor]:
    x, y = op.inputs
    is_x, is_y = op.get_attr("adj_x"), op.get_attr("adj_y")
    is_marked = op.type != "BatchMatMul"

    def product(a: Tensor, b: Tensor, first: bool, second: bool, of: str) -> Tensor:
        if not is_marked or a.shape.rank == b.shape.rank == 2:
            return matmul(a, b, adjoint_a=first, adjoint_b=second)
        return node(
            "BatchMatMulV2",
            a,
            b,
            adj_x=first,
            adj_y=second,
            name="MatMul",
            grad_x=of == "x",
            grad_y=of == "y",
        )

    of_x = product(y, grad, is_y, True, "x") if is_x else product(grad, y, False, not is_y, "x")
    of_y = product(grad, x, True, is_x, "y") if is_y else product(x, grad, not is_x, False, "y")
    return of_x, of_y


@gradient("BatchMatMul")
def _batch_matmul(op: Operation, grad: Tensor) -> Gradients:
    return _batch_products(op, grad)


@gradient("BatchMatMulV2", "BatchMatMulV3")
def _batch_matmul_v2(op: Operation, grad: Tensor) -> Gradients:
    x, y = op.inputs
    of_x, of_y = _batch_products(op, grad)
    batches = [operand.shape[:-2] for operand in op.inputs]
    has_batches = any(operand.shape.rank is None or operand.shape.rank > 2 for operand in op.inputs)
    is_same = all(batch.is_fully_defined() for batch in batches) and batches[0] == batches[1]
    if is_same or not has_batches:
        return of_x, of_y
    shapes = shape(x), shape(y)
    axes = nodes("BroadcastGradientArgs", shapes[0][:-2], shapes[1][:-2])
    return (
        reshape(reduce_sum(of_x, axes[0]), shapes[0]),
        reshape(reduce_sum(of_y, axes[1]), shapes[1]),
    )


@gradient("Cross")
def _cross(op: Operation, grad: Tensor) -> Gradients:
    u, v = op.inputs
    return cross(v, grad), cross(grad, u)


gradient("Diag")(lambda op, grad: node("DiagPart", grad))
gradient("DiagPart")(lambda op, grad: node("Diag", grad))
gradient("MatrixDiag")(lambda op, grad: matrix_diag_part(grad))
gradient("MatrixBandPart")(
    lambda op, grad: (node("MatrixBandPart", grad, *op.inputs[1:]), None, None)
)


@gradient("MatrixDiagPart")
def _matrix_diag_part(op: Operation, grad: Tensor) -> Gradients:
    sizes = op.inputs[0].shape[-2:]
    if sizes.is_fully_defined() and sizes[0] == sizes[1]:
        return matrix_diag(grad)
    return matrix_set_diag(zeros_like(op.inputs[0]), grad)


@gradient("MatrixSetDiag")
def _matrix_set_diag(op: Operation, grad: Tensor) -> Gradients:
    static = op.inputs[0].shape.merge_with(grad.shape)
    batch = static[:-2].merge_with(op.inputs[1].shape[:-1])
    sides = static[-2:]
    diagonal_shape: list[int | None] | Tensor
    if batch.is_fully_defined() and sides.is_fully_defined():
        diagonal_shape = [*batch.as_list(), min(size or 0 for size in sides.as_list())]
    else:
        with default_graph.get_default_graph().colocate_with(grad):
            known, dimensions = shape(grad), rank(grad)
            first = slice_(known, [0], [dimensions - 2])
            smaller = reduce_min(slice_(known, [dimensions - 2], [2]))
            diagonal_shape = concat([first, [smaller]], 0)
    without = matrix_set_diag(grad, zeros(diagonal_shape, grad.dtype))
    return without, matrix_diag_part(grad)


_DOTS = "..."


def _einsum(inputs: list[Tensor], equation: str) -> Tensor:
    return node("Einsum", inputs, equation=equation)


def _axis(labels: str, label: str) -> int:
    """The first axis of a label, negative where an ellipsis stands before it."""
    before, _, behind = labels.partition(_DOTS)
    position = before.find(label)
    return position if position >= 0 else behind.find(label) - len(behind)


def _ellipsis_axes(labels: str) -> tuple[int, int | None]:
    """The first axis of the ellipsis, and the one after its last axis; None for the end."""
    before, dots, behind = labels.partition(_DOTS)
    if not dots:
        return 0, 0
    return len(before), -len(behind) if behind else None


def _unsummed(grad: Tensor, result: str, labels: str, sizes: Tensor, summed: set[str]) -> Tensor:
    """The gradient by an operand some of whose axes were summed over.

    Args:
      grad: the gradient by the axes that were not summed over.
      result: their labels.
      labels: the labels of the operand.
      sizes: its shape.
      summed: the labels that were summed over.

    """
    names = "".join(sorted(summed))
    axes = [_axis(labels, name) for name in names]
    lengths = stack([sizes[axis] for axis in axes])
    repeats = len(set(labels)) + len(set(result)) < len(labels) + len(result)
    rest = "".join(name for name in labels if name not in summed)
    if not repeats and rest == result:
        return broadcast_to(reshape(grad, kept_shape(sizes, convert_to_tensor(axes))), sizes)
    summed_shape = concat([lengths, shape(grad)], axis=0)
    spread = concat([ones(len(summed), dtype=dtypes.int32), shape(grad)], axis=0)
    repeated = broadcast_to(reshape(grad, spread), summed_shape)
    return _einsum([repeated], f"{names}{result}->{labels}")


def _by_one(
    grad: Tensor, other: Tensor, sizes: Tensor, labels: str, others: str, result: str
) -> Tensor:
    """The gradient by one operand of two, before it is summed over broadcast axes."""
    summed = set(labels) - set(result + others + ".")
    left = "".join(name for name in labels if name not in summed)
    product = _einsum([grad, other], f"{result},{others}->{left}")
    return _unsummed(product, left, labels, sizes, summed) if summed else product


@gradient("Einsum")
def _of_einsum(op: Operation, grad: Tensor) -> Gradients:
    equation = op.get_attr("equation")
    text = equation.decode() if isinstance(equation, bytes) else equation
    left, result = text.split("->")
    if len(op.inputs) == 1:
        sizes = shape(op.inputs[0])
        summed = set(left) - set(result + _DOTS)
        if not summed:
            return _einsum([grad], f"{result}->{left}")
        return _unsummed(grad, result, left, sizes, summed)
    first, second = left.split(",")
    if _DOTS in result:
        first += "" if _DOTS in first else _DOTS
        second += "" if _DOTS in second else _DOTS
    x, y = op.inputs
    if grad.dtype.is_complex:
        x, y = conj(x), conj(y)
    of_x, of_y = shape(x), shape(y)
    by_x = _by_one(grad, y, of_x, first, second, result)
    by_y = _by_one(grad, x, of_y, second, first, result)
    if _DOTS not in result:
        return by_x, by_y
    (begin_x, end_x), (begin_y, end_y) = _ellipsis_axes(first), _ellipsis_axes(second)
    known = x.shape, y.shape
    if all(static.is_fully_defined() for static in known) and (
        known[0][begin_x:end_x] == known[1][begin_y:end_y]
    ):
        return by_x, by_y
    axes = nodes("BroadcastGradientArgs", of_x[begin_x:end_x], of_y[begin_y:end_y])
    return (
        reshape(reduce_sum(by_x, begin_x + axes[0]), of_x),
        reshape(reduce_sum(by_y, begin_y + axes[1]), of_y),
    )
