"""Kernels of matrix functions: square root, logarithm and exponential, by scipy.

scipy's logarithm is written in Python: one of 32 x 32 takes five to ten times TensorFlow's time.
"""

from __future__ import annotations

import warnings

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.kernels.decompositions import square
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.scientific import fixed_random_state, linear_algebra


def _of_matrices(xp: ArrayModule, x: Array, name: str) -> Array:
    """The function of each matrix, computed in double precision; NaN if a real one has none."""
    results = xp.empty(x.shape, dtype=x.dtype)
    if not square(x).size:
        return results
    flat = results.reshape((-1, *x.shape[-2:]))
    function = getattr(linear_algebra(), name)
    wide = x.astype("complex128" if x.dtype.kind == "c" else "float64").reshape(flat.shape)
    with warnings.catch_warnings(), fixed_random_state():
        warnings.simplefilter("ignore")  # scipy warns of results that are NaN
        for i, matrix in enumerate(wide):
            value = function(matrix)
            is_other = value.dtype.kind == "c" and x.dtype.kind != "c" and bool(value.imag.any())
            fits = value if x.dtype.kind == "c" else value.real
            flat[i] = float("nan") if is_other else fits
    return results


@kernel("MatrixSquareRoot", devices=("CPU",))
def matrix_square_root(xp: ArrayModule, x: Array) -> Array:
    """The principal square root of each matrix."""
    return _of_matrices(xp, x, "sqrtm")


@kernel("MatrixLogarithm", devices=("CPU",))
def matrix_logarithm(xp: ArrayModule, x: Array) -> Array:
    """The principal logarithm of each complex matrix."""
    return _of_matrices(xp, x, "logm")


@kernel("MatrixExponential", devices=("CPU",))
def matrix_exponential(xp: ArrayModule, x: Array) -> Array:
    """The exponential of each matrix."""
    return _of_matrices(xp, x, "expm")
