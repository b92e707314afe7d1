"""A list of tensors as a value: what changes it makes another list."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import in_memory_of
from sessrun.reference.state.optional_values import Optional

__all__ = ["Shape", "TensorList", "added", "merged", "shape_of", "zeros_like"]

Shape = tuple[int | None, ...] | None


@functools.lru_cache(maxsize=256)  # many elements are of one shape
def merged(one: Shape, other: Shape) -> Shape:
    """What two shapes say together.

    Raises:
      InvalidArgument: they contradict each other.

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
    """The shape of an element: that of an array; a value of another kind is a scalar."""
    return tuple(value.shape) if hasattr(value, "ndim") else ()


@dataclass(frozen=True, slots=True)
class TensorList:
    """Elements of one dtype.

    Attributes:
      dtype: the spec name of their dtype.
      shape: what is known of the shape of each.
      elements: arrays, None for one that is not there yet.
      limit: the most elements it may have; any number if negative.

    """

    dtype: str
    shape: Shape
    elements: tuple[Any, ...] = ()
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

    def with_elements(self, elements: Sequence[Any]) -> TensorList:
        """The same with other elements."""
        return replace(self, elements=tuple(elements))

    def place(self, index: int, doing: str = "access") -> int:
        """An index that is within.

        Args:
          index: the index.
          doing: for the message, what is done there.

        Raises:
          InvalidArgument: it is not.

        """
        if not 0 <= index < len(self.elements):
            raise InvalidArgument(
                f"Trying to {doing} element {index} in a list with {len(self.elements)} elements."
            )
        return index


def added(xp: Any, one: Any, other: Any) -> Any:
    """The sum of two elements; of lists and optional values that of each of theirs.

    Raises:
      InvalidArgument: the lists are of other dtypes or lengths.

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


def zeros_like(xp: Any, value: Any) -> Any:
    """Zeros in the shape of an element; of a list a list of them, and so on."""
    if isinstance(value, TensorList):
        return value.with_elements([zeros_like(xp, each) for each in value.elements])
    if isinstance(value, Optional):
        return value.mapped(functools.partial(zeros_like, xp))
    return None if value is None else xp.zeros(value.shape, dtype=value.dtype)
