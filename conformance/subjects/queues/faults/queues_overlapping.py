"""Faults of QUEUES that show under many threads: elements lost, doubled, out of order."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Callable
from typing import Final

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.overlapping import Base, Underway, notes, overlapping
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Value

#: Of how many elements put in alone one goes wrong.
_SELDOM: Final = 20
_OFTEN: Final = 4


def _seldom(
    tf: Namespace, wrong: Callable[[Underway, Base], Value], every: int = _SELDOM
) -> Namespace:
    """The namespace with `wrong(run, base)` for one of `every` enqueues that overlap other runs."""

    def change(run: Underway, base: Base, others: list[Underway]) -> Value:
        alone = len(run.ops) == 1 and run.ops[0].type == "QueueEnqueueV2"
        if not alone or not any(other.session is run.session for other in others):
            return base()
        number = next(notes(run.session, "puts", itertools.count))
        return base() if number % every != every - 1 else wrong(run, base)

    return overlapping(tf, change)


@fault("QUEUES-066", "An element is lost now and then.")
def elements_are_lost(tf: Namespace) -> Namespace:
    """Return None without enqueuing it."""
    return _seldom(tf, lambda _run, _base: [None])


@fault("QUEUES-066", "An element is put in twice now and then.")
def elements_are_doubled(tf: Namespace) -> Namespace:
    """Execute the enqueue twice."""

    def wrong(run: Underway, base: Base) -> Value:
        run.session.plain(run.fetches, run.feeds, run.options)
        return base()

    return _seldom(tf, wrong)


@fault("QUEUES-065", "A put is told to be done before it is.")
def puts_are_told_too_early(tf: Namespace) -> Namespace:
    """Return None, and enqueue the element in a thread a moment later."""

    def wrong(_run: Underway, base: Base) -> Value:
        def late() -> None:
            time.sleep(0.02)
            with contextlib.suppress(tf.errors.OpError):  # the run has returned already
                base()

        threading.Thread(target=late, daemon=True).start()
        return [None]

    return _seldom(tf, wrong, _OFTEN)
