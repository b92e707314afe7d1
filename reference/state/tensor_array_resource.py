"""TensorArrays: elements that are written once, and the arrays of their gradients.

The handle tensor holds the array itself, so that it ends with the run that made it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError
from sessrun.reference.graph.node_summary import bracketed

__all__ = ["ElementArray", "Shape", "fits"]

Shape = tuple[int | None, ...] | None

#: The states of an element; a read one may still hold its value, and is not written again.
_EMPTY, _WRITTEN, _READ, _CLEARED = range(4)
#: The value of an element that was never written, but whose shape is known.
_ZEROS: Final = object()


class _Element:
    """One element: its state, its value (`_ZEROS`, or None before there is one), its shape."""

    __slots__ = ("shape", "state", "value")

    def __init__(self) -> None:
        self.state = _EMPTY
        self.value: Any = None
        self.shape: tuple[int, ...] = ()


class ElementArray:
    """An array of tensors of one dtype.

    Args:
      name: for messages.
      dtype: the spec name of the elements' dtype.
      size: how many elements it has at first.
      element_shape: the static shape of an element.
      grows: whether a write past its end makes it longer.
      clears: whether an element is deleted once it was read.
      identical: whether all elements have the shape of the first one that is written.
      adds: whether a second write of an element adds to it.

    """

    def __init__(
        self,
        name: str,
        dtype: str,
        size: int,
        element_shape: Shape,
        *,
        grows: bool = False,
        clears: bool = True,
        identical: bool = False,
        adds: bool = False,
    ) -> None:
        self.name = name
        self.dtype = dtype
        self.element_shape = element_shape
        self._grows, self._clears, self._identical, self._adds = grows, clears, identical, adds
        self._has_added = False
        self._is_closed = False
        self._elements = [_Element() for _ in range(size)]
        self._gradients: dict[str, ElementArray] = {}
        self._joined: int | None = None
        self._lock = threading.RLock()

    @property
    def grows(self) -> bool:
        """Whether a write past its end makes it longer."""
        return self._grows

    def size(self) -> int:
        """How many elements it has.

        Raises:
          InvalidArgument: the array is closed; raised by all methods below but `close`, too.

        """
        with self._lock:
            self._check_open()
            return len(self._elements)

    def joined_size(self) -> int:
        """How many elements are concatenated: for gradients as many as the array was split into."""
        with self._lock:
            return self.size() if self._joined is None or not self._adds else self._joined

    def split_into(self, count: int) -> None:
        """Note that a split writes `count` elements; later ones are written one by one."""
        with self._lock:
            if not self._adds:
                self._joined = count

    def close(self) -> None:
        """Delete the elements; the array cannot be used any more."""
        with self._lock:
            self._elements.clear()
            self._is_closed = True

    def settle_shape(self, shape: Shape) -> None:
        """Narrow the static shape of the elements.

        Raises:
          InvalidArgument: no shape is compatible with both.

        """
        with self._lock:
            if not _agree(self.element_shape, shape):
                raise self._refused(
                    f"the element shape is {bracketed(self.element_shape)}, not {bracketed(shape)}"
                )
            self.element_shape = _merged(self.element_shape, shape)

    def write(
        self, values: Sequence[tuple[int, Array]], add: Callable[[Array, Array], Array]
    ) -> None:
        """Write elements; those before one that is refused stay written.

        Args:
          values: pairs of an index and the array for it.
          add: adds two arrays.

        Raises:
          InvalidArgument: for an index out of range, an incompatible shape, an element that was
            read, or that was written before in an array that does not add.

        """
        with self._lock:
            self._check_open()
            for index, value in values:
                self._write(index, value, add)

    def read(self, indices: Sequence[int], zeros: Callable[[Sequence[int]], Array]) -> list[Array]:
        """The elements; zeros for one that was not written, if the shape of the elements is known.

        Args:
          indices: the indices of the elements.
          zeros: makes an array of zeros of a shape.

        Raises:
          InvalidArgument: for an index out of range, an element that was deleted, or one that was
            never written and whose shape is not known.

        """
        with self._lock:
            self._check_open()
            return [self._read(index, zeros) for index in indices]

    def gradient(self, source: str, outer: tuple[int, ...] = ()) -> ElementArray:
        """The array of the gradients of a source; it is made at the first call, and fixes the size.

        Args:
          source: the name scope of the gradients.
          outer: dimensions that are put before those of an element's shape.

        Raises:
          InvalidArgument: this is an array of gradients, in which two were added.

        """
        with self._lock:
            if self._has_added:
                raise self._refused("it has no gradients, since writes to it were added up")
            self._grows = False
            size = self.size()
            array = self._gradients.get(source)
            if array is None:
                shape = None if self.element_shape is None else (*outer, *self.element_shape)
                array = self._gradients[source] = ElementArray(
                    f"{self.name}@{source}",
                    self.dtype,
                    size,
                    shape,
                    adds=True,
                    identical=self._identical,
                )
                array._take_shapes(self._elements, outer)
                array._joined = self._joined
            return array

    def _take_shapes(self, elements: Sequence[_Element], outer: tuple[int, ...]) -> None:
        for own, other in zip(self._elements, elements, strict=True):
            if other.state != _EMPTY:
                own.state, own.value, own.shape = _WRITTEN, _ZEROS, (*outer, *other.shape)

    def _write(self, index: int, value: Array, add: Callable[[Array, Array], Array]) -> None:
        count = len(self._elements)
        if index < 0 or (index >= count and not self._grows):
            raise self._refused(
                f"Tried to write to index {index} but array is not resizeable and size is: {count}"
            )
        if value.shape != self.element_shape and not fits(value.shape, self.element_shape):
            raise self._refused(
                f"Could not write to TensorArray index {index}: the value's shape is "
                f"{bracketed(value.shape)}, which is incompatible with the element shape "
                f"{bracketed(self.element_shape)} (consider setting infer_shape=False)"
            )
        if index >= count:
            self._elements.extend(_Element() for _ in range(count, index + 1))
        if self._identical:
            self.element_shape = tuple(value.shape)
        element = self._elements[index]
        if element.state > _WRITTEN:
            raise self._refused(
                f"Could not write to TensorArray index {index} because it has already been read."
            )
        if element.state == _WRITTEN:
            value = self._added(index, element, value, add)
        element.state, element.value, element.shape = _WRITTEN, value, tuple(value.shape)

    def _added(
        self, index: int, element: _Element, value: Array, add: Callable[[Array, Array], Array]
    ) -> Array:
        if not self._adds:
            raise self._refused(
                f"Could not write to TensorArray index {index} because it has "
                "already been written to."
            )
        if tuple(value.shape) != element.shape:
            raise self._refused(
                f"Could not aggregate to TensorArray index {index} because the existing shape is "
                f"{bracketed(element.shape)} but the new input shape is {bracketed(value.shape)}"
            )
        if element.value is _ZEROS:
            return value
        self._has_added = True
        return add(element.value, value)

    def _read(self, index: int, zeros: Callable[[Sequence[int]], Array]) -> Array:
        if not 0 <= index < len(self._elements):
            raise self._refused(
                f"Tried to read from index {index} but array size is: {len(self._elements)}"
            )
        element = self._elements[index]
        if element.state == _CLEARED:
            raise self._refused(
                f"Could not read index {index} twice because it was cleared after a previous read "
                "(perhaps try setting clear_after_read = false?)"
            )
        if element.state == _EMPTY:
            shape = self.element_shape
            if shape is None or None in shape:
                raise self._refused(
                    f"Could not read from TensorArray index {index}: it was never written, and the "
                    f"element shape is not fully defined: {bracketed(shape)}"
                )
            element.value = _ZEROS
            element.shape = tuple(size for size in shape if size is not None)
        if element.value is _ZEROS:
            element.value = zeros(element.shape)
        value: Array = element.value
        element.state = _READ
        if self._clears:
            element.state, element.value = _CLEARED, None
        return value

    def _check_open(self) -> None:
        if self._is_closed:
            raise self._refused("it is closed")

    def _refused(self, message: str) -> KernelError:
        return InvalidArgument(f"TensorArray {self.name}: {message}")


def fits(shape: Sequence[int], wanted: Shape) -> bool:
    """Whether a shape is compatible with a static shape."""
    return wanted is None or (
        len(shape) == len(wanted)
        and all(want in {None, have} for have, want in zip(shape, wanted, strict=True))
    )


def _agree(first: Shape, second: Shape) -> bool:
    return (
        first is None
        or second is None
        or (
            len(first) == len(second)
            and all(a is None or b is None or a == b for a, b in zip(first, second, strict=True))
        )
    )


def _merged(first: Shape, second: Shape) -> Shape:
    if first is None or second is None:
        return second if first is None else first
    return tuple(b if a is None else a for a, b in zip(first, second, strict=True))
