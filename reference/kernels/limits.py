"""The larger or smaller of elements and one number, in host memory.

With two arrays numpy compares many elements at once, with an array and a number one after the
other, which takes twice the time: so large arrays are taken as rows, and the number as one more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.kernels.host import HOST

__all__ = ["limited"]

#: The number of elements from which on an array is taken as rows, and of a row.
_LARGE: Final = 65536
_ROW: Final = 1024


def limited(function: Callable[..., Array], x: Array, y: Array) -> Array:
    """`function(x, y)` for numpy's `maximum` or `minimum`, faster if one operand is a number."""
    if x.size >= _LARGE and not y.ndim and x.flags.c_contiguous:
        return _by_rows(lambda rows, out: function(rows, HOST.full(_ROW, y), out=out), x)
    if y.size >= _LARGE and not x.ndim and y.flags.c_contiguous:
        return _by_rows(lambda rows, out: function(HOST.full(_ROW, x), rows, out=out), y)
    return function(x, y)


def _by_rows(compute: Callable[[Array, Array], Array], array: Array) -> Array:
    """What a function writes for rows of an array, and for the elements after the last of them."""
    out = HOST.empty(array.shape, array.dtype)
    even = array.size - array.size % _ROW
    flat, target = array.reshape(-1), out.reshape(-1)
    compute(flat[:even].reshape(-1, _ROW), target[:even].reshape(-1, _ROW))
    if even < array.size:
        rest = HOST.zeros(_ROW, array.dtype)
        rest[: array.size - even] = flat[even:]
        target[even:] = compute(rest, rest)[: array.size - even]
    return out
