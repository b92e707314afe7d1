"""Slices of tensors as checkpoints and the operations on them write them.

A slice says for each dimension where it begins and how long it is, or that it takes all of it. As
text: `0,3:-`; after the shape of the whole tensor, as variables in parts are saved: `5 2 0,3:0,2`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["SliceError", "TensorSlice", "read_spec"]

_PAIR: Final = re.compile(r"([+-]?\d+),([+-]?\d+)", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?\d+", re.ASCII)


class SliceError(ValueError):
    """A text is no slice, or a slice is not in its tensor; `is_outside` says which."""

    def __init__(self, message: str, *, is_outside: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.is_outside = is_outside


@dataclass(frozen=True, slots=True)
class TensorSlice:
    """A part of a tensor.

    Attributes:
      extents: for each dimension where it begins and its length, or None for all of it.

    """

    extents: tuple[tuple[int, int] | None, ...]

    @classmethod
    def of_text(cls, text: str) -> TensorSlice:
        """The slice that is written so.

        Raises:
          SliceError: none is.

        """
        return cls(tuple(_extent(part, text) for part in text.split(":") if text))

    def __str__(self) -> str:
        parts = ("-" if extent is None else f"{extent[0]},{extent[1]}" for extent in self.extents)
        return ":".join(parts)

    def bounds(self, shape: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """For each dimension where it begins and where it ends.

        Raises:
          SliceError: it is no part of a tensor of that shape.

        """
        shown = f"shape = [{','.join(map(str, shape))}], slice = {self}"
        if len(shape) != len(self.extents):
            raise SliceError(f"Mismatching ranks: {shown}", is_outside=True)
        intervals = []
        for axis, (size, extent) in enumerate(zip(shape, self.extents, strict=True)):
            start, length = extent or (0, size)
            if start + length > size:
                raise SliceError(
                    f"Extent in dimension {axis} out of bounds: {shown}", is_outside=True
                )
            intervals.append((start, start + length))
        return tuple(intervals)


def _extent(part: str, text: str) -> tuple[int, int] | None:
    if part == "-":
        return None
    match = _PAIR.fullmatch(part)
    if match is None:
        raise SliceError(f"Expected a pair of numbers or '-' but got '{part}': string = {text}")
    start, length = int(match[1]), int(match[2])
    if start < 0 or length <= 0:
        raise SliceError(
            "Expected non-negative start and positive length but got start = "
            f"{start}, length = {length}: string = {text}"
        )
    return start, length


def read_spec(text: str) -> tuple[tuple[int, ...], TensorSlice, tuple[int, ...]]:
    """The whole tensor's shape, the slice and the slice's shape, from the text of the first two.

    Raises:
      SliceError: it is no such text, or the slice is not in the shape.

    """
    *dims, last = text.split(" ")
    if not dims:
        raise SliceError(f"Need least two elements in shape_and_slice specification: {text}")
    if not all(_NUMBER.fullmatch(dim) for dim in dims):
        raise SliceError(f"Non numerical dimension in shape_and_slice: {text}")
    shape = tuple(map(int, dims))
    part = TensorSlice.of_text(last)
    return shape, part, tuple(end - start for start, end in part.bounds(shape))
