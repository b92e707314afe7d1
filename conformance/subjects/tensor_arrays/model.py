"""A model of the operations on a TensorArray within a run, which uses no engine.

A refusal carries the clause that demands it.
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
      elements: the elements by index; None for one that was never written.
      grows: whether a write past the end makes it longer.
      clears: whether an element is gone once it was read.
      identical: whether the first element that is written settles the shape of all.
      adds: whether a second write of an element adds to it.
      read: the indices that were read.
      outer: the sizes that elements have before those of the array's of which it is a gradient.
      is_split: whether it was split.
      past_end: the clause that refuses a write past the end.
      misshapen: the clause that refuses an element of another shape.
      origins: for some indices the clause that gives the element there.

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

    def clause_of(self, indices: Iterable[int], otherwise: str) -> str:
        """The clause that gives these elements: the first that is not `otherwise`."""
        for index in indices:
            if 0 <= index < len(self.elements) and self.elements[index] is None:
                return clauses.UNWRITTEN
            if index in self.origins:
                return self.origins[index]
        return otherwise

    def _zeros(self, sizes: tuple[int, ...]) -> np.ndarray:
        return np.zeros(sizes, BY_NAME[self.dtype].numpy)

    def write(self, index: int, value: np.ndarray, origin: str = "") -> None:
        """Write one element; the clause `origin` says what is there then."""
        if index < 0:
            raise Refused(clauses.WRITE_BELOW)
        if index >= len(self.elements) and not self.grows:
            raise Refused(self.past_end)
        merged(self.shape, value.shape, self.misshapen)
        self.elements += [None] * (index + 1 - len(self.elements))
        if self.identical:
            self.shape, self.misshapen = value.shape, clauses.IDENTICAL
        held = self.elements[index]
        if index in self.read:
            raise Refused(clauses.WRITE_READ)
        if held is not None and not self.adds:
            raise Refused(clauses.WRITTEN_TWICE)
        if held is not None:
            if held.shape != value.shape:
                raise Refused(clauses.ADDS_SHAPE)
            value, origin = held + value, clauses.ADDS
        self.elements[index] = value
        if origin:
            self.origins[index] = origin

    def scatter(self, indices: Sequence[int], rows: np.ndarray) -> None:
        """Write each row of a tensor at its index."""
        if len(indices) != len(rows):
            raise Refused(clauses.SCATTER_COUNT)
        for index, row in zip(indices, rows, strict=True):
            self.write(index, np.asarray(row, rows.dtype), clauses.SCATTER)

    def split(self, rows: np.ndarray, lengths: Sequence[int]) -> None:
        """Write pieces of these lengths."""
        if sum(lengths) != len(rows) or not (self.grows or len(lengths) == len(self.elements)):
            raise Refused(clauses.SPLIT)
        self.is_split = True
        ends = np.cumsum(lengths, dtype=int)
        for index, (end, size) in enumerate(zip(ends, lengths, strict=True)):
            self.write(index, rows[end - size : end], clauses.SPLIT)

    def take(self, index: int) -> np.ndarray:
        """Read one element; zeros where none was written, if their shape is known."""
        if not 0 <= index < len(self.elements):
            raise Refused(clauses.OUTSIDE)
        if index in self.read and self.clears:
            raise Refused(clauses.READ_TWICE)
        element = self.elements[index]
        if element is None:
            sizes = sized(self.shape, clauses.UNWRITTEN)
            if self.dtype == "string" and 0 not in sizes:
                raise Refused(clauses.UNWRITTEN_TEXT)
            self.elements[index] = element = self._zeros(sizes)
            self.origins[index] = clauses.UNWRITTEN
        self.read.add(index)
        return element

    def gather(self, indices: Sequence[int], asked: Shape) -> np.ndarray:
        """Read the elements at these indices, stacked along a new axis."""
        self.shape = merged(self.shape, asked, clauses.GATHER_SHAPE)
        if not indices and not is_full(asked):
            raise Refused(clauses.EMPTY_UNKNOWN, 12)
        elements = [self.take(index) for index in indices]
        shape = self.shape
        for element in elements[: 1 if elements and not elements[0].size else None]:
            shape = merged(shape, element.shape, clauses.DIFFERENT)  # none looks past an empty one
        if not elements:
            return self._zeros((0, *sized(shape, clauses.EMPTY_UNKNOWN)))
        return np.stack(elements) if elements[0].size else np.stack([elements[0]] * len(elements))

    def concat(self, asked: Shape) -> tuple[np.ndarray, np.ndarray]:
        """Read all elements, behind each other, and their lengths."""
        if not self.elements:
            if not is_full(asked):
                raise Refused(clauses.EMPTY_UNKNOWN, 12)
            empty = self._zeros((0, *sized(asked, clauses.EMPTY_UNKNOWN)))
            return empty, np.zeros(0, np.int64)
        elements = [self.take(index) for index in range(len(self.elements))]
        rest = asked
        for element in elements:
            if not element.ndim:
                raise Refused(clauses.CONCAT_SHAPES)
            rest = merged(rest, element.shape[1:], clauses.CONCAT_SHAPES)
        return np.concatenate(elements), np.array([len(element) for element in elements], np.int64)

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
        origins = {index: clause for index, held in enumerate(zeros) if held is not None}
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
