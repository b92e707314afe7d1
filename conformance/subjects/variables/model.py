"""What each operation makes of a variable's array, in numpy, in the arithmetic of its dtype.

The model knows nothing of any engine. Integers wrap around and are divided towards zero; a half or
bfloat16 is rounded after every operation; one occurrence of an index comes after the other.
"""

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
    "combined",
    "drawn",
    "drawn_divisors",
    "rows_updated",
    "vectors_updated",
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
    """An array of that dtype and shape; `small`: such that products stay small."""
    count = int(np.prod(shape, dtype=np.int64))
    values = [_element(draw, dtype, small=small) for _ in range(count)]
    made = np.empty(count, BY_NAME[dtype].numpy)
    for place, value in enumerate(values):
        made[place] = value
    return made.reshape(tuple(shape))


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
    made = [draw.choice(choices) for _ in range(int(np.prod(shape, dtype=np.int64)))]
    return np.array(made, BY_NAME[dtype].numpy).reshape(tuple(shape))


def combined(kind: str, old: np.ndarray, update: np.ndarray) -> np.ndarray:
    """Each element of `old` with that of `update`, of one dtype."""
    with np.errstate(all="ignore"):
        match kind:
            case "Update":
                made = np.broadcast_to(update, old.shape)
            case "Add":
                made = np.add(old, update)
            case "Sub":
                made = np.subtract(old, update)
            case "Mul":
                made = np.multiply(old, update)
            case "Div":
                made = _quotient(old, update)
            case "Min":
                made = np.minimum(old, update)
            case _:
                made = np.maximum(old, update)
    return np.array(made, old.dtype)


def _quotient(old: np.ndarray, by: np.ndarray) -> np.ndarray:
    if old.dtype.kind not in "iu":
        return np.asarray(np.divide(old, by))
    pairs = zip(old.reshape(-1).tolist(), by.reshape(-1).tolist(), strict=True)
    made = [(abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1) for a, b in pairs]
    return np.array(made, old.dtype).reshape(old.shape)


def rows_updated(
    kind: str, old: np.ndarray, indices: np.ndarray, updates: np.ndarray
) -> np.ndarray:
    """The array after a row update; updates of rank 0 serve every row."""
    made = old.copy()
    flat = indices.reshape(-1)
    if updates.ndim:
        each = updates.reshape(flat.shape + old.shape[1:])
    else:
        each = np.broadcast_to(updates, flat.shape + old.shape[1:])
    for place, row in enumerate(flat.tolist()):
        made[row] = combined(kind, made[row : row + 1], each[place : place + 1])[0]
    return made


def vectors_updated(
    kind: str, old: np.ndarray, indices: np.ndarray, updates: np.ndarray
) -> np.ndarray:
    """The array after an update at index vectors."""
    made = old.copy()
    for place, vector in enumerate(indices.tolist()):
        part = np.asarray(made[tuple(vector)], old.dtype)
        after = combined(kind, part, np.asarray(updates[place], old.dtype))
        made[tuple(vector)] = after if after.ndim else after[()]
    return made
