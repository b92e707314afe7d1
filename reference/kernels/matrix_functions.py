"""Kernels of functions of whole matrices: square root, logarithm and exponential, by scipy.

Its logarithm is written in Python: one of 32 x 32 takes five to ten times as long as TensorFlow's.
"""

from __future__ import annotations

import warnings
from typing import Any

from sessrun.reference.kernels.decompositions import square
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.scientific import linear_algebra, numbers_unmoved

__all__: list[str] = []


def _of_each(xp: Any, x: Any, name: str) -> Any:
    """The function of each matrix, in double precision; NaN where there is none of its dtype."""
    found = xp.empty(x.shape, dtype=x.dtype)
    if not square(x).size:
        return found
    flat = found.reshape((-1, *x.shape[-2:]))
    function = getattr(linear_algebra(), name)
    wide = x.astype("complex128" if x.dtype.kind == "c" else "float64").reshape(flat.shape)
    with warnings.catch_warnings(), numbers_unmoved():
        warnings.simplefilter("ignore")  # scipy warns of what it then gives as NaN
        for place, matrix in enumerate(wide):
            value = function(matrix)
            is_other = value.dtype.kind == "c" and x.dtype.kind != "c" and bool(value.imag.any())
            fits = value if x.dtype.kind == "c" else value.real
            flat[place] = float("nan") if is_other else fits
    return found


@kernel("MatrixSquareRoot", devices=("CPU",))
def matrix_square_root(xp: Any, x: Any) -> Any:
    """The principal square root of each matrix."""
    return _of_each(xp, x, "sqrtm")


@kernel("MatrixLogarithm", devices=("CPU",))
def matrix_logarithm(xp: Any, x: Any) -> Any:
    """The principal logarithm of each complex matrix."""
    return _of_each(xp, x, "logm")


@kernel("MatrixExponential", devices=("CPU",))
def matrix_exponential(xp: Any, x: Any) -> Any:
    """The exponential of each matrix."""
    return _of_each(xp, x, "expm")
