"""A queue that is used by one run after another: its elements are drawn, its model is the spec's.

An element is a tuple of arrays. The elements of a RandomShuffleQueue are all alike, so that it does
not matter which comes.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence
from typing import Final

import numpy as np

from sessrun.conformance.subjects.queues.graphs import Component, Terms
from sessrun.spec.model.discipline import Discipline
from sessrun.spec.model.queues import Element, Queue, batch
from sessrun.spec.model.values import WaitsError

__all__ = ["Life", "batch_of", "draw_element", "draw_terms"]

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
    """The elements as rows, component by component."""
    return [
        batch([element[index] for element in elements], shape, dtype)
        for index, (dtype, shape) in enumerate(terms.fed_components)
    ]


class Life:
    """One queue of one session.

    Args:
      terms: what it is like.

    Attributes:
      terms: see above.
      queue: the queue of the model.

    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        dtypes, shapes = zip(*terms.fed_components, strict=True)
        discipline = Discipline(terms.kind, terms.capacity, terms.reserve)
        self.queue = Queue(discipline, dtypes, shapes)
        #: The one element of a RandomShuffleQueue.
        self._alike: Element | None = None
        #: The priorities that were given so far.
        self._ranks: set[int] = set()

    @property
    def room(self) -> int:
        """How many more elements fit in."""
        capacity = 1000 if self.terms.capacity < 0 else self.terms.capacity
        return capacity - len(self.queue.elements)

    @property
    def ready(self) -> int:
        """How many elements can be taken now."""
        kept = 0 if self.queue.is_closed else self.terms.reserve
        return max(0, len(self.queue.elements) - kept)

    @property
    def in_batches(self) -> bool:
        """Whether several can be taken at once."""
        return None not in self.queue.shapes

    def fresh(self, draw: random.Random, least: int = 0) -> Element:
        """An element to put in; sizes that vary are at least `least`."""
        if self.terms.kind == "shuffle":
            self._alike = self._alike or draw_element(draw, self.terms)
            return self._alike
        if self.terms.kind != "priority":
            return draw_element(draw, self.terms, least=least)
        rank = draw.choice([rank for rank in range(-40, 40) if rank not in self._ranks])
        self._ranks.add(rank)
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

    def exchange(self, elements: Sequence[Element], count: int) -> list[Element]:
        """Take elements while others that have no room yet wait to be put in."""
        left, taken = list(elements), list[Element]()
        while True:
            with contextlib.suppress(WaitsError):
                self.queue.put(left)
            with contextlib.suppress(WaitsError):
                self.queue.take(taken, count)
            if not left and len(taken) == count:
                return taken
