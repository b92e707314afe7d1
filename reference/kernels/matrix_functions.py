"""Kernels of functions of whole matrices: the square root and the logarithm, by scipy."""

from __future__ import annotations

import warnings
from typing import Any

from sessrun.reference.kernels.decompositions import square
from sessrun.reference.kernels.registry import kernel
from sessrun.reference.kernels.scientific import linear_algebra

__all__: list[str] = []


def _of_each(xp: Any, x: Any, name: str) -> Any:
    """The function of each matrix; NaN where there is none of the matrix's dtype."""
    found = xp.empty(x.shape, dtype=x.dtype)
    flat = found.reshape((-1, *x.shape[-2:]))
    function = getattr(linear_algebra(), name)
    for place, matrix in enumerate(square(x).reshape(flat.shape) if x.size else ()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scipy warns of what it then gives as NaN
            value = function(matrix)
        is_other = value.dtype.kind == "c" and x.dtype.kind != "c" and bool(value.imag.any())
        flat[place] = float("nan") if is_other else value if x.dtype.kind == "c" else value.real
    return found


@kernel("MatrixSquareRoot", devices=("CPU",))
def matrix_square_root(xp: Any, x: Any) -> Any:
    """The principal square root of each matrix."""
    return _of_each(xp, x, "sqrtm")


@kernel("MatrixLogarithm", devices=("CPU",))
def matrix_logarithm(xp: Any, x: Any) -> Any:
    """The principal logarithm of each complex matrix."""
    return _of_each(xp, x, "logm")
