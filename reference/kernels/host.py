"""Arrays that live in host memory on every device: shapes, sizes, lists of bytes.

The only kernel module that may import numpy: a kernel asks here for what the declaration of its
outputs says is in host memory, whatever array module computes the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

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
    "scalar_int",
    "stacked",
    "string_array",
]

#: The array module of host memory, for what is computed there whatever the device.
HOST: Final[Any] = np


def dtype_of(name: str) -> Any:
    """The numpy dtype of a spec dtype's name, which every array module understands."""
    return np.dtype(BY_NAME[name].numpy)


def host_array(values: Sequence[int], dtype: str) -> Any:
    """A numpy vector of integers."""
    return np.array(values, dtype=dtype_of(dtype))


def full(xp: Any, shape: Sequence[int], value: Any, dtype: Any) -> Any:
    """A new array filled with one value; strings in host memory, others in the array module's."""
    if dtype.kind != "O":
        return xp.full(shape, value, dtype=dtype)
    array = np.empty(shape, dtype=object)
    array.fill(value if isinstance(value, bytes) else value.item())
    return array


def string_array(items: Iterable[bytes], shape: Sequence[int]) -> Any:
    """A string tensor of that shape from its elements in C order."""
    flat = list(items)
    array = np.empty(len(flat), dtype=object)
    array[:] = flat
    return array.reshape(shape)


def stacked(xp: Any, arrays: Sequence[Any]) -> Any:
    """Arrays of one shape along a new first axis; small ones in a third of `xp.stack`'s time."""
    shape = arrays[0].shape
    return xp.concatenate(arrays).reshape(len(arrays), *shape) if shape else xp.stack(arrays)


def frozen(array: Any) -> Any:
    """The array, which is the caller's own, made read-only where its memory is the host's."""
    if isinstance(array, np.ndarray):
        array.flags.writeable = False
    return array


def is_own(array: Any) -> bool:
    """Whether an operation computed the array into memory that no other array has.

    A feed, a constant and a variable's value are read-only, a view has the memory of another.
    """
    return array.base is None and bool(array.flags.writeable)


def in_memory_of(xp: Any, array: Any) -> Any:
    """The array where an array module has its own: copied if it is in the other memory.

    What is no array, such as a string or a list of tensors, is in host memory, and stays there.
    """
    if isinstance(array, np.ndarray | np.generic):
        return array if xp is np else xp.asarray(array)
    return array.get() if xp is np and hasattr(array, "get") else array


def ints(array: Any) -> list[int]:
    """The elements of an integer input that is in host memory, in C order."""
    values: list[int] = array.reshape(-1).tolist()
    return values


def scalar_int(array: Any) -> int:
    """The one element of an integer input that is in host memory."""
    return int(array.reshape(-1)[0])
