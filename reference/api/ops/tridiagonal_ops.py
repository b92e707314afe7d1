"""Tridiagonal systems and products; the matrices are given in one of three forms.

`compact`: a tensor of shape `[..., 3, m]`, the rows above, on and below the main diagonal.
`sequence`: three tensors of shape `[..., m]`. `matrix`: dense square matrices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sessrun.reference.api.ops.array_ops import expand_dims, pad, squeeze, stack
from sessrun.reference.api.ops.cast_ops import conj
from sessrun.reference.api.ops.linalg_ops import matrix_transpose
from sessrun.reference.api.ops.matrix_diagonals import matrix_diag_part
from sessrun.reference.base.tensor_shape import dimension_value
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["solve_compact"]


def _compact_from_matrix(diagonals: Tensor) -> Tensor:
    sides = [dimension_value(diagonals.shape[axis]) for axis in (-1, -2)]
    if all(sides) and sides[0] != sides[1]:
        raise bad_value(
            f"Expected last two dimensions of diagonals to be same, got {sides[0]} and {sides[1]}"
        )
    return matrix_diag_part(diagonals, k=(-1, 1), padding_value=0.0, align="LEFT_RIGHT")


def _padded(diagonal: Tensor, size: int | None, name: str, padding: list[int]) -> Tensor:
    """A diagonal, padded to the length of the main one."""
    length = dimension_value(diagonal.shape[-1])
    if not length or length == size:
        return diagonal
    if size is not None and length == size - 1:
        return pad(diagonal, [*([0, 0] for _ in range(len(diagonal.shape) - 1)), padding])
    raise bad_value(f"Expected {name} to be have length {size} or {(size or 0) - 1}, got {length}.")


def _compact_from_sequence(diagonals: Tensor | Sequence[Tensor]) -> Tensor:
    if not isinstance(diagonals, tuple | list) or len(diagonals) != 3:
        raise bad_value("Expected diagonals to be a sequence of length 3.")
    above, main, below = diagonals
    if not all(
        diagonal.shape[:-1].is_compatible_with(main.shape[:-1]) for diagonal in (below, above)
    ):
        raise bad_value(
            "Tensors representing the three diagonals must have the same shape,except for the last "
            f"dimension, got {below.shape}, {main.shape}, {above.shape}"
        )
    size = dimension_value(main.shape[-1])
    below = _padded(below, size, "subdiagonal", [1, 0])
    above = _padded(above, size, "superdiagonal", [0, 1])
    return stack((above, main, below), axis=-2)


@public("linalg.tridiagonal_solve")
def tridiagonal_solve(
    diagonals: Any,
    rhs: Tensor,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """Solve systems of linear equations with tridiagonal matrices.

    Args:
      diagonals: the matrices, in the form that `diagonals_format` names.
      rhs: of shape `[..., m, k]`, or `[..., m]`.
      diagonals_format: `compact`, `sequence` or `matrix`.
      transpose_rhs: whether `rhs` is transposed first.
      conjugate_rhs: whether `rhs` is conjugated first.
      name: the operation's name.
      partial_pivoting: whether partial pivoting is used.
      perturb_singular: whether a singular matrix is perturbed.

    Raises:
      ValueError: the arguments do not fit.

    """
    if perturb_singular and not partial_pivoting:
        raise bad_value("partial_pivoting must be True if perturb_singular is.")
    if diagonals_format == "sequence":
        diagonals = _compact_from_sequence(diagonals)
    elif diagonals_format == "matrix":
        diagonals = _compact_from_matrix(diagonals)
    elif diagonals_format != "compact":
        raise bad_value(f"Unrecognized diagonals_format: {diagonals_format}")
    ranks = _checked_ranks(diagonals, rhs)
    pivoting = {"partial_pivoting": partial_pivoting, "perturb_singular": perturb_singular}
    if all(ranks) and ranks[1] == ranks[0] - 1:
        rhs = expand_dims(conj(rhs) if conjugate_rhs else rhs, -1)
        _check_rows(diagonals, rhs)
        return squeeze(solve_compact(diagonals, rhs, pivoting, name), -1)
    if transpose_rhs:
        rhs = matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = conj(rhs)
    _check_rows(diagonals, rhs)
    return solve_compact(diagonals, rhs, pivoting, name)


def solve_compact(
    diagonals: TensorLike, rhs: TensorLike, pivoting: Mapping[str, bool], name: str | None = None
) -> Tensor:
    """A TridiagonalSolve, for diagonals in the form `compact`."""
    inputs = {"diagonals": diagonals, "rhs": rhs}
    return apply_op("TridiagonalSolve", inputs, dict(pivoting), name).outputs[0]


def _checked_ranks(diagonals: Tensor, rhs: Tensor) -> tuple[Any, Any]:
    rank, its = diagonals.shape.rank, rhs.shape.rank
    if rank:
        if rank < 2:
            raise bad_value(f"Expected diagonals to have rank at least 2, got {rank}")
        if its and its not in {rank, rank - 1}:
            raise bad_value(f"Expected the rank of rhs to be {rank - 1} or {rank}, got {its}")
        batches = diagonals.shape[:-2], rhs.shape[: rank - 2] if its else None
        if its and not batches[0].is_compatible_with(batches[1]):
            raise bad_value(f"Batch shapes {batches[0]} and {batches[1]} are incompatible")
    if rank and diagonals.shape[-2] and diagonals.shape[-2] != 3:
        raise bad_value(f"Expected 3 diagonals got {diagonals.shape[-2]}")
    return rank, its


def _check_rows(diagonals: Tensor, rhs: Tensor) -> None:
    if diagonals.shape.rank is None or rhs.shape.rank is None:
        return
    size, rows = diagonals.shape[-1], rhs.shape[-2]
    if size and rows and size != rows:
        raise bad_value(
            "Expected number of left-hand sided and right-hand sides to be equal, got "
            f"{size} and {rows}"
        )


@public("linalg.tridiagonal_matmul")
def tridiagonal_matmul(
    diagonals: Any,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    name: str | None = None,
) -> Tensor:
    """The products of tridiagonal matrices and dense matrices.

    Args:
      diagonals: the matrices, in the form that `diagonals_format` names.
      rhs: of shape `[..., m, k]`.
      diagonals_format: `compact`, `sequence` or `matrix`.
      name: the operation's name.

    Raises:
      ValueError: the format is unknown, or the matrices are not square.

    """
    if diagonals_format == "sequence":
        three = list(diagonals)
    elif diagonals_format in {"compact", "matrix"}:
        compact = _compact_from_matrix(diagonals) if diagonals_format == "matrix" else diagonals
        three = [compact[..., row, :] for row in range(3)]
    else:
        raise bad_value(f"Unrecognized diagonals_format: {diagonals_format}")
    rows = [expand_dims(diagonal, -2) for diagonal in three]
    inputs = dict(zip(("superdiag", "maindiag", "subdiag"), rows, strict=True), rhs=rhs)
    return apply_op("TridiagonalMatMul", inputs, {}, name).outputs[0]
