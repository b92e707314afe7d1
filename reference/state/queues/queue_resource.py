"""The resources of queues: elements, waiting enqueues and dequeues, closing.

An element is a tuple of arrays, one for each component. Waiting enqueues are served in the order of
their calls, and so are waiting dequeues (`Queue._serve`). An `enqueue_many` adds elements as room
appears, a `dequeue_many` takes elements as they come; a close that does not cancel waits its turn
among the enqueues.
Clauses: QUEUES.
"""

from __future__ import annotations

import heapq
import threading
from abc import abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import Cancelled, OutOfRange
from sessrun.reference.state.attempts import DONE, Attempt

__all__ = ["Element", "FifoStore", "PriorityStore", "Queue", "QueueTerms", "ShuffleStore", "Store"]

Element = tuple[Array, ...]


class Store(Protocol):
    """The elements of a queue.

    Attributes:
      reserve: how many elements must stay in the queue while it is open.
      at_once: whether several elements are taken only when there are enough for all.

    """

    reserve: int
    at_once: bool

    def __len__(self) -> int:
        """The number of elements."""

    def put(self, element: Element, /) -> None:
        """Add an element."""

    def take(self) -> Element:
        """Remove and return the next element."""

    def put_back(self, elements: Sequence[Element], /) -> None:
        """Return elements that were taken."""


class FifoStore(deque[Element]):
    """Elements in the order in which they came: a deque, whose methods take no time of Python's."""

    reserve = 0
    at_once = False
    put = deque[Element].append
    take = deque[Element].popleft

    def put_back(self, elements: Sequence[Element]) -> None:
        """Return elements that were taken, to be the next ones, in this order."""
        self.extendleft(reversed(elements))


class PriorityStore:
    """Elements by their first component, the smallest first; equal ones as they came."""

    reserve = 0
    at_once = True

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Element]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._heap)

    def put(self, element: Element) -> None:
        """Add an element."""
        self._count += 1
        heapq.heappush(self._heap, (int(element[0]), self._count, element))

    def take(self) -> Element:
        """Remove and return the element of the smallest priority."""
        return heapq.heappop(self._heap)[2]

    def put_back(self, elements: Sequence[Element]) -> None:
        """Return elements; since they are taken at once or not at all, there are none."""
        for element in elements:
            self.put(element)


class ShuffleStore:
    """Elements in random order, of which `reserve` stay in the queue.

    One is chosen at a time, in Python: many at once take three times TensorFlow's time.

    Args:
      reserve: how many elements stay.
      words: random numbers, far larger than the number of elements; a choice takes one.

    """

    at_once = False

    def __init__(self, reserve: int, words: Iterator[int]) -> None:
        self.reserve = reserve
        self._items: list[Element] = []
        self._words = words

    def __len__(self) -> int:
        return len(self._items)

    def put(self, element: Element) -> None:
        """Add an element."""
        self._items.append(element)

    def take(self) -> Element:
        """Remove and return a random element."""
        index = next(self._words) % len(self._items)
        self._items[index], self._items[-1] = self._items[-1], self._items[index]
        return self._items.pop()

    def put_back(self, elements: Sequence[Element]) -> None:
        """Return elements that were taken."""
        self._items.extend(elements)


class _QueueAttempt(Attempt):
    """An attempt that a queue serves in turn."""

    __slots__ = ()

    @abstractmethod
    def advance(self, queue: Queue) -> bool:
        """Do what can be done now; return whether anything was done."""

    @abstractmethod
    def undo(self, queue: Queue) -> None:
        """Undo the part of a withdrawn attempt that has been done."""


class _Enqueue(_QueueAttempt):
    """Adds elements, in order, as there is room."""

    __slots__ = ("left",)

    def __init__(self, queue: Queue, elements: Sequence[Element]) -> None:
        super().__init__(queue)
        self.left = deque(elements)

    def advance(self, queue: Queue) -> bool:
        """Move the elements that can be moved now; return whether any was."""
        if self.left and queue.closed:
            self.fail(Cancelled(f"{queue.title} is closed."))
            return True
        moved = False
        while self.left and len(queue.store) < queue.capacity:
            queue.store.put(self.left.popleft())
            moved = True
        if not self.left:
            self.succeed()
        return moved or self.is_over

    def undo(self, _: Queue) -> None:
        """Do nothing: elements that were put in stay."""


class _Close(_QueueAttempt):
    """Closes the queue once the enqueues before it are over."""

    __slots__ = ()

    def advance(self, queue: Queue) -> bool:
        """Close it; closing twice fails."""
        if queue.closed:
            self.fail(Cancelled(f"{queue.title} is already closed."))
        else:
            queue.closed = True
            self.succeed()
        return True

    def undo(self, _: Queue) -> None:
        """Do nothing: a close that waits has changed nothing."""


class _Dequeue(_QueueAttempt):
    """Takes elements as they come.

    Attributes:
      wanted: how many elements.
      few: whether fewer are enough of a closed queue, if it has any.
      taken: the elements taken so far.

    """

    __slots__ = ("few", "taken", "wanted")

    def __init__(self, queue: Queue, wanted: int, *, few: bool) -> None:
        super().__init__(queue)
        self.wanted = wanted
        self.few = few
        self.taken: list[Element] = []

    def advance(self, queue: Queue) -> bool:
        """Move the elements that can be moved now; return whether any was."""
        left = self.wanted - len(self.taken)
        size = len(queue.store)
        if queue.closed and size < left:
            if not self.few or size + len(self.taken) == 0:
                self.undo(queue)
                self.fail(
                    OutOfRange(
                        f"{queue.title} is closed and has insufficient elements (requested "
                        f"{self.wanted}, current size {size})"
                    )
                )
                return True
            left = size
        reserve = 0 if queue.closed else queue.store.reserve
        count = max(0, min(left, size - reserve))
        if queue.store.at_once and count < left:
            return False
        self.taken += [queue.store.take() for _ in range(count)]
        if count == left:
            self.succeed(self.taken)
        return count > 0 or self.is_over

    def undo(self, queue: Queue) -> None:
        """Return the elements that were taken."""
        queue.store.put_back(self.taken)
        self.taken = []


class QueueTerms(NamedTuple):
    """What nodes of one queue must agree on.

    Attributes:
      op_type: the op type of the nodes.
      capacity: how many elements fit in.
      reserve: how many elements stay behind while the queue is open, None if it keeps none.
      seeds: both seeds of a shuffling queue; (0, 0) agrees with any.
      types: the spec names of the components' dtypes.
      shapes: the shapes of the components; empty if they may have any.

    """

    op_type: str
    capacity: int
    reserve: int | None
    seeds: tuple[int, int]
    types: tuple[str, ...]
    shapes: tuple[tuple[int | None, ...] | None, ...]


class Queue:
    """A queue; safe for threads.

    Args:
      kind: the word for messages: FIFOQueue, PaddingFIFOQueue, ...
      name: its name, for messages.
      store: holds the elements.
      capacity: how many elements fit in.
      terms: what nodes of this queue must agree on.

    Attributes:
      closed: whether it accepts no more elements.

    """

    #: A handle is a scalar, to operations that stack or choose among handles.
    shape: Final = ()
    ndim: Final = 0

    def __init__(
        self, kind: str, name: str, store: Store, capacity: int, terms: QueueTerms
    ) -> None:
        self.kind = kind
        self.title = f"{kind} '{name}'"
        self.store = store
        self.capacity = capacity
        self.terms = terms
        self.closed = False
        self._enqueues: deque[_QueueAttempt] = deque()
        self._dequeues: deque[_QueueAttempt] = deque()
        self._lock = threading.RLock()

    def __len__(self) -> int:
        with self._lock:
            return len(self.store)

    def enqueue(self, elements: Sequence[Element]) -> Attempt:
        """Add elements, in this order."""
        with self._lock:
            is_idle = not (self._enqueues or self._dequeues or self.closed)
            if is_idle and len(elements) == 1 and len(self.store) < self.capacity:
                self.store.put(elements[0])
                return DONE
        return self._served(_Enqueue(self, elements), self._enqueues)

    def dequeue(self, count: int, *, few: bool = False) -> Attempt:
        """Take `count` elements; with `few` a closed queue may have fewer."""
        with self._lock:
            is_idle = not (self._enqueues or self._dequeues or self.closed)
            if is_idle and count == 1 and len(self.store) > self.store.reserve:
                return Attempt(self, [self.store.take()], True)
        return self._served(_Dequeue(self, count, few=few), self._dequeues)

    def close(self, *, cancel: bool) -> Attempt:
        """Close the queue after the waiting enqueues, or at once, which cancels them."""
        if not cancel:
            return self._served(_Close(self), self._enqueues)
        attempt = Attempt(self)
        with self._lock:
            self.closed = True
            for waiting in self._enqueues:
                waiting.fail(Cancelled(f"{self.title}: the enqueue was cancelled by a close."))
            self._enqueues.clear()
            attempt.succeed()
            self._serve()
        return attempt

    def withdraw(self, attempt: Attempt) -> None:
        """Forget an attempt that is not over; what it took is returned, what it put in stays."""
        with self._lock:
            for waiting in (self._enqueues, self._dequeues):
                if isinstance(attempt, _QueueAttempt) and attempt in waiting:
                    waiting.remove(attempt)
                    attempt.undo(self)
            self._serve()

    def _served(self, attempt: _QueueAttempt, waiting: deque[_QueueAttempt]) -> Attempt:
        """Add an attempt to those that wait, and serve what can be served."""
        with self._lock:
            waiting.append(attempt)
            self._serve()
        return attempt

    def _serve(self) -> None:
        """Serve attempts in order until nothing moves."""
        moved = True
        while moved and (self._enqueues or self._dequeues):
            moved = self._advance(self._enqueues) | self._advance(self._dequeues)

    def _advance(self, waiting: deque[_QueueAttempt]) -> bool:
        moved = False
        while waiting:
            moved |= waiting[0].advance(self)
            if not waiting[0].is_over:
                break
            waiting.popleft()
        return moved
