"""Definitions of elementary functions: computed in float64 or complex128, and rounded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from sessrun.spec.definitions.base import Array, definition
from sessrun.spec.definitions.elementwise import in_wide

__all__: list[str] = []


def _atanh(x: Array) -> Array:
    return np.arctanh(x)


def _sigmoid(x: Array) -> Array:
    """`1 / (1 + exp(-x))`, without overflow."""
    if x.dtype.kind == "c":
        return 1 / (1 + np.exp(-x))
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


#: Functions of one number, by op type; what is not real gives NaN.
_FUNCTIONS: Final[dict[str, Callable[[Array], Array]]] = {
    "Sqrt": np.sqrt,
    "Rsqrt": lambda x: 1 / np.sqrt(x),
    "Exp": np.exp,
    "Expm1": np.expm1,
    "Log": np.log,
    "Log1p": np.log1p,
    "Sin": np.sin,
    "Cos": np.cos,
    "Tan": np.tan,
    "Asin": np.arcsin,
    "Acos": np.arccos,
    "Atan": np.arctan,
    "Sinh": np.sinh,
    "Cosh": np.cosh,
    "Tanh": np.tanh,
    "Asinh": np.arcsinh,
    "Acosh": np.arccosh,
    "Atanh": _atanh,
    "Sigmoid": _sigmoid,
}


def _define(name: str, function: Callable[[Array], Array]) -> None:
    @definition(name)
    def defined(x: Array) -> Array:
        return in_wide(function, x)


for _name, _function in _FUNCTIONS.items():
    _define(_name, _function)
