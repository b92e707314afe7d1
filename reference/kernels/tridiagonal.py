"""Kernels of matrices with three diagonals, each given as a row: above, on, below the main one."""

from __future__ import annotations

from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.scientific import linear_algebra

__all__: list[str] = []

#: The fewest rows that scipy gives to LAPACK's functions.
_FEWEST: Final = 3
#: By the bytes of a real number: the distance of 1 to the next one, and the least normal one.
_LIMITS: Final = {4: (2.0**-23, 2.0**-126), 8: (2.0**-52, 2.0**-1022)}


@kernel("TridiagonalMatMul")
def tridiagonal_matmul(_: Any, superdiag: Any, maindiag: Any, subdiag: Any, rhs: Any) -> Any:
    """The product of matrices with three diagonals and others.

    Raises:
      KernelError: the shapes do not fit.

    """
    rows = rhs.shape[-2] if rhs.ndim > 1 else -1
    for diagonal in (superdiag, maindiag, subdiag):
        if diagonal.shape != (*rhs.shape[:-2], 1, rows):
            raise InvalidArgument(
                f"Each diagonal must have shape {(*rhs.shape[:-2], 1, rows)}, got {diagonal.shape}"
            )
    above, main, below = (each[..., 0, :, None] for each in (superdiag, maindiag, subdiag))
    found = main * rhs
    found[..., :-1, :] = found[..., :-1, :] + above[..., :-1, :] * rhs[..., 1:, :]
    found[..., 1:, :] = found[..., 1:, :] + below[..., 1:, :] * rhs[..., :-1, :]
    return found


@kernel("TridiagonalSolve", devices=("CPU",))
def tridiagonal_solve(
    xp: Any, diagonals: Any, rhs: Any, *, partial_pivoting: bool, perturb_singular: bool
) -> Any:
    """The solution of each system with a matrix of three diagonals.

    It is NaN where a matrix is not invertible, or a pivot is 0 and rows are not exchanged.

    Raises:
      KernelError: the shapes do not fit, or what is to be perturbed has no exchange of rows.

    """
    _check(diagonals, rhs, partial_pivoting, perturb_singular)
    rows, count = rhs.shape[-2:]
    found = xp.empty(rhs.shape, dtype=rhs.dtype)
    if not rhs.size:
        return found
    flat, known = (each.reshape((-1, rows, count)) for each in (found, rhs))
    three = diagonals.reshape((-1, 3, rows))
    if partial_pivoting:
        for place in range(len(flat)):
            flat[place] = _with_exchange(xp, three[place], known[place], perturb_singular)
    else:
        flat[:] = _without_exchange(xp, three, known)
    return found


def _check(diagonals: Any, rhs: Any, partial_pivoting: bool, perturb_singular: bool) -> None:
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


def _with_exchange(xp: Any, three: Any, known: Any, perturb_singular: bool) -> Any:
    """By LAPACK, which exchanges neighbouring rows where that makes the pivot larger.

    It is called for each system: thousands of small ones take 12 to 18 times TensorFlow's time.
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
    found, _ = solve(below, main, above, second, order, known)
    return found[:rows]


def _without_exchange(xp: Any, three: Any, known: Any) -> Any:
    """By Thomas' elimination, row by row, of all systems at once: each row needs the one before.

    A row is some calls of numpy's: a single system takes seven times TensorFlow's time.
    """
    above, main, below = (three[:, place].T[:, :, None] for place in range(3))
    pivots, ratios = main.copy(), xp.empty(main.shape, dtype=known.dtype)
    found = xp.swapaxes(known, 0, 1).copy()
    for place, (high, low) in enumerate(zip(above, below, strict=True)):
        pivot, row = pivots[place], found[place]
        if place:
            pivot -= low * ratios[place - 1]
            row -= low * found[place - 1]
        xp.divide(high, pivot, out=ratios[place])
        row /= pivot
    for place in range(len(found) - 2, -1, -1):
        found[place] -= ratios[place] * found[place + 1]
    found[:, (pivots == 0).any(axis=0)[:, 0]] = float("nan")
    return xp.swapaxes(found, 0, 1)
