"""Gradients of MatrixDiag, MatrixDiagPart and MatrixSetDiag for bands. Source: TF 2.21."""

from __future__ import annotations

from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.ops.array_ops import concat, reshape
from sessrun.reference.api.ops.fill_ops import zeros, zeros_like
from sessrun.reference.api.ops.math_ops import equal
from sessrun.reference.api.ops.matrix_diagonals import (
    matrix_diag,
    matrix_diag_part,
    matrix_set_diag,
)
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.base.attributes import AttrValues
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import greater, less, minimum
from sessrun.reference.build.gradient_nodes import gradient
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor


def _align(op: Operation) -> AttrValues:
    """The alignment of shorter diagonals, an attribute that only the V3 operations have."""
    return {"align": op.get_attr("align")} if op.type.endswith("V3") else {}


@gradient("MatrixDiagV2", "MatrixDiagV3")
def _matrix_diag(op: Operation, grad: Tensor) -> Gradients:
    return matrix_diag_part(grad, k=op.inputs[1], **_align(op)), None, None, None, None


@gradient("MatrixDiagPartV2", "MatrixDiagPartV3")
def _matrix_diag_part(op: Operation, grad: Tensor) -> Gradients:
    sides = op.inputs[0].shape[-2:]
    if sides.is_fully_defined():
        by_matrix = matrix_diag(
            grad, k=op.inputs[1], num_rows=sides[0], num_cols=sides[1], **_align(op)
        )
    else:
        by_matrix = matrix_set_diag(zeros_like(op.inputs[0]), grad, k=op.inputs[1], **_align(op))
    return by_matrix, None, None


@gradient("MatrixSetDiagV2", "MatrixSetDiagV3")
def _matrix_set_diag(op: Operation, grad: Tensor) -> Gradients:
    sizes: TensorShape | Tensor = op.inputs[1].shape
    if not op.inputs[1].shape.is_fully_defined():
        sizes = _band_shape(op, grad)
    nothing = zeros(sizes, dtype=grad.dtype)
    return (
        matrix_set_diag(grad, nothing, k=op.inputs[2], **_align(op)),
        matrix_diag_part(grad, k=op.inputs[2], **_align(op)),
        None,
    )


def _band_shape(op: Operation, grad: Tensor) -> Tensor:
    """The shape of the diagonals [..., (count,) longest], from the shape of the matrices."""
    sizes = shape(grad)
    batch, sides = sizes[:-2], sizes[-2:]
    ends = reshape(op.inputs[2], [-1])
    lower, upper = ends[0], ends[-1]
    down = cond(less(upper, 0), lambda: upper, lambda: 0)
    right = cond(greater(lower, 0), lambda: -lower, lambda: 0)
    longest = minimum(sides[0] + down, sides[1] + right)
    rest = cond(
        equal(lower, upper),
        lambda: convert_to_tensor([longest]),
        lambda: convert_to_tensor([upper - lower + 1, longest]),
    )
    return concat([batch, rest], 0)
