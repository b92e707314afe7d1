"""Kernels of tridiagonal matrices, given as three rows: above, on, below the main diagonal."""

from __future__ import annotations

from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.scientific import linear_algebra

#: The least number of rows that scipy's wrappers of LAPACK accept.
_FEWEST: Final = 3
#: By the bytes of a real number: the machine epsilon, and the least normal number.
_LIMITS: Final = {4: (2.0**-23, 2.0**-126), 8: (2.0**-52, 2.0**-1022)}


@kernel("TridiagonalMatMul")
def tridiagonal_matmul(
    _: ArrayModule, superdiag: Array, maindiag: Array, subdiag: Array, rhs: Array
) -> Array:
    """The product of tridiagonal matrices and others.

    Raises:
      KernelError: the shapes do not fit.

    """
    rows = rhs.shape[-2] if rhs.ndim > 1 else -1
    for diagonal in (superdiag, maindiag, subdiag):
        if diagonal.shape != (*rhs.shape[:-2], 1, rows):
            raise InvalidArgument(
                f"Each diagonal must have shape {(*rhs.shape[:-2], 1, rows)}, got {diagonal.shape}"
            )
    above, main, below = (
        diagonal_row[..., 0, :, None] for diagonal_row in (superdiag, maindiag, subdiag)
    )
    result = main * rhs
    result[..., :-1, :] = result[..., :-1, :] + above[..., :-1, :] * rhs[..., 1:, :]
    result[..., 1:, :] = result[..., 1:, :] + below[..., 1:, :] * rhs[..., :-1, :]
    return result


@kernel("TridiagonalSolve", devices=("CPU",))
def tridiagonal_solve(
    xp: ArrayModule, diagonals: Array, rhs: Array, *, partial_pivoting: bool, perturb_singular: bool
) -> Array:
    """The solution of each linear system with a tridiagonal matrix.

    It is NaN if the matrix is not invertible, or if a pivot is 0 without pivoting.

    Raises:
      KernelError: the shapes do not fit, or `perturb_singular` is set without pivoting.

    """
    _check(diagonals, rhs, partial_pivoting, perturb_singular)
    rows, count = rhs.shape[-2:]
    solutions = xp.empty(rhs.shape, dtype=rhs.dtype)
    if not rhs.size:
        return solutions
    flat, known = (array.reshape((-1, rows, count)) for array in (solutions, rhs))
    three = diagonals.reshape((-1, 3, rows))
    if partial_pivoting:
        for i in range(len(flat)):
            flat[i] = _with_exchange(xp, three[i], known[i], perturb_singular)
    else:
        flat[:] = _without_exchange(xp, three, known)
    return solutions


def _check(diagonals: Array, rhs: Array, partial_pivoting: bool, perturb_singular: bool) -> None:
    if perturb_singular and not partial_pivoting:
        raise InvalidArgument("Setting perturb_singular requires pivoting.")
    if min(diagonals.ndim, rhs.ndim) < 2:
        raise InvalidArgument(
            f"Expected diagonals and rhs of rank >= 2, got {diagonals.ndim} and {rhs.ndim}"
        )
    if diagonals.shape[:-2] != rhs.shape[:-2] or diagonals.shape[-2] != 3:
        raise InvalidArgument(f"Expected diagonals of shape [..., 3, M], got {diagonals.shape}")
    if diagonals.shape[-1] != rhs.shape[-2]:
        raise InvalidArgument(
            f"Expected the same number of left-hand sides and right-hand sides, "
            f"got {diagonals.shape[-1]} and {rhs.shape[-2]}."
        )


def _with_exchange(
    xp: ArrayModule, three: Array, known: Array, perturb_singular: bool
) -> Array | float:
    """The solution by LAPACK, which exchanges neighbouring rows for larger pivots.

    It is called per system: thousands of small ones take 12 to 18 times TensorFlow's time.
    """
    rows = known.shape[0]
    if rows < _FEWEST:  # rows of a unit matrix below
        more = _FEWEST - rows
        three = xp.concatenate([three, xp.zeros((3, more), dtype=three.dtype)], axis=1)
        three[0, rows - 1], three[1, rows:] = 0, 1
        known = xp.concatenate([known, xp.zeros((more, known.shape[1]), dtype=known.dtype)])
    (factorize, solve) = linear_algebra().get_lapack_funcs(("gttrf", "gttrs"), (three, known))
    below, main, above, second, order, _ = factorize(three[2, 1:], three[1], three[0, :-1])
    zero = main == 0
    if zero.any():
        if not perturb_singular:
            return float("nan")
        epsilon, least = _LIMITS[three.real.dtype.itemsize]
        main[zero] = max(float(abs(three).max()) * epsilon, least)
    solution, _ = solve(below, main, above, second, order, known)
    used: Array = solution[:rows]
    return used


def _without_exchange(xp: ArrayModule, three: Array, known: Array) -> Array:
    """The solution by Thomas' elimination, row by row, of all systems at once.

    A row takes several calls of numpy: a single system takes seven times TensorFlow's time.
    """
    above, main, below = (three[:, row_number].T[:, :, None] for row_number in range(3))
    pivots, ratios = main.copy(), xp.empty(main.shape, dtype=known.dtype)
    solutions = xp.swapaxes(known, 0, 1).copy()
    for row_number, (high, low) in enumerate(zip(above, below, strict=True)):
        pivot, row = pivots[row_number], solutions[row_number]
        if row_number:
            pivot -= low * ratios[row_number - 1]
            row -= low * solutions[row_number - 1]
        xp.divide(high, pivot, out=ratios[row_number])
        row /= pivot
    for row_number in range(len(solutions) - 2, -1, -1):
        solutions[row_number] -= ratios[row_number] * solutions[row_number + 1]
    solutions[:, (pivots == 0).any(axis=0)[:, 0]] = float("nan")
    return xp.swapaxes(solutions, 0, 1)
