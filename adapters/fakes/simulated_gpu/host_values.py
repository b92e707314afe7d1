"""The types of what is no device array: arguments of cupy, and what numpy takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import EllipsisType
from typing import Literal, Protocol, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from sessrun.adapters.fakes.simulated_gpu.machine import StreamState

__all__ = [
    "Axis",
    "Casting",
    "DType",
    "DTypeLike",
    "HostFunction",
    "HostValue",
    "LowIndex",
    "Number",
    "OnStream",
    "Order",
    "ShapeLike",
]

#: A dtype that is known in a run only.
DType: TypeAlias = np.dtype[np.generic]
#: A number of Python or numpy; `complex` stands for `bool`, `int` and `float`, too.
Number: TypeAlias = complex | np.generic
#: The layout of a new array: C, Fortran, or after the array that it is made of.
Order: TypeAlias = Literal["K", "A", "C", "F"]
Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | np.ndarray
Axis: TypeAlias = int | tuple[int, ...] | None

#: What numpy takes and gives where cupy has device arrays: host memory in their place.
HostValue: TypeAlias = (
    "np.ndarray | Number | str | slice | EllipsisType | type | np.dtype | Sequence[HostValue]"
    " | Mapping[str, HostValue] | None"
)
#: A part of a key with host memory in place of a device array.
LowIndex: TypeAlias = np.ndarray | int | np.integer | slice | EllipsisType | None
#: A function of numpy or scipy, or one that calls them: what is computed for device arrays.
HostFunction: TypeAlias = Callable[..., HostValue]


class OnStream(Protocol):
    """A stream as a program has it, such as `streams.Stream`."""

    @property
    def ptr(self) -> int:
        """Its number, which stands for a pointer."""

    @property
    def state(self) -> StreamState:
        """The stream of the machine."""
