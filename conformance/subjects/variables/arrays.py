"""Arrays drawn for variables, of every dtype that a variable may have."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

import numpy as np

from sessrun.spec.dtypes import BY_NAME

__all__ = [
    "COMPLEX",
    "COUNTED",
    "DTYPES",
    "INTEGERS",
    "NUMBERS",
    "ROW_KINDS",
    "drawn",
    "drawn_divisors",
]

INTEGERS: Final = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_FLOATS: Final = ("float16", "bfloat16", "float32", "float64")
COMPLEX: Final = ("complex64", "complex128")
NUMBERS: Final = (*INTEGERS, *_FLOATS, *COMPLEX)
DTYPES: Final = (*NUMBERS, "bool", "string")
#: The dtypes that can be counted.
COUNTED: Final = ("int32", "int64")
ROW_KINDS: Final = ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max")
_WORDS: Final = (b"", b"a", b"bc", b"\0\xff", b"variable")


def drawn(
    draw: random.Random, dtype: str, shape: Sequence[int], *, small: bool = False
) -> np.ndarray:
    """An array of that dtype and shape; with `small`, products of its elements stay small."""
    count = int(np.prod(shape, dtype=np.int64))
    values = [_element(draw, dtype, small=small) for _ in range(count)]
    array = np.empty(count, BY_NAME[dtype].numpy)
    for index, value in enumerate(values):
        array[index] = value
    return array.reshape(tuple(shape))


def _element(draw: random.Random, dtype: str, *, small: bool) -> object:
    if dtype == "string":
        return draw.choice(_WORDS)
    if dtype == "bool":
        return draw.random() < 0.5
    low, high = (-2, 2) if small else (-9, 9)
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        if not small and draw.random() < 0.1:
            return draw.choice((info.min, info.max))
        return draw.randint(max(low, int(info.min)), high)
    if dtype in COMPLEX:
        return complex(draw.randint(low, high), draw.randint(low, high))
    return draw.randint(low, high) if small else draw.randint(-36, 36) / 4


def drawn_divisors(draw: random.Random, dtype: str, shape: Sequence[int]) -> np.ndarray:
    """An array to divide by: no zero, and nothing whose quotient could leave the dtype."""
    choices = (2, 3, 7) if dtype.startswith("uint") else (2, -2, 3, 7)
    divisors = [draw.choice(choices) for _ in range(int(np.prod(shape, dtype=np.int64)))]
    return np.array(divisors, BY_NAME[dtype].numpy).reshape(tuple(shape))
