"""Values that no program should see: what lies in memory that nobody wrote, or wrote in time."""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

__all__ = ["poison", "poisoned"]

_PATTERN: Final = 0xA5


@functools.cache
def _value(dtype: np.dtype[Any]) -> Any:
    """NaN, or an integer of 0xA5 bytes."""
    if dtype.kind in "fc" or dtype.name.startswith(("bfloat", "float")):
        return np.array(np.nan).astype(dtype)[()]
    return np.full(dtype.itemsize, _PATTERN, np.uint8).view(dtype)[0]


def poison(array: np.ndarray) -> None:
    """Fill host memory that stands for a device's with poison by its dtype.

    Truth values alternate: other bytes are none.
    """
    if not array.size:
        return
    if not array.flags.writeable:
        array.flags.writeable = True
    if array.dtype == np.bool_:
        array.flat[::2] = True
        array.flat[1::2] = False
    else:
        array[...] = _value(array.dtype)


def poisoned(shape: tuple[int, ...], dtype: Any, order: Any = "C") -> np.ndarray:
    """A new array of poison."""
    array = np.empty(shape, dtype, order)
    poison(array)
    return array
