"""Arrays that live in host memory on every device: shapes, sizes, lists of bytes.

The only kernel module that may import numpy: a kernel asks here for what the declaration of its
outputs puts in host memory, on every device.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

import numpy as np

from sessrun.reference.base.arrays import Array, ArrayModule, DType
from sessrun.reference.base.host_arrays import set_writeable
from sessrun.spec.dtypes import BY_NAME

__all__ = [
    "HOST",
    "dtype_of",
    "frozen",
    "full",
    "host_array",
    "in_memory_of",
    "ints",
    "is_own",
    "is_scalar",
    "scalar_int",
    "stacked",
    "string_array",
]

#: The array module of host memory, for values that are in host memory on every device.
HOST: Final = cast("ArrayModule", np)


@functools.cache
def dtype_of(name: str) -> DType:
    """The numpy dtype of a spec dtype's name, which every array module understands."""
    dtype: DType = np.dtype(BY_NAME[name].numpy)
    return dtype


def host_array(values: Sequence[int], dtype: str) -> Array:
    """A numpy vector of integers."""
    return HOST.array(values, dtype=dtype_of(dtype))


def full(xp: ArrayModule, shape: Sequence[int], value: Array | bytes | int, dtype: DType) -> Array:
    """A new array filled with one value; strings are in host memory, others in that of `xp`."""
    if dtype.kind != "O":
        return xp.full(shape, value, dtype=dtype)
    array = HOST.empty(shape, dtype=object)
    array.fill(value if isinstance(value, bytes | int) else value.item())
    return array


def string_array(items: Iterable[object], shape: Sequence[int]) -> Array:
    """A tensor of strings (or variants) from its elements in C order."""
    flat = list(items)
    array = HOST.empty(len(flat), dtype=object)
    array[:] = flat
    return array.reshape(shape)


def stacked(xp: ArrayModule, arrays: Sequence[Array]) -> Array:
    """Arrays of one shape stacked along a new first axis; small ones faster than by `xp.stack`."""
    shape = arrays[0].shape
    if shape:
        return xp.concatenate(arrays).reshape(len(arrays), *shape)
    is_numbers = xp is HOST and all(map(is_scalar, arrays))
    return HOST.array(arrays, arrays[0].dtype) if is_numbers else xp.stack(arrays)


def frozen(array: Array) -> Array:
    """Make an array that the caller owns read-only, if it is in host memory; returns it."""
    owned: object = array
    if isinstance(owned, np.ndarray):
        set_writeable(owned, False)
    return array


def kept(xp: ArrayModule, value: Array) -> Array:
    """A value as it is kept for later: a read-only view, unless nothing can change it."""
    return value if xp is HOST and is_scalar(value) else frozen(xp.asarray(value)[...])


def is_own(array: Array) -> bool:
    """Whether an array owns its memory and may be written to: an operation computed it.

    Feeds, constants and values of variables are read-only; a view has another array's memory.
    """
    return array.base is None and bool(array.flags.writeable)


def is_scalar(value: object) -> bool:
    """Whether it is a numpy scalar, which nothing can change, and no array of rank 0."""
    return isinstance(value, np.generic)


def in_memory_of(xp: ArrayModule, array: Any) -> Any:
    """The array in the memory of an array module, copied if it is in the other memory.

    A value that is no array, such as a list of tensors, is in host memory and stays there.
    """
    if isinstance(array, np.ndarray | np.generic):
        return array if xp is HOST else xp.asarray(array)
    return array.get() if xp is HOST and hasattr(array, "get") else array


def ints(array: Array) -> list[int]:
    """The elements of an integer input that is in host memory, in C order."""
    values: list[int] = array.reshape(-1).tolist()
    return values


def scalar_int(array: Array) -> int:
    """The one element of an integer input that is in host memory."""
    return int(array.reshape(-1)[0] if array.ndim else array)
