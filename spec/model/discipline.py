"""The discipline of a queue: for how many elements it has room, and which of them comes out next.

Both the queue of the machine (`queues.py`) and the model of overlapping calls (`queue_calls.py`)
take their rules from here. The module needs neither numpy nor protobuf.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["KINDS", "Discipline"]

#: The kinds of queues, by the type of the operation that makes one.
KINDS: Final = {
    "FIFOQueue": "fifo",
    "PaddingFIFOQueue": "padding",
    "PriorityQueue": "priority",
    "RandomShuffleQueue": "shuffle",
}


@dataclass(frozen=True, slots=True)
class Discipline:
    """What decides when elements enter and leave a queue.

    Attributes:
      kind: `fifo`, `padding`, `priority` or `shuffle`.
      capacity: how many elements it has room for; negative for any number (QUEUES-031).
      reserve: how many a shuffling queue keeps while it is open, its `min_after_dequeue`.

    """

    kind: str
    capacity: int
    reserve: int = 0

    @property
    def is_ordered(self) -> bool:
        """Whether elements come out as they went in (QUEUES-001)."""
        return self.kind in {"fifo", "padding"}

    def has_room(self, held: int) -> bool:
        """Whether one more element may enter a queue that holds so many (QUEUES-010, 020)."""
        return self.capacity < 0 or held < self.capacity

    def may_leave(self, held: int, wanted: int, *, is_begun: bool, is_closed: bool) -> bool:
        """Whether one more element may leave.

        A take of several takes them one by one (QUEUES-021), but from a queue by priority all at
        once: an element of a smaller priority may still come while it waits (QUEUES-039). A closed
        queue gives what it kept, too (QUEUES-041, 042).

        Args:
          held: how many elements the queue holds.
          wanted: how many the take still lacks.
          is_begun: whether it has taken elements before.
          is_closed: whether the queue is closed.

        """
        kept = 0 if is_closed else self.reserve
        all_at_once = self.kind == "priority" and not is_begun
        return held - kept >= (wanted if all_at_once else 1)

    def position(self, priorities: Sequence[int], priority: int) -> int:
        """Where an element enters: the number of those that come out before it.

        In a queue by priority behind all whose priority is not greater (QUEUES-036), in others
        behind all.

        Args:
          priorities: those of the elements that the queue holds, in the order in which they stand.
          priority: that of the element.

        """
        if self.kind == "priority":
            return bisect.bisect(priorities, priority)
        return len(priorities)

    def next_positions(self, held: int) -> range:
        """Where the element that comes out next may stand; in a shuffling queue anywhere."""
        return range(held if self.kind == "shuffle" else min(held, 1))
