"""Gradients of matrices made of bands of diagonals, and of bands. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.ops.array_ops import concat, reshape
from sessrun.reference.api.ops.bands import matrix_diag, matrix_diag_part, matrix_set_diag
from sessrun.reference.api.ops.fill_ops import zeros, zeros_like
from sessrun.reference.api.ops.math_ops import equal
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import greater, less, minimum
from sessrun.reference.build.gradient_nodes import gradient
from sessrun.reference.graph.operation import Operation

__all__: list[str] = []


def _align(op: Operation) -> dict[str, Any]:
    """Where shorter diagonals stand; the older operations do not say it, nor do their gradients."""
    return {"align": op.get_attr("align")} if op.type.endswith("V3") else {}


@gradient("MatrixDiagV2", "MatrixDiagV3")
def _matrix_diag(op: Operation, grad: Any) -> Any:
    return matrix_diag_part(grad, k=op.inputs[1], **_align(op)), None, None, None, None


@gradient("MatrixDiagPartV2", "MatrixDiagPartV3")
def _matrix_diag_part(op: Operation, grad: Any) -> Any:
    sides: Any = op.inputs[0].shape[-2:]
    if sides.is_fully_defined():
        found = matrix_diag(
            grad, k=op.inputs[1], num_rows=sides[0], num_cols=sides[1], **_align(op)
        )
    else:
        found = matrix_set_diag(zeros_like(op.inputs[0]), grad, k=op.inputs[1], **_align(op))
    return found, None, None


@gradient("MatrixSetDiagV2", "MatrixSetDiagV3")
def _matrix_set_diag(op: Operation, grad: Any) -> Any:
    sizes: Any = op.inputs[1].shape
    if not sizes.is_fully_defined():
        sizes = _band_shape(op, grad)
    nothing = zeros(sizes, dtype=grad.dtype)
    return (
        matrix_set_diag(grad, nothing, k=op.inputs[2], **_align(op)),
        matrix_diag_part(grad, k=op.inputs[2], **_align(op)),
        None,
    )


def _band_shape(op: Operation, grad: Any) -> Any:
    """The shape of the diagonals, computed of that of the matrices."""
    whole = shape(grad)
    batch, sides = whole[:-2], whole[-2:]
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
