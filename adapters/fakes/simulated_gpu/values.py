"""Device arrays, and the types of what a program passes to a function of cupy with arrays in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import TypeAlias

import numpy as np

from sessrun.adapters.fakes.simulated_gpu import memory
from sessrun.adapters.fakes.simulated_gpu.host_values import Number

__all__ = ["ARRAY_CLASS", "DeviceArray", "Index", "IndexPart", "Indices", "Value"]


class DeviceArray:
    """What every device array has: the host memory that stands for its own, and its block."""

    __slots__ = ("block", "host")

    block: memory.Block
    host: np.ndarray

    @property
    def dtype(self) -> np.dtype:
        """The dtype of its elements."""
        return self.host.dtype

    @property
    def ndim(self) -> int:
        """The number of its dimensions."""
        return self.host.ndim

    @property
    def size(self) -> int:
        """The number of its elements."""
        return self.host.size

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of its dimensions; an assignment changes it in place."""
        return self.host.shape

    @shape.setter
    def shape(self, shape: tuple[int, ...]) -> None:
        self.host.shape = shape

    @classmethod
    def over(cls, view: np.ndarray, block: memory.Block) -> DeviceArray:
        """An array over a part of a block."""
        array = object.__new__(ARRAY_CLASS[0])
        array.host, array.block = view, block
        return array


#: The class of new device arrays: `ndarray`, once its module has registered it here.
ARRAY_CLASS: list[type[DeviceArray]] = [DeviceArray]

#: An argument of a function of cupy, or its result.
Value: TypeAlias = (
    "DeviceArray | np.ndarray | Number | str | slice | EllipsisType | type | np.dtype"
    " | Sequence[Value] | Mapping[str, Value] | None"
)
#: A part of the key of `array[key]` once lists and host arrays in it are uploaded.
IndexPart: TypeAlias = "DeviceArray | int | np.integer | slice | EllipsisType | None"
#: The key of `array[key]`, or a part of it.
Index: TypeAlias = "IndexPart | np.ndarray | np.bool_ | Sequence[Index]"
#: What `take` and `put` take for their indices.
Indices: TypeAlias = "DeviceArray | int | np.ndarray | Sequence[int]"
