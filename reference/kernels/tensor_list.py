"""Lists of tensors as immutable values: a change gives a new list."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import in_memory_of
from sessrun.reference.state.optional_values import Optional

__all__ = ["Element", "Shape", "TensorList", "added", "merged", "shape_of", "zeros_like"]

Shape = tuple[int | None, ...] | None

#: An element of a list: an array, a string, a variant, or None if it is not initialized.
Element: TypeAlias = "Array | bytes | TensorList | Optional | None"


@functools.lru_cache(maxsize=256)  # many elements have the same shape
def merged(one: Shape, other: Shape) -> Shape:
    """The most specific shape that is compatible with two partially known shapes.

    Raises:
      InvalidArgument: the shapes are incompatible.

    """
    if one is None or other is None:
        return other if one is None else one
    if len(one) != len(other):
        raise InvalidArgument(f"Incompatible ranks during merge: {len(one)} vs. {len(other)}")
    if any(a is not None and b is not None and a != b for a, b in zip(one, other, strict=True)):
        raise InvalidArgument(
            f"Incompatible shapes during merge: {bracketed(one)} vs. {bracketed(other)}"
        )
    return tuple(b if a is None else a for a, b in zip(one, other, strict=True))


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an element; values other than arrays are scalars."""
    return tuple(value.shape) if hasattr(value, "ndim") else ()


@dataclass(frozen=True, slots=True)
class TensorList:
    """A list of elements of one dtype.

    Attributes:
      dtype: the spec name of their dtype.
      shape: the partially known shape of the elements.
      elements: arrays or variants; None for an uninitialized element.
      limit: the greatest number of elements; unlimited if negative.

    """

    dtype: str
    shape: Shape
    elements: tuple[Element, ...] = ()
    limit: int = -1

    def check(self, dtype: str, what: str) -> None:
        """Raise InvalidArgument for another dtype."""
        if dtype != self.dtype:
            raise InvalidArgument(f"Invalid data types; {what} {dtype}; list elements {self.dtype}")

    def fitting(self, shape: tuple[int, ...], what: str) -> None:
        """Raise InvalidArgument for an element of another shape."""
        try:
            merged(self.shape, tuple(shape))
        except KernelError:
            raise InvalidArgument(
                f"Tried to {what} a tensor with incompatible shape to a list. Op element "
                f"shape: {bracketed(shape)} list shape: {bracketed(self.shape)}"
            ) from None

    def with_elements(self, elements: Sequence[Element]) -> TensorList:
        """A list of the same kind with other elements."""
        return replace(self, elements=tuple(elements))

    def checked_index(self, index: int, doing: str = "access") -> int:
        """The index, if it is within the list.

        Args:
          index: the index.
          doing: the action, for the message.

        Raises:
          InvalidArgument: the index is out of range.

        """
        if not 0 <= index < len(self.elements):
            raise InvalidArgument(
                f"Trying to {doing} element {index} in a list with {len(self.elements)} elements."
            )
        return index


def added(xp: ArrayModule, one: Any, other: Any) -> Any:
    """The sum of two elements; lists and optional values are added elementwise.

    Raises:
      InvalidArgument: lists differ in dtype or length.

    """
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, Optional):
        return one.joined(other, functools.partial(added, xp))
    if not isinstance(one, TensorList):
        if type(one) is not type(other):  # one of them may be in another memory
            one, other = in_memory_of(xp, one), in_memory_of(xp, other)
        return xp.add(one, other)
    if one.dtype != other.dtype or len(one.elements) != len(other.elements):
        raise InvalidArgument("Trying to add two lists of tensors with different dtypes or lengths")
    pairs = zip(one.elements, other.elements, strict=True)
    return one.with_elements([added(xp, *pair) for pair in pairs])


def zeros_like(xp: ArrayModule, value: Any) -> Any:
    """Zeros of the shape of an element; for lists and optional values elementwise."""
    if isinstance(value, TensorList):
        return value.with_elements([zeros_like(xp, element) for element in value.elements])
    if isinstance(value, Optional):
        return value.mapped(functools.partial(zeros_like, xp))
    return None if value is None else xp.zeros(value.shape, dtype=value.dtype)
