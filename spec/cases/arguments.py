"""The types of what calls of a namespace take: dtypes, static shapes, values and elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from sessrun.spec.cases.objects import Element, Graph, Session, Value

if TYPE_CHECKING:  # a worker in an environment of its own has no protobuf
    from google.protobuf.message import Message

__all__ = ["Argument", "DType", "DTypeLike", "Shape", "ShapeLike"]


class DType(Protocol):
    """A dtype of a namespace."""

    @property
    def name(self) -> str:
        """Its name, as `float32`; a reference dtype's ends in `_ref`."""

    @property
    def base_dtype(self) -> DType:
        """The dtype without the reference."""

    @property
    def as_numpy_dtype(self) -> type:
        """The numpy type of its elements."""

    @property
    def as_datatype_enum(self) -> int:
        """Its number in a GraphDef."""

    @property
    def is_integer(self) -> bool:
        """Whether its elements are integers that are not quantized."""

    @property
    def is_floating(self) -> bool:
        """Whether its elements are floating-point numbers that are not complex."""

    @property
    def is_complex(self) -> bool:
        """Whether its elements are complex numbers."""


class Dimension(Protocol):
    """A dimension of a static shape."""

    @property
    def value(self) -> int | None:
        """Its size, None if it is unknown."""


class Shape(Protocol):
    """A static shape, of the namespace's `TensorShape`."""

    @property
    def rank(self) -> int | None:
        """The number of dimensions, None if it is unknown."""

    def as_list(self) -> list[int | None]:
        """The sizes; an unknown rank is refused by ValueError."""

    def is_fully_defined(self) -> bool:
        """Whether every size is known."""


#: What stands for a dtype: one of the namespace's, its name or number, a type of Python or numpy.
DTypeLike: TypeAlias = DType | str | int | type | np.dtype[np.generic]
#: What stands for a static shape: one of the namespace's, or sizes (None for an unknown one).
ShapeLike: TypeAlias = Shape | Iterable[int | Dimension | None] | int
#: What a call of a public name takes: values, elements of a graph and lists of them, dtypes,
#: shapes, messages, and functions, such as initializers and the bodies of loops.
Argument: TypeAlias = (
    "Value | Element | Graph | Session | DType | Shape | Message | Callable[..., object]"
    " | Sequence[Argument] | Mapping[str, Argument]"
)
