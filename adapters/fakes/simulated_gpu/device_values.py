"""Values as a device has them: what nobody wrote, which dtypes there are, conversions of dtype.

Memory that nobody wrote, or that was not written in time, is poison: a value that no program
should see. CUDA converts a float to 32 and 64 bit integers with saturation; NaN becomes 0, or the
value with only the highest bit set if either side has 64 bits (PTX, `cvt`). Narrower integers go
through 32 bits and are cut; this last was not seen on a GPU yet.
"""

from __future__ import annotations

import functools
from typing import Final, Literal

import numpy as np

from sessrun.adapters.fakes.simulated_gpu.host_values import DType, DTypeLike, Number, Order

__all__ = ["check_dtype", "converted", "poison", "poisoned"]

_PATTERN: Final = 0xA5


@functools.cache
def _value(dtype: DType) -> Number:
    """NaN, or an integer of 0xA5 bytes."""
    if dtype.kind in "fc" or dtype.name.startswith(("bfloat", "float")):
        return dtype.type(np.nan)
    integer: Number = np.full(dtype.itemsize, _PATTERN, np.uint8).view(dtype)[0]
    return integer


def poison(array: np.ndarray) -> None:
    """Fill host memory that stands for a device's with poison by its dtype.

    Truth values alternate: other bytes are none.
    """
    if not array.nbytes:
        return
    if not array.flags.writeable:
        array.flags.writeable = True
    if array.dtype == np.bool_:
        array.flat[::2] = True
        array.flat[1::2] = False
    else:
        array[...] = _value(array.dtype)


def poisoned(
    shape: tuple[int, ...], dtype: DTypeLike, order: Literal["C", "F"] = "C"
) -> np.ndarray:
    """A new array of poison."""
    array = np.empty(shape, np.dtype(dtype), order)
    poison(array)
    return array


#: The characters of dtypes that cupy computes with; `bfloat16` and structures besides.
_CHARS: Final = frozenset("?bhilqBHILQefdFD")


def check_dtype(dtype: DTypeLike | None) -> DType:
    """The dtype, if a device array can have it.

    Raises:
      ValueError: objects, strings, 8 bit floats and other things that cupy does not know.

    """
    wanted: DType = np.dtype(dtype)
    if wanted.byteorder == ">":
        raise ValueError(f"Unsupported dtype {wanted} with big-endian byte-order")
    if wanted.char in _CHARS or wanted.name == "bfloat16" or wanted.type is np.void:
        return wanted
    raise ValueError(f"Unsupported dtype {wanted}")


def converted(array: np.ndarray, dtype: DTypeLike, order: Order | None = "K") -> np.ndarray:
    """A copy of the array with that dtype, converted as a GPU does."""
    dtype = np.dtype(dtype)
    source = array.dtype
    if source.kind == "c" and dtype.kind != "c" and dtype != np.bool_:
        return converted(array.real, dtype, order)
    if dtype.kind in "iu" and _is_real(source):
        return _saturated(array, dtype, order)
    return array.astype(dtype, order=order)


def _is_real(dtype: DType) -> bool:
    return dtype.kind == "f" or dtype.name.startswith(("bfloat", "float"))


def _saturated(array: np.ndarray, dtype: DType, order: Order | None) -> np.ndarray:
    through = dtype if dtype.itemsize >= 4 else np.dtype(f"{dtype.kind}4")
    limits = np.iinfo(through)
    wide = np.trunc(array.astype(np.float64, order=order))
    low, high = wide <= limits.min, wide >= float(limits.max)
    unknown = np.isnan(wide)
    plain = np.where(low | high | unknown, 0, wide).astype(through)
    plain = np.where(low, limits.min, np.where(high, limits.max, plain)).astype(through)
    if unknown.any():
        bits = 8 * through.itemsize
        is_long = array.dtype.itemsize == 8 or bits == 64
        none = np.array((1 << (bits - 1)) if is_long else 0, f"u{through.itemsize}").view(through)
        plain = np.where(unknown, none, plain)
    return np.asarray(plain.astype(dtype, order=order))
