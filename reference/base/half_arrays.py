"""Arrays of half precision that are computed with in single precision, and rounded after each step.

numpy converts every half on its own, forth and back, for each operation; this takes a fifth of the
time and gives the same. A float32 has more than twice the digits of a half, so that rounding what
an operation gives twice, to single and then to half precision, is rounding it once.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

__all__ = ["Halves"]

_SIGN: Final = np.uint32(0x80000000)
_EXPONENT: Final = np.uint32(0x7F800000)
#: The bits of 2**-14, below which halves are multiples of 2**-24, and of 2**17, which none is.
_POWERS: Final = np.uint32(0x38800000), np.uint32(0x48000000)
#: Added to a number and taken away again, this times its power of two leaves it with 11 digits.
_DIGITS: Final = np.float32(1.5 * 2**13)
#: Times this, what is beyond the greatest half is infinite, and a half's exponent is a float32's.
_BEYOND: Final = np.float32(2.0**112)
#: The float32 for each half, by its bits.
_SINGLE: Final = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)


class Halves(np.ndarray[Any, Any]):
    """A float32 array whose every value is a half's.

    Whatever numpy's elementwise functions make of it is rounded to halves. It takes part together
    with halves, which are converted.
    """

    @classmethod
    def of(cls, halves: Any) -> Any:
        """The same values as an array of float16 has; a copy."""
        return _SINGLE.take(halves.view(np.uint16)).view(cls)

    def halves(self) -> Any:
        """The same values as float16; a copy."""
        bits = (self.view(np.ndarray) / _BEYOND).view(np.uint32)
        signs = (bits >> np.uint32(16)) & np.uint32(0x8000)
        bits >>= np.uint32(13)
        bits &= np.uint32(0x7FFF)
        bits |= signs
        return bits.astype(np.uint16).view(np.float16)

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any
    ) -> Any:
        """Compute in single precision, and round."""
        if out is not None:
            options["out"] = tuple(map(_single, out))
        result = getattr(ufunc, method)(*map(_single, inputs), **options)
        if not isinstance(result, np.ndarray | np.float32) or result.dtype != np.float32:
            return result
        array = np.asarray(result)
        _round(array)
        return out[0] if out is not None else array.view(Halves)


def _single(value: Any) -> Any:
    if isinstance(value, Halves):
        return value.view(np.ndarray)
    if isinstance(value, np.generic | np.ndarray) and value.dtype == np.float16:
        return value.astype(np.float32)
    return value


def _round(array: Any) -> None:
    """Round float32 values to those that halves have, to even where two are as near."""
    bits = array.view(np.uint32)
    signs = bits & _SIGN
    powers = bits & _EXPONENT
    np.clip(powers, *_POWERS, out=powers)
    step = powers.view(np.float32)
    step *= _DIGITS
    array += step
    array -= step
    array *= _BEYOND
    array /= _BEYOND
    bits |= signs
