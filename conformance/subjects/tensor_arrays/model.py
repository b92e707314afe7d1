"""What operations on a TensorArray give within a run, as a model says: no engine is asked.

What an array refuses it refuses by the clause that says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from sessrun.conformance.generators.single_runs import Refused
from sessrun.conformance.subjects.tensor_arrays import clauses
from sessrun.conformance.subjects.tensor_lists.model import Shape, is_full, merged, sized
from sessrun.spec.dtypes import BY_NAME

__all__ = ["ArrayModel"]


@dataclass(slots=True)
class ArrayModel:
    """An array as the model has it.

    Attributes:
      handle: the output of its node that is the handle.
      flow: the output that gives the flow.
      dtype: the dtype of its elements.
      shape: what is known of the shape of each element.
      elements: the elements by place; None for one that was never written.
      grows: whether a write past the end makes it longer.
      clears: whether an element is gone once it was read.
      identical: whether the first element that is written settles the shape of all.
      adds: whether a second write of an element adds to it.
      read: the places that were read.
      outer: the sizes that elements have before those of the array's of which it is a gradient.
      is_split: whether it was split.
      past_end: the clause that refuses a write past the end.
      misshapen: the clause that refuses an element of another shape.
      origins: for some places the clause that says what is there.

    """

    handle: str
    flow: str
    dtype: str
    shape: Shape
    elements: list[np.ndarray | None]
    grows: bool = False
    clears: bool = True
    identical: bool = False
    adds: bool = False
    read: set[int] = field(default_factory=set)
    outer: tuple[int, ...] = ()
    is_split: bool = False
    past_end: str = clauses.PAST_END
    misshapen: str = clauses.MISSHAPEN
    origins: dict[int, str] = field(default_factory=dict)

    def clause_of(self, places: Iterable[int], otherwise: str) -> str:
        """The clause that says what is at these places: the first that is not `otherwise`."""
        for place in places:
            if 0 <= place < len(self.elements) and self.elements[place] is None:
                return clauses.UNWRITTEN
            if place in self.origins:
                return self.origins[place]
        return otherwise

    def _zeros(self, sizes: tuple[int, ...]) -> np.ndarray:
        return np.zeros(sizes, BY_NAME[self.dtype].numpy)

    def write(self, place: int, value: np.ndarray, origin: str = "") -> None:
        """Write one element; the clause `origin` says what is there then."""
        if place < 0:
            raise Refused(clauses.WRITE_BELOW)
        if place >= len(self.elements) and not self.grows:
            raise Refused(self.past_end)
        merged(self.shape, value.shape, self.misshapen)
        self.elements += [None] * (place + 1 - len(self.elements))
        if self.identical:
            self.shape, self.misshapen = value.shape, clauses.IDENTICAL
        held = self.elements[place]
        if place in self.read:
            raise Refused(clauses.WRITE_READ)
        if held is not None and not self.adds:
            raise Refused(clauses.WRITTEN_TWICE)
        if held is not None:
            if held.shape != value.shape:
                raise Refused(clauses.ADDS_SHAPE)
            value, origin = held + value, clauses.ADDS
        self.elements[place] = value
        if origin:
            self.origins[place] = origin

    def scatter(self, places: Sequence[int], rows: np.ndarray) -> None:
        """Write rows at places."""
        if len(places) != len(rows):
            raise Refused(clauses.SCATTER_COUNT)
        for place, row in zip(places, rows, strict=True):
            self.write(place, np.asarray(row, rows.dtype), clauses.SCATTER)

    def split(self, rows: np.ndarray, lengths: Sequence[int]) -> None:
        """Write pieces of these lengths."""
        if sum(lengths) != len(rows) or not (self.grows or len(lengths) == len(self.elements)):
            raise Refused(clauses.SPLIT)
        self.is_split = True
        ends = np.cumsum(lengths, dtype=int)
        for place, (end, size) in enumerate(zip(ends, lengths, strict=True)):
            self.write(place, rows[end - size : end], clauses.SPLIT)

    def take(self, place: int) -> np.ndarray:
        """Read one element; zeros where none was written, if their shape is known."""
        if not 0 <= place < len(self.elements):
            raise Refused(clauses.OUTSIDE)
        if place in self.read and self.clears:
            raise Refused(clauses.READ_TWICE)
        found = self.elements[place]
        if found is None:
            sizes = sized(self.shape, clauses.UNWRITTEN)
            if self.dtype == "string" and 0 not in sizes:
                raise Refused(clauses.UNWRITTEN_TEXT)
            self.elements[place] = found = self._zeros(sizes)
            self.origins[place] = clauses.UNWRITTEN
        self.read.add(place)
        return found

    def gather(self, places: Sequence[int], asked: Shape) -> np.ndarray:
        """Read the elements at some places, along a new axis."""
        self.shape = merged(self.shape, asked, clauses.GATHER_SHAPE)
        if not places and not is_full(asked):
            raise Refused(clauses.EMPTY_UNKNOWN, 12)
        found = [self.take(place) for place in places]
        shape = self.shape
        for each in found[: 1 if found and not found[0].size else None]:
            shape = merged(shape, each.shape, clauses.DIFFERENT)  # none looks past an empty one
        if not found:
            return self._zeros((0, *sized(shape, clauses.EMPTY_UNKNOWN)))
        return np.stack(found) if found[0].size else np.stack([found[0]] * len(found))

    def concat(self, asked: Shape) -> tuple[np.ndarray, np.ndarray]:
        """Read all elements, behind each other, and their lengths."""
        if not self.elements:
            if not is_full(asked):
                raise Refused(clauses.EMPTY_UNKNOWN, 12)
            empty = self._zeros((0, *sized(asked, clauses.EMPTY_UNKNOWN)))
            return empty, np.zeros(0, np.int64)
        found = [self.take(place) for place in range(len(self.elements))]
        rest = asked
        for each in found:
            if not each.ndim:
                raise Refused(clauses.CONCAT_SHAPES)
            rest = merged(rest, each.shape[1:], clauses.CONCAT_SHAPES)
        return np.concatenate(found), np.array([len(each) for each in found], np.int64)

    def gradients(self, handle: str, flow: str, outer: tuple[int, ...]) -> ArrayModel:
        """The array of its gradients, whose elements have the sizes `outer` in front."""
        if self.grows:
            self.grows, self.past_end = False, clauses.GRADIENT_FIXED
        zeros = [
            None if held is None else np.zeros((*outer, *held.shape), held.dtype)
            for held in self.elements
        ]
        shape = None if self.shape is None else (*outer, *self.shape)
        clause = clauses.GRADIENT_SHAPE if outer else clauses.GRADIENT_ZERO
        origins = {place: clause for place, held in enumerate(zeros) if held is not None}
        return ArrayModel(
            handle,
            flow,
            self.dtype,
            shape,
            zeros,
            identical=self.identical,
            adds=True,
            outer=outer,
            origins=origins,
        )
