"""Faults of RUN and CONCURRENCY: runs in several threads that are mixed up, or kept waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from typing import Final

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.overlapping import Underway, notes, overlapping
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Fetch, Fetches, Graph, Session, Value
from sessrun.spec.proto.config_pb2 import ConfigProto, RunOptions

#: How long a faulty engine lets a run wait that a conforming one lets go on, in seconds.
_PATIENCE_S: Final = 2.0
#: How long it is busy where it should be safe for threads.
_BUSY_S: Final = 0.01


def _after(tf: Namespace, run: Underway, others: Iterable[Underway]) -> None:
    """Wait, with a limit, until the other runs have ended."""
    end = time.monotonic() + _PATIENCE_S
    for other in others:
        if other is not run and not other.ended.wait(max(0.0, end - time.monotonic())):
            raise tf.errors.UnavailableError(None, None, "the engine is busy")


@fault("RUN-041", "A tensor is fed what a run that is under way feeds it.")
def feeds_are_shared(tf: Namespace) -> Namespace:
    """Feed a tensor what another run that is under way feeds it."""

    def change(run: Underway, base: Call, others: list[Underway]) -> Value:
        feeds = run.feeds
        for other in others:
            if other.session is run.session and other.feeds and feeds:
                feeds = {key: other.feeds.get(key, value) for key, value in feeds.items()}
        return base(run.fetches, feeds)

    return overlapping(tf, change)


@fault("RUN-042", "While a run waits on a queue, its session computes nothing.")
def a_waiting_run_holds_its_session(tf: Namespace) -> Namespace:
    """Let runs without queues wait until the session's runs on queues have ended."""

    def change(run: Underway, base: Call, others: list[Underway]) -> Value:
        if not run.on_queues():
            mine = [other for other in others if other.session is run.session]
            _after(tf, run, [other for other in mine if other.on_queues()])
        return base()

    return overlapping(tf, change)


@fault("CONCURRENCY-013", "While a run waits on a queue, other sessions compute nothing.")
def a_waiting_run_holds_other_sessions(tf: Namespace) -> Namespace:
    """Let runs without queues wait until other sessions' runs on queues have ended."""

    def change(run: Underway, base: Call, others: list[Underway]) -> Value:
        if not run.on_queues():
            theirs = [other for other in others if other.session is not run.session]
            _after(tf, run, [other for other in theirs if other.on_queues()])
        return base()

    return overlapping(tf, change)


@fault("CONCURRENCY-011", "A graph that has grown waits for the runs that are under way.")
def growth_waits_for_runs(tf: Namespace) -> Namespace:
    """Let a run that adds nodes wait until the runs under way have ended."""

    def change(run: Underway, base: Call, others: list[Underway]) -> Value:
        mine = [other for other in others if other.session is run.session]
        _after(tf, run, [other for other in mine if other.size < run.size])
        return base()

    return overlapping(tf, change)


@fault("CONCURRENCY-014", "Two runs that both add to the engine's graph fail.")
def growth_is_not_safe(tf: Namespace) -> Namespace:
    """Raise an error in the second of two runs that add nodes at once."""

    def change(run: Underway, base: Call, _others: list[Underway]) -> Value:
        growing = notes(run.session, "growing", threading.Lock)
        known = notes(run.session, "known", lambda: [0])
        if run.size <= known[0] or run.on_queues():
            return base()
        if not growing.acquire(blocking=False):
            raise tf.errors.InternalError(None, None, "the graph is being extended")
        try:
            time.sleep(_BUSY_S)
            known[0] = run.size
        finally:
            growing.release()
        return base()

    return overlapping(tf, change)


@fault("CONCURRENCY-012", "A callable that is called twice at once keeps the first arguments.")
def arguments_are_shared(tf: Namespace) -> Namespace:
    """Keep one set of arguments for all calls of a callable that are under way."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def make_callable(
            self,
            fetches: Fetches,
            feed_list: Sequence[Fetch] | None = None,
            accept_options: bool = False,
        ) -> Call:
            call = super().make_callable(fetches, feed_list, accept_options)
            underway: list[tuple[Argument, ...]] = []

            def shared(*args: Argument, **kwargs: Argument) -> Value:
                used = underway[0] if underway else args
                underway.append(used)
                try:
                    return call(*used, **kwargs)
                finally:
                    underway.remove(used)

            return shared

    return override(tf, Session=Session)


@fault("CONCURRENCY-003", "Closing a session cancels the runs of every session.")
def closing_cancels_every_session(tf: Namespace) -> Namespace:
    """Cancel the runs under way of every session of the process."""

    def closing(_session: Session, runs: list[Underway]) -> None:
        for run in runs:
            run.words.add("closed")

    def change(run: Underway, base: Call, _others: list[Underway]) -> Value:
        values = base()
        if "closed" in run.words:
            raise tf.errors.CancelledError(None, None, "a session was closed")
        return values

    return overlapping(tf, change, closing=closing)


# --- timeouts -----------------------------------------------------------------------------


@fault("RUN-043", "A run past the timeout of its options is unavailable, not late.")
def options_timeout_is_unavailable(tf: Namespace) -> Namespace:
    """Raises UnavailableError past `timeout_in_ms`."""

    def change(run: Underway, base: Call, _others: list[Underway]) -> Value:
        try:
            return base()
        except tf.errors.DeadlineExceededError as error:
            if not (run.options and run.options.timeout_in_ms):
                raise
            raise tf.errors.UnavailableError(None, None, "no answer in time") from error

    return overlapping(tf, change)


@fault("CONCURRENCY-001", "What timed out once cannot be fetched again.")
def a_timeout_breaks_its_plan(tf: Namespace) -> Namespace:
    """Raise an error for fetches of a run that timed out before."""

    def change(run: Underway, base: Call, _others: list[Underway]) -> Value:
        broken = notes(run.session, "broken", set)
        names = tuple(op.name for op in run.ops)
        if names in broken:
            raise tf.errors.InternalError(None, None, "the plan is being executed")
        try:
            return base()
        except tf.errors.DeadlineExceededError:
            broken.add(names)
            raise

    return overlapping(tf, change)


def _timed(tf: Namespace, given: RunOptions | None, milliseconds: int) -> RunOptions:
    """Copy RunOptions with another timeout."""
    options = tf.RunOptions()
    if given is not None:
        options.CopyFrom(given)
    options.timeout_in_ms = milliseconds
    return options


@fault("CONCURRENCY-002", "A long timeout ends a run as soon as it has to wait.")
def long_timeouts_are_short(tf: Namespace) -> Namespace:
    """Shorten timeouts of a minute or more to 100 ms."""

    def options(_session: Session, given: RunOptions | None) -> RunOptions | None:
        long = given is not None and given.timeout_in_ms >= 60_000
        return _timed(tf, given, 100) if long else given

    return overlapping(tf, lambda _run, base, _others: base(), options=options)


@fault("CONCURRENCY-004", "A run that times out cancels the other runs of its session.")
def a_timeout_cancels_the_others(tf: Namespace) -> Namespace:
    """Cancel the session's other runs when one times out."""

    def change(run: Underway, base: Call, others: list[Underway]) -> Value:
        try:
            values = base()
        except tf.errors.DeadlineExceededError:
            run.tell(others, "cancelled")
            raise
        if "cancelled" in run.words:
            raise tf.errors.CancelledError(None, None, "a run was cancelled")
        return values

    return overlapping(tf, change)


@fault("CONCURRENCY-005", "A timeout of a run's options holds for later runs too.")
def timeouts_stay(tf: Namespace) -> Namespace:
    """Apply the shortest timeout that any run of the session had."""

    def options(session: Session, given: RunOptions | None) -> RunOptions | None:
        kept = notes(session, "timeouts", list)
        if given is not None and given.timeout_in_ms:
            kept.append(given.timeout_in_ms)
        return _timed(tf, given, min(kept)) if kept else given

    return overlapping(tf, lambda _run, base, _others: base(), options=options)


@fault("CONCURRENCY-006", "The shorter timeout counts, the session's or the run's.")
def the_shorter_timeout_counts(tf: Namespace) -> Namespace:
    """Apply the smaller of the session's and the run's timeout."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(
            self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None
        ) -> None:
            super().__init__(target, graph, config)
            self.limit = getattr(config, "operation_timeout_in_ms", 0)

    def options(session: Session, given: RunOptions | None) -> RunOptions | None:
        if not session.limit or given is None or not given.timeout_in_ms:
            return given
        return _timed(tf, given, min(session.limit, given.timeout_in_ms))

    limited = override(tf, Session=Session)
    return overlapping(limited, lambda _run, base, _others: base(), options=options)


# --- runs that are cut short --------------------------------------------------------------


@fault("CONCURRENCY-007", "A run that failed goes on waiting for its other operations.")
def failures_wait_for_the_others(tf: Namespace) -> Namespace:
    """Raise DeadlineExceededError instead where another operation of the run waits on a queue."""

    def change(run: Underway, base: Call, _others: list[Underway]) -> Value:
        try:
            return base()
        except tf.errors.InvalidArgumentError as error:
            if not run.has("QueueDequeueV2", "QueueEnqueueManyV2") or len(run.ops) == 1:
                raise
            raise tf.errors.DeadlineExceededError(None, None, "still waiting") from error

    return overlapping(tf, change)


@fault("CONCURRENCY-008", "A dequeue whose run failed takes the next element.")
def failed_runs_dequeue(tf: Namespace) -> Namespace:
    """Dequeue once more after the session's next enqueue."""

    def change(run: Underway, base: Call, _others: list[Underway]) -> Value:
        left = notes(run.session, "left", list)
        try:
            values = base()
        except tf.errors.InvalidArgumentError:
            left += [op for op in run.ops if op.type == "QueueDequeueV2"]
            raise
        if left and run.has("QueueEnqueueV2"):
            run.session.plain(left.pop().outputs[0])
        return values

    return overlapping(tf, change)


@fault("CONCURRENCY-009", "An enqueue whose run timed out puts its element in when there is room.")
def late_runs_enqueue(tf: Namespace) -> Namespace:
    """Repeat the enqueue after the session's next dequeue."""

    def change(run: Underway, base: Call, _others: list[Underway]) -> Value:
        left = notes(run.session, "left", list)
        try:
            values = base()
        except tf.errors.DeadlineExceededError:
            left += [(op, run.feeds) for op in run.ops if op.type == "QueueEnqueueV2"]
            raise
        if left and run.has("QueueDequeueV2"):
            run.session.plain(*left.pop())
        return values

    return overlapping(tf, change)


@fault("CONCURRENCY-010", "The operations of a run are executed in the order of their creation.")
def creation_order(tf: Namespace) -> Namespace:
    """Run an enqueue and a dequeue one after the other, until the time runs out."""

    def change(run: Underway, base: Call, _others: list[Underway]) -> Value:
        if not (run.has("QueueDequeueV2") and run.has("QueueEnqueueV2")):
            return base()
        created = run.session.graph.get_operations()
        limit = tf.RunOptions(timeout_in_ms=1000)
        for op in sorted(run.ops, key=created.index):
            run.session.plain(op, run.feeds, limit)
        return [None for _ in run.fetches]

    return overlapping(tf, change)
