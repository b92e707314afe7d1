"""Faults of CONCURRENCY and QUEUES, whose runs depend on the runs that overlap with them.

Such a fault keeps a list of the runs that are under way in a conforming engine, and changes what a
run does because of the others in the list.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from sessrun.conformance.faulty.framework import override
from sessrun.conformance.faulty.run_fragments import elements, fed, needed
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Feeds, Fetches, Operation, Session, Value
from sessrun.spec.proto.config_pb2 import RunOptions
from sessrun.spec.proto.metadata_pb2 import RunMetadata

__all__ = ["ENQUEUES", "Base", "Underway", "notes", "overlapping"]

ENQUEUES: Final = frozenset({"QueueEnqueueV2", "QueueEnqueueManyV2"})


@dataclass(eq=False, slots=True)
class Underway:
    """A run that has begun and not ended.

    Attributes:
      session: its session.
      fetches: its fetches, as given.
      feeds: its feeds, as given.
      options: its RunOptions, or None.
      ops: the operations behind its fetches.
      size: how many operations the graph had when it began.
      words: the notes that other runs have left for it.
      ended: the event that is set when the run ends.

    """

    session: Session
    fetches: Any
    feeds: Feeds
    options: RunOptions | None
    ops: tuple[Operation, ...]
    size: int
    words: set[str] = field(default_factory=set)
    ended: threading.Event = field(default_factory=threading.Event)

    def has(self, *types: str) -> bool:
        """Whether the run fetches an operation of one of these types."""
        return any(op.type in types for op in self.ops)

    def on_queues(self) -> bool:
        """Whether the run executes an operation on a queue."""
        executed = needed(self.ops, fed(self.session, self.feeds))
        return any(op.type.startswith("Queue") for op in executed)

    def tell(self, others: Iterable[Underway], word: str) -> None:
        """Leave a note for the other runs of the same session."""
        for other in others:
            if other.session is self.session:
                other.words.add(word)


class Base(Protocol):
    """A run as the conforming namespace does it, with the caller's options."""

    def __call__(self, fetches: Fetches = ..., feeds: Feeds = ...) -> Any:
        """The values of the fetches; the caller's fetches and feeds are the defaults."""


#: The run of a fault, a function of (the run, base, the runs that were under way when it began).
Change = Callable[[Underway, Base, list[Underway]], Any]


def overlapping(
    tf: Namespace,
    change: Change,
    *,
    options: Callable[[Any, RunOptions | None], RunOptions | None] = lambda _, given: given,
    closing: Callable[[Session, list[Underway]], None] = lambda _session, _runs: None,
) -> Namespace:
    """The namespace whose `Session.run` is `change(run, base, others)`.

    Args:
      tf: the conforming namespace.
      change: the function that runs; the other runs may be of any session.
      options: from (session, the caller's RunOptions) to those of the run.
      closing: called with (session, the runs under way) before a session is closed.

    """
    lock = threading.Lock()
    runs: list[Underway] = []

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self,
            fetches: Fetches,
            feed_dict: Feeds = None,
            options: RunOptions | None = None,
            run_metadata: RunMetadata | None = None,
        ) -> Value:
            conforming = super().run
            run = _underway(self, fetches, feed_dict, of_run(self, options))

            def base(fetches: Fetches = fetches, feeds: Feeds = feed_dict) -> Value:
                return conforming(fetches, feeds, run.options, run_metadata)

            with lock:
                others = list(runs)
                runs.append(run)
            try:
                return change(run, base, others)
            finally:
                run.ended.set()
                with lock:
                    runs.remove(run)

        def plain(
            self, fetches: Fetches, feeds: Feeds = None, options: RunOptions | None = None
        ) -> Value:
            """A run in the conforming namespace, which no fault changes."""
            return super().run(fetches, feeds, options)

        def close(self) -> None:
            with lock:
                others = list(runs)
            closing(self, others)
            super().close()

    of_run = options
    return override(tf, Session=Session)


def notes(session: Session, name: str, first: Callable[[], object]) -> Any:
    """The object that a fault keeps with a session under a name; `first` makes it."""
    return vars(session).setdefault(f"faulty_{name}", first())


def _underway(
    session: Session, fetches: Fetches, feeds: Feeds, options: RunOptions | None
) -> Underway:
    listed = elements(session, fetches)
    ops = tuple(getattr(element, "op", element) for element in listed)
    size = len(session.graph.get_operations())
    return Underway(session, fetches, feeds, options, ops, size)
