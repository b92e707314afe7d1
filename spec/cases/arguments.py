"""The types of what a program gives the functions of a namespace: values, dtypes, shapes, names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from sessrun.spec.cases.objects import (
    Call,
    Coordinator,
    Element,
    Graph,
    Operation,
    Session,
    Tensor,
    Value,
)

if TYPE_CHECKING:  # a worker in an environment of its own has no protobuf
    from google.protobuf.message import Message

__all__ = [
    "Argument",
    "DType",
    "DTypeLike",
    "DeviceFunction",
    "DeviceLike",
    "DeviceSpec",
    "Scope",
    "Shape",
    "ShapeLike",
    "TensorLike",
]


class DType(Protocol):
    """A dtype of a namespace, as `tf.float32`."""

    @property
    def name(self) -> str:
        """Its name, as `float32`; that of a reference dtype ends in `_ref`."""

    @property
    def as_numpy_dtype(self) -> type[np.generic]:
        """The scalar type of numpy's that holds its elements."""

    @property
    def as_datatype_enum(self) -> int:
        """Its number in a GraphDef."""

    @property
    def base_dtype(self) -> DType:
        """The dtype of the elements: of a reference dtype, the dtype that it refers to."""

    @property
    def is_floating(self) -> bool:
        """Whether its elements are floats."""

    @property
    def is_integer(self) -> bool:
        """Whether its elements are integers."""

    @property
    def is_complex(self) -> bool:
        """Whether its elements are complex numbers."""


class Shape(Protocol):
    """A `TensorShape` of a namespace, each size of which may be unknown, or all of it."""

    @property
    def ndims(self) -> int | None:
        """The number of dimensions, or None."""

    @property
    def rank(self) -> int | None:
        """The same as `ndims`."""

    def as_list(self) -> list[int | None]:
        """The sizes; None for each that is unknown. A shape of unknown rank raises ValueError."""

    def is_fully_defined(self) -> bool:
        """Whether every size is known."""


class DeviceSpec(Protocol):
    """A `tf.DeviceSpec`: the parts of a device's name."""

    @property
    def device_type(self) -> str | None:
        """The kind of device, as `CPU`."""

    @property
    def device_index(self) -> int | None:
        """Its number among those of its kind."""

    def to_string(self) -> str:
        """The name."""


#: What is converted to a tensor where one is wanted.
TensorLike: TypeAlias = Tensor | npt.ArrayLike
#: What stands for a dtype.
DTypeLike: TypeAlias = DType | npt.DTypeLike
#: What stands for a shape; None is a shape of unknown rank.
ShapeLike: TypeAlias = Shape | Tensor | np.ndarray | Sequence[int | None] | Sequence[int] | None
#: A device function: from a new operation to its device.
DeviceFunction: TypeAlias = Callable[[Operation], str | DeviceSpec | None]
#: What a device scope takes.
DeviceLike: TypeAlias = str | DeviceSpec | DeviceFunction | None
#: A block of a program, as `tf.device` opens one.
Scope: TypeAlias = AbstractContextManager[object]
#: An argument of a function of the namespace: what a fault passes on as it got it.
Argument: TypeAlias = (
    "Value | Element | DType | Shape | type | Graph | Session | Coordinator | Message | Call"
    " | Scope | Sequence[Argument] | Mapping[Any, Argument]"
)
