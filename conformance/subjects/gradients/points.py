"""Where gradients are taken: where operations are smooth, and at ties, zeros and bounds."""

from __future__ import annotations

import random
from typing import Final

import numpy as np

__all__ = [
    "KEPT",
    "OF_MATRICES",
    "corner_values",
    "is_kept",
    "range_of",
    "smooth_values",
    "spread_values",
]

#: Where an operation is smooth, if not everywhere: above zero.
_POSITIVE: Final = frozenset(
    {
        "Atan2",
        "BesselK0",
        "BesselK0e",
        "BesselK1",
        "BesselK1e",
        "BesselY0",
        "BesselY1",
        "Betainc",
        "Cumprod",
        "Digamma",
        "Div",
        "DivNoNan",
        "EuclideanNorm",
        "Expint",
        "Igamma",
        "Igammac",
        "Inv",
        "InvGrad",
        "Lgamma",
        "Log",
        "Log1p",
        "Polygamma",
        "Pow",
        "RGBToHSV",
        "RandomGamma",
        "RealDiv",
        "Reciprocal",
        "ReciprocalGrad",
        "Rsqrt",
        "RsqrtGrad",
        "Spence",
        "Sqrt",
        "SqrtGrad",
        "StatelessRandomGammaV2",
        "StatelessRandomGammaV3",
        "Xdivy",
        "Xlog1py",
        "Xlogy",
        "Zeta",
    }
)
#: The same: between -1 and 1, between 0 and 1, above 1.
_SMALL: Final = frozenset({"Acos", "Asin", "Atanh", "Erfinv"})
_PROBABILITIES: Final = frozenset({"Ndtri"})
_ABOVE_ONE: Final = frozenset({"Acosh"})
#: Inputs that are left as their domain draws them: orders, and numbers of another range.
KEPT: Final = frozenset(
    {
        ("Betainc", "x"),
        ("Polygamma", "a"),
        ("Zeta", "x"),
        ("ScaleAndTranslate", "scale"),
        ("SparseAdd", "thresh"),
        ("ImageProjectiveTransformV2", "transforms"),
        ("ImageProjectiveTransformV3", "transforms"),
        *(
            (f"QuantizeAndDequantizeV{version}", name)
            for version in (2, 3, 4)
            for name in ("input_min", "input_max")
        ),
        *(
            ("StatelessParameterizedTruncatedNormal", name)
            for name in ("means", "stddevs", "minvals", "maxvals")
        ),
    }
)
#: Operations on matrices that have a property, which is theirs as drawn.
OF_MATRICES: Final = frozenset(
    {
        "BandedTriangularSolve",
        "Cholesky",
        "Eig",
        "LogMatrixDeterminant",
        "MatrixDeterminant",
        "MatrixInverse",
        "MatrixSolve",
        "MatrixSolveLs",
        "MatrixSquareRoot",
        "MatrixTriangularSolve",
        "Qr",
        "SelfAdjointEigV2",
        "Svd",
        "TridiagonalMatMul",
        "TridiagonalSolve",
    }
)
#: Few numbers, so that elements tie with each other and lie on the bounds of activations.
_CORNERS: Final = (-2.0, -1.0, -1.0, -0.5, 0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 6.0)


def is_kept(operation: str, name: str) -> bool:
    """Whether an input stays as its domain draws it."""
    return operation in OF_MATRICES or (operation, name) in KEPT


def smooth_values(operation: str, array: np.ndarray, draw: random.Random) -> np.ndarray:
    """Values of the same shape and dtype where the operation is smooth, none near another."""
    return spread_values(array, *range_of(operation), draw)


def range_of(operation: str) -> tuple[float, float]:
    """The least and the greatest number between which an operation is smooth."""
    if operation in _POSITIVE:
        return 0.6, 2.1
    if operation in _SMALL:
        return -0.8, 0.8
    if operation in _PROBABILITIES:
        return 0.1, 0.9
    return (1.2, 2.2) if operation in _ABOVE_ONE else (-1.93, 1.97)


def spread_values(array: np.ndarray, low: float, high: float, draw: random.Random) -> np.ndarray:
    """Values from `low` to `high` of the same shape and dtype, none near another."""
    size = array.size
    steps = np.array(draw.sample(range(size), size), np.float64)
    noise = np.array([draw.uniform(0.1, 0.9) for _ in range(size)])
    values: np.ndarray = low + (high - low) * (steps + noise / 2) / max(size, 1)
    if array.dtype.kind == "c":
        values = values + 1j * np.array([draw.uniform(-1, 1) for _ in range(size)])
    return np.asarray(values).reshape(array.shape).astype(array.dtype)


def corner_values(array: np.ndarray, draw: random.Random) -> np.ndarray:
    """Values of the same shape and dtype with ties, zeros and bounds."""
    values = np.array([draw.choice(_CORNERS) for _ in range(array.size)])
    if array.dtype.kind == "c":
        values = values + 1j * np.array([draw.choice(_CORNERS) for _ in range(array.size)])
    return np.asarray(values).reshape(array.shape).astype(array.dtype)
