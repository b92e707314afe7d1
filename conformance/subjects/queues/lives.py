"""The model of a queue that is used by one run after another: its elements, and what runs get.

The model knows nothing of any engine. An element is a tuple of arrays. The elements of a
RandomShuffleQueue are all alike, so that it does not matter which comes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from sessrun.conformance.subjects.queues.graphs import Component, Terms

__all__ = ["Element", "Life", "batch_of", "draw_element", "draw_terms"]

Element = tuple[np.ndarray, ...]

_DTYPES: Final = (
    "float32",
    "float64",
    "int8",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "bool",
    "complex64",
    "string",
)
_SHAPES: Final[tuple[tuple[int, ...], ...]] = ((), (), (2,), (3, 2), (1,))
_VARYING: Final[tuple[tuple[int | None, ...], ...]] = ((None,), (None, 2), (2, None), (None, None))


def draw_terms(draw: random.Random, shared_name: str) -> Terms:
    """What a queue is like."""
    kind = draw.choice(("fifo", "fifo", "padding", "padding", "priority", "shuffle"))
    capacity = draw.choice((1, 2, 3, 5, 8, 20, -1))
    unknown = kind in {"fifo", "shuffle"} and draw.random() < 0.15
    components = tuple(
        _draw_component(draw, kind, unknown=unknown) for _ in range(draw.choice((1, 1, 1, 2, 3)))
    )
    reserve = 0
    if kind == "shuffle":
        reserve = draw.randint(0, min(3, capacity - 1 if capacity > 0 else 3))
    return Terms(kind, capacity, components, reserve, draw.choice((0, 7)), shared_name)


def _draw_component(draw: random.Random, kind: str, *, unknown: bool) -> Component:
    shapes: Sequence[tuple[int | None, ...]] = _SHAPES
    if kind == "padding" and draw.random() < 0.7:
        shapes = _VARYING
    return draw.choice(_DTYPES), None if unknown else draw.choice(shapes)


def _draw_value(draw: random.Random, component: Component, least: int) -> np.ndarray:
    """An array of the component's shape; sizes that vary are at least `least`."""
    dtype, shape = component
    known = draw.choice(_SHAPES) if shape is None else shape
    whole = [draw.randint(least, 3) if size is None else size for size in known]
    numbers = [draw.randint(0, 9) for _ in range(int(np.prod(whole, dtype=int)))]
    if dtype == "string":
        words = [str(number).encode() * (number % 3) for number in numbers]
        return np.array(words, object).reshape(whole)
    scale = {"f": 0.25, "c": 0.5j}.get(np.dtype(dtype).kind, 1)
    return (np.array(numbers) * scale).astype(dtype).reshape(whole)


def draw_element(
    draw: random.Random, terms: Terms, rank: int | None = None, least: int = 0
) -> Element:
    """An element; of a PriorityQueue with this priority; sizes that vary are at least `least`."""
    first = (np.array(rank, np.int64),) if terms.kind == "priority" else ()
    return (*first, *(_draw_value(draw, component, least) for component in terms.components))


def batch_of(terms: Terms, elements: Sequence[Element]) -> list[np.ndarray]:
    """The elements stacked as rows, padded where their sizes differ; without elements, no rows."""
    batch = []
    for index, (dtype, shape) in enumerate(terms.fed_components):
        kind = object if dtype == "string" else np.dtype(dtype)
        parts = [element[index] for element in elements]
        sizes = [size or 0 for size in shape or ()]
        for part in parts:
            sizes = [max(pair) for pair in zip(part.shape, sizes, strict=True)]
        whole = np.full((len(parts), *sizes), b"" if dtype == "string" else 0, kind)
        for row, part in enumerate(parts):
            inside: tuple[int | slice, ...] = (row, *map(slice, part.shape))
            whole[inside] = part if part.ndim else part[()]
        batch.append(whole)
    return batch


@dataclass(slots=True)
class Life:
    """One queue of one session.

    Attributes:
      terms: what it is like.
      elements: what it holds, those that come out first at the front.
      closed: whether it is closed.
      spoilt: whether its elements are no longer known.
      alike: the one element of a RandomShuffleQueue.
      ranks: the priorities that were given so far.

    """

    terms: Terms
    elements: list[Element] = field(default_factory=list)
    closed: bool = False
    spoilt: bool = False
    alike: Element | None = None
    ranks: set[int] = field(default_factory=set)

    @property
    def room(self) -> int:
        """How many more elements fit in."""
        capacity = 1000 if self.terms.capacity < 0 else self.terms.capacity
        return capacity - len(self.elements)

    @property
    def ready(self) -> int:
        """How many elements can be taken now."""
        kept = 0 if self.closed else self.terms.reserve
        return max(0, len(self.elements) - kept)

    @property
    def in_batches(self) -> bool:
        """Whether several can be taken at once."""
        return all(shape is not None for _, shape in self.terms.components)

    def fresh(self, draw: random.Random, least: int = 0) -> Element:
        """An element to put in; sizes that vary are at least `least`."""
        if self.terms.kind == "shuffle":
            self.alike = self.alike or draw_element(draw, self.terms)
            return self.alike
        if self.terms.kind != "priority":
            return draw_element(draw, self.terms, least=least)
        rank = draw.choice([rank for rank in range(-40, 40) if rank not in self.ranks])
        self.ranks.add(rank)
        return draw_element(draw, self.terms, rank, least)

    def fresh_rows(self, draw: random.Random, count: int) -> list[Element]:
        """Elements that can be put in together: of one size.

        No size is 0: TensorFlow dies of an `enqueue_many` of several elements without numbers.
        """
        first = self.fresh(draw, 1)
        rows = [first]
        while len(rows) < count:
            drawn = self.fresh(draw, 1)
            pairs = zip(drawn, first, strict=True)
            rows.append(tuple(new if new.shape == old.shape else old for new, old in pairs))
        return rows[:count]

    def put(self, elements: Sequence[Element]) -> None:
        """Put elements in."""
        self.elements += elements
        if self.terms.kind == "priority":
            self.elements.sort(key=lambda element: int(element[0]))

    def take(self, count: int) -> list[Element]:
        """Take elements out."""
        taken, self.elements = self.elements[:count], self.elements[count:]
        return taken
