"""The values on which operations differ first: the ends of integers, the corners of floats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import ml_dtypes
import numpy as np

__all__ = [
    "COMPLEX",
    "FLOATS",
    "INTEGERS",
    "SIGNED",
    "UNSIGNED",
    "axes",
    "c64",
    "c128",
    "column",
    "corners",
    "ends",
    "f32",
    "f64",
    "finite",
    "floats",
    "i8",
    "i16",
    "i32",
    "i64",
    "limits",
    "text",
    "u8",
    "u64",
]

#: numpy's constructors, which take nested lists as well as numbers.
c64: Final[Any] = np.complex64
c128: Final[Any] = np.complex128
f32: Final[Any] = np.float32
f64: Final[Any] = np.float64
i8: Final[Any] = np.int8
i16: Final[Any] = np.int16
i32: Final[Any] = np.int32
i64: Final[Any] = np.int64
u8: Final[Any] = np.uint8
u64: Final[Any] = np.uint64

SIGNED: Final = ("int8", "int16", "int32", "int64")
UNSIGNED: Final = ("uint8", "uint16", "uint32", "uint64")
INTEGERS: Final = SIGNED + UNSIGNED
FLOATS: Final = ("float16", "bfloat16", "float32", "float64")
COMPLEX: Final = ("complex64", "complex128")

_INF: Final = float("inf")
#: A number whose square is infinite in the narrow dtypes and whose reciprocal is normal in all.
_BIG: Final = {"float16": 2.0**12, "bfloat16": 2.0**70, "float32": 2.0**70, "float64": 2.0**600}


def limits(dtype: str) -> tuple[int, int]:
    """The least and the greatest integer of a dtype."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def ends(dtype: str) -> np.ndarray:
    """Integers about zero and at both ends."""
    low, high = limits(dtype)
    near = [0, 1, 2, 3, 7] + ([-1, -2, -7] if low else [])
    return np.array([*near, low, low + 1, high - 1, high], dtype=dtype)


def floats(dtype: str, values: Iterable[float]) -> np.ndarray:
    """A vector of a floating-point dtype, bfloat16 among them."""
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    return np.array(list(values), dtype=np.float64).astype(kind)


def finite(dtype: str) -> np.ndarray:
    """Zeros of both signs, fractions, halves, and large numbers of both signs."""
    big = _BIG[dtype]
    return floats(dtype, [0.0, -0.0, 0.5, -0.5, 1, -1.5, 2.5, 3, -7, big, -big])


def corners(dtype: str) -> np.ndarray:
    """The values of `finite`, infinities and NaN."""
    return np.concatenate([finite(dtype), floats(dtype, [_INF, -_INF, float("nan")])])


def column(values: np.ndarray) -> np.ndarray:
    """The values as a column, which broadcasts with a row to all pairs."""
    return values.reshape(-1, 1)


def axes(*numbers: int) -> np.ndarray:
    """A vector of int32: axes, sizes, positions."""
    return np.array(numbers, dtype=np.int32)


def text(*items: bytes, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """A string tensor, a vector unless a shape is given."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array if shape is None else array.reshape(shape)
