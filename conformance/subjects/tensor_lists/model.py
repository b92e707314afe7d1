"""A model of the operations on lists of tensors, which uses no engine.

A refusal carries the clause that demands it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sessrun.conformance.generators.single_runs import Refused
from sessrun.conformance.subjects.tensor_lists import clauses
from sessrun.spec.dtypes import BY_NAME

__all__ = ["ListModel", "Shape", "cut", "is_full", "merged", "sized"]

Shape = tuple[int | None, ...] | None


def merged(one: Shape, other: Shape, clause: str) -> Shape:
    """The shape that fulfils both shapes; refused by the clause if they contradict each other."""
    if one is None or other is None:
        return other if one is None else one
    pairs = list(zip(one, other, strict=False))
    if len(one) != len(other) or any(a != b for a, b in pairs if None not in (a, b)):
        raise Refused(clause)
    return tuple(b if a is None else a for a, b in pairs)


def is_full(shape: Shape) -> bool:
    """Whether all of a shape is known."""
    return shape is not None and None not in shape


def cut(rows: np.ndarray, shape: Shape) -> tuple[np.ndarray, ...]:
    """The rows of a tensor, each of which must fit the shape."""
    if not rows.ndim:
        raise Refused(clauses.NO_ROWS)
    merged(shape, rows.shape[1:], clauses.MISSHAPEN)
    return tuple(np.asarray(row, rows.dtype) for row in rows)


def sized(shape: Shape, clause: str) -> tuple[int, ...]:
    """A shape that must be known; refused by the clause if it is not."""
    if shape is None or None in shape:
        raise Refused(clause)
    return tuple(size for size in shape if size is not None)


def _agreeing(shape: Shape, elements: Sequence[np.ndarray | None]) -> Shape:
    for element in elements:
        shape = shape if element is None else merged(shape, element.shape, clauses.DIFFERENT)
    return shape


@dataclass(frozen=True, slots=True)
class ListModel:
    """A list: the output that gives it, what is known of its elements' shape, and these.

    Attributes:
      dtype: the dtype of its elements.
      shape: what is known of the shape of each element.
      elements: the elements; None for one that is not there.
      limit: the most that may be pushed; any number if negative.
      output: the output of its node.

    """

    dtype: str
    shape: Shape
    elements: tuple[np.ndarray | None, ...] = ()
    limit: int = -1
    output: str = ""

    def _zeros(self, shape: tuple[int, ...]) -> np.ndarray:
        return np.full(shape, b"" if self.dtype == "string" else 0, BY_NAME[self.dtype].numpy)

    def pushed(self, value: np.ndarray) -> ListModel:
        """The list with one element more."""
        merged(self.shape, value.shape, clauses.MISSHAPEN)
        if 0 <= self.limit <= len(self.elements):
            raise Refused(clauses.TOO_MANY)
        return replace(self, elements=(*self.elements, value))

    def put(self, index: int, value: np.ndarray, *, grows: bool) -> ListModel:
        """The list with `value` as the element at an index."""
        elements = list(self.elements)
        if grows:
            elements += [None] * (index + 1 - len(elements))
        if not 0 <= index < len(elements):
            raise Refused(clauses.SET_OUTSIDE)
        merged(self.shape, value.shape, clauses.MISSHAPEN)
        elements[index] = value
        return replace(self, elements=tuple(elements))

    def resized(self, count: int) -> ListModel:
        """The first elements of the list, or all and some that are not there."""
        if count < 0:
            raise Refused(clauses.NEGATIVE_SIZE)
        more = (None,) * (count - len(self.elements))
        return replace(self, elements=(*self.elements[:count], *more))

    def scattered(self, indices: Sequence[int], rows: np.ndarray) -> ListModel:
        """The list with the rows of a tensor as the elements at these indices."""
        if not rows.ndim:
            raise Refused(clauses.NO_ROWS)
        if len(indices) != len(rows):
            raise Refused(clauses.SCATTER_COUNT)
        if min(indices, default=0) < 0:
            raise Refused(clauses.SCATTER_BELOW)
        length = max(len(self.elements), max(indices, default=-1) + 1)
        elements = [*self.elements, *[None] * (length - len(self.elements))]
        for index, row in zip(indices, cut(rows, self.shape), strict=True):
            elements[index] = row
        return replace(self, elements=tuple(elements))

    def with_others(self, other: ListModel) -> ListModel:
        """The list with the elements of another one of the same shape after its own."""
        if self.shape != other.shape:
            raise Refused(clauses.APPEND_SHAPES)
        return replace(self, elements=self.elements + other.elements)

    def last(self, asked: Shape) -> np.ndarray:
        """The last element; zeros of the shape of all where it is not there."""
        if not self.elements:
            raise Refused(clauses.POP_EMPTY)
        element = self.elements[-1]
        if element is not None:
            return element
        known = merged(self.shape, asked, clauses.ASKED_SHAPE)
        return self._zeros(sized(known, clauses.UNKNOWN_SHAPE))

    def element(self, index: int, asked: Shape) -> np.ndarray:
        """An element; zeros for one that is not there, if their shape is known."""
        if not 0 <= index < len(self.elements):
            raise Refused(clauses.GET_OUTSIDE)
        element = self.elements[index]
        if element is not None:
            return element
        known = merged(self.shape, asked, clauses.ASKED_SHAPE)
        shape = known if is_full(known) else _agreeing(known, self.elements)
        return self._zeros(sized(shape, clauses.UNKNOWN_SHAPE))

    def packed(self, indices: Sequence[int], asked: Shape) -> np.ndarray:
        """The elements at these indices, stacked along a new axis."""
        if any(not 0 <= index < len(self.elements) for index in indices):
            raise Refused(clauses.GATHER_OUTSIDE)
        known = merged(self.shape, asked, clauses.ASKED_SHAPE)
        picked = [self.elements[index] for index in indices]
        sizes = sized(_agreeing(known, picked), clauses.UNKNOWN_SHAPE)
        values = [self._zeros(sizes) if element is None else element for element in picked]
        return np.stack(values) if values else self._zeros((0, *sizes))

    def joined(self, known: Shape, leading: Sequence[int]) -> list[np.ndarray]:
        """The elements behind each other, and their lengths; `leading` of those not there."""
        if known == ():
            raise Refused(clauses.CONCAT_SHAPES)
        first, rest = (None, None) if known is None else (known[0], known[1:])
        if not self.elements:
            sized(rest, clauses.UNKNOWN_SHAPE)
        if not is_full(self.shape):
            first, rest = self._sizes_of_elements(first, rest)
        sizes, parts = sized(rest, clauses.UNKNOWN_SHAPE), []
        for index, element in enumerate(self.elements):
            count = leading[index] if index < len(leading) else first
            if element is None:
                element = self._zeros((*sized((count,), clauses.UNKNOWN_SHAPE), *sizes))  # noqa: PLW2901
            parts.append(element)
        lengths = np.array([len(part) for part in parts], np.int64)
        return [np.concatenate(parts) if parts else self._zeros((0, *sizes)), lengths]

    def _sizes_of_elements(self, first: int | None, rest: Shape) -> tuple[int | None, Shape]:
        """What the elements tell of each one's length, if it is one, and of its other sizes."""
        there = [element for element in self.elements if element is not None]
        if any(not element.ndim or first not in (None, len(element)) for element in there):
            raise Refused(clauses.CONCAT_SHAPES)
        for element in there:
            rest = merged(rest, element.shape[1:], clauses.CONCAT_SHAPES)
        if first is None and len({len(element) for element in there}) == 1:
            first = len(there[0])
        return first, rest
