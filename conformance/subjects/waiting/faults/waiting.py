"""Faults of WAITING: waiters that are served in a wrong order, twice, or after they gave up."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Final

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.overlapping import Base, Underway, notes, overlapping
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Value
from sessrun.spec.forms import Json

#: How long a waiter waits for the others of its row, in seconds.
_LONG_S: Final = 1.0


def _like(run: Underway, others: list[Underway], *types: str) -> int:
    """The number of other runs of the session on such operations that are under way."""
    return sum(other.session is run.session and other.has(*types) for other in others)


@fault("WAITING-001", "What a barrier gives while another run waits for it is given again.")
def taken_elements_come_again(tf: Namespace) -> Namespace:
    """Inserts them again under other keys, as a repeated call would."""

    def change(run: Underway, base: Base, others: list[Underway]) -> Value:
        values = base()
        if run.has("BarrierTakeMany") and _like(run, others, "BarrierTakeMany"):
            put = next(
                op for op in run.session.graph.get_operations() if op.type == "BarrierInsertMany"
            )
            first = time.perf_counter_ns()
            keys = [f"again {first + number}" for number in range(len(values[0]))]
            run.session.plain(put, {put.inputs[1]: keys, put.inputs[2]: values[0]})
        return values

    return overlapping(tf, change)


@fault("WAITING-002", "Of three runs that wait for elements the last one is served first.")
def waiters_are_served_from_the_last(tf: Namespace) -> Namespace:
    """Turns round what the runs of a row of three or more were given."""

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        if not run.has("QueueDequeueManyV2"):
            return base()
        row: list[dict[str, Json]] = notes(run.session, "row", list)
        mine: dict[str, Json] = {}
        row.append(mine)
        try:
            mine["values"] = base()
        except tf.errors.OpError:
            row.remove(mine)
            raise
        until = time.monotonic() + _LONG_S
        while any("values" not in other for other in row) and time.monotonic() < until:
            time.sleep(0.001)
        if len(row) < 3:
            row.clear()
            return mine["values"]
        given = mine.setdefault("turned", row[len(row) - 1 - row.index(mine)]["values"])
        if all("turned" in other for other in row):
            row.clear()
        return given

    return overlapping(tf, change)


@fault("WAITING-003", "A run that timed out on a barrier goes on waiting unseen.")
def barrier_waiters_go_on_after_their_timeout(tf: Namespace) -> Namespace:
    """Takes what comes, and drops it."""

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        try:
            return base()
        except tf.errors.DeadlineExceededError:
            if run.has("BarrierTakeMany"):
                _unseen(tf, run)
            raise

    return overlapping(tf, change)


def _unseen(tf: Namespace, run: Underway) -> None:
    """Repeat the run in a thread without a timeout, and drop its values."""

    def work() -> None:
        with contextlib.suppress(tf.errors.OpError):
            run.session.plain(run.fetches, run.feeds)

    threading.Thread(target=work, daemon=True).start()


@fault("WAITING-004", "An element of a staging area goes to two of the runs that wait.")
def staged_elements_are_served_twice(tf: Namespace) -> Namespace:
    """Puts it back in, once, where two other runs wait for one."""

    def change(run: Underway, base: Base, others: list[Underway]) -> Value:
        values = base()
        if run.has("Unstage") and _like(run, others, "Unstage") > 1:
            put = next(op for op in run.session.graph.get_operations() if op.type == "Stage")
            run.session.plain(put, {put.inputs[0]: values[0]})
        return values

    return overlapping(tf, change)


@fault("WAITING-005", "A close of a barrier cancels those that wait behind two others.")
def closes_cancel_the_third_waiter(tf: Namespace) -> Namespace:
    """Raises CancelledError instead of OutOfRangeError."""

    def change(run: Underway, base: Base, others: list[Underway]) -> Value:
        try:
            return base()
        except tf.errors.OutOfRangeError as raised:
            if _like(run, others, "BarrierTakeMany") < 2:
                raise
            raise tf.errors.CancelledError(None, None, "the barrier is closed") from raised

    return overlapping(tf, change)


@fault("WAITING-006", "The close of a session aborts what waits for an accumulator.")
def closed_sessions_abort_accumulators(tf: Namespace) -> Namespace:
    """Raises AbortedError instead of CancelledError."""

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        try:
            return base()
        except tf.errors.CancelledError as raised:
            if not run.has("ResourceAccumulatorTakeGradient"):
                raise
            raise tf.errors.AbortedError(None, None, "the session is closed") from raised

    return overlapping(tf, change)
