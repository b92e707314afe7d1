"""A history: the calls that threads made on one resource, when, and what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sessrun.spec.model.calls import Call

__all__ = ["Event", "Planned", "shown"]


@dataclass(frozen=True, slots=True)
class Planned(Call):
    """A call that is to be made.

    Attributes:
      timeout_ms: of the run, 0 for none.

    """

    timeout_ms: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """A call that was made.

    Attributes:
      call: the call.
      thread: who made it.
      began: when, in nanoseconds.
      ended: when it was over.
      code: 0, or the code with which it failed.
      result: the elements taken; the size, or 0 and 1 for `closed`, alone.

    """

    call: Planned
    thread: int
    began: int
    ended: int
    code: int = 0
    result: tuple[int, ...] = ()


def shown(events: Sequence[Event]) -> str:
    """The events, one a line, for people."""
    first = min((event.began for event in events), default=0)
    lines = []
    for event in sorted(events, key=lambda event: event.began):
        what = " ".join(map(str, event.call.values)) or str(event.call.count or "")
        answer = f"code {event.code}" if event.code else list(event.result)
        times = f"{(event.began - first) / 1e6:9.3f} to {(event.ended - first) / 1e6:9.3f} ms"
        lines.append(f"{times}  thread {event.thread}: {event.call.action} {what} -> {answer}")
    return "\n".join(lines)
