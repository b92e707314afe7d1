"""Faults of QUEUES: enqueues and dequeues that wait wrongly, and what ends their waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.overlapping import ENQUEUES, Base, Underway, notes, overlapping
from sessrun.conformance.subjects.queues.faults.queues import drain
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Operation, Value


def _beside(tf: Namespace, op: Operation, op_type: str, **attrs: Argument) -> Any:
    """A new operation on the queue of `op`, outside of all scopes."""
    with op.graph.as_default(), tf.control_dependencies(None):
        return getattr(tf.raw_ops, op_type)(handle=op.inputs[0], **attrs)


def _size(tf: Namespace, run: Underway) -> int:
    """How many elements the queue of a run's only operation has."""
    return int(run.session.plain(_beside(tf, run.ops[0], "QueueSizeV2")))


def _capacity(run: Underway) -> int:
    return int(run.ops[0].inputs[0].op.get_attr("capacity"))


def _emptied(tf: Namespace, run: Underway) -> None:
    """Take out every element of the queue of a run's only operation."""
    drain(tf, run.session, run.ops[0].inputs[0].op)


def _alone(run: Underway, op_type: str) -> bool:
    """Whether the run fetches one operation of this type and nothing else."""
    return len(run.ops) == 1 and run.ops[0].type == op_type


def _mine(run: Underway, others: list[Underway]) -> list[Underway]:
    return [other for other in others if other.session is run.session and not other.ended.is_set()]


# --- room ---------------------------------------------------------------------------------


@fault("QUEUES-010", "An enqueue on a full queue fails.")
def a_full_queue_refuses(tf: Namespace) -> Namespace:
    """Raise ResourceExhaustedError where no dequeue waits."""

    def change(run: Underway, base: Base, others: list[Underway]) -> Value:
        free = _alone(run, "QueueEnqueueV2") and not _mine(run, others)
        if free and _size(tf, run) >= _capacity(run):
            raise tf.errors.ResourceExhaustedError(None, None, "the queue is full")
        return base()

    return overlapping(tf, change)


@fault("QUEUES-020", "An enqueue_many of more elements than the capacity is refused.")
def more_than_the_capacity_is_refused(tf: Namespace) -> Namespace:
    """It could never be had at once."""

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        if _alone(run, "QueueEnqueueManyV2"):
            rows = run.session.plain(run.ops[0].inputs[1], run.feeds)
            if len(rows) > _capacity(run):
                raise tf.errors.InvalidArgumentError(None, None, "too many elements")
        return base()

    return overlapping(tf, change)


@fault("QUEUES-017", "An enqueue goes before an enqueue_many that waits.")
def enqueues_jump_the_line(tf: Namespace) -> Namespace:
    """Give its element to the next dequeue."""

    def change(run: Underway, base: Base, others: list[Underway]) -> Value:
        first = notes(run.session, "first", list)
        waiting = any(other.has("QueueEnqueueManyV2") for other in _mine(run, others))
        if waiting and _alone(run, "QueueEnqueueV2"):
            first.append(run.session.plain(run.ops[0].inputs[1], run.feeds))
            return [None]
        if first and _alone(run, "QueueDequeueV2"):
            return [first.pop(0)]
        return base()

    return overlapping(tf, change)


# --- elements -----------------------------------------------------------------------------


@fault("QUEUES-021", "A dequeue_many gives the elements that there are.")
def dequeues_what_there_is(tf: Namespace) -> Namespace:
    """Dequeue between one element and the requested number."""

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        if not _alone(run, "QueueDequeueManyV2") or run.ops[0].inputs[0].op.name != "queue":
            return base()
        types = run.ops[0].inputs[0].op.get_attr("component_types")
        wanted = int(run.session.plain(run.ops[0].inputs[1], run.feeds))
        while not (size := _size(tf, run)):
            time.sleep(0.01)
        count = np.int32(min(size, wanted))
        taken = _beside(tf, run.ops[0], "QueueDequeueManyV2", n=count, component_types=types)
        return base(list(taken), None)

    return overlapping(tf, change)


@fault("QUEUES-016", "A dequeue goes before a dequeue_many that waits.")
def dequeues_jump_the_line(tf: Namespace) -> Namespace:
    """Give it the next element that is enqueued."""

    def change(run: Underway, base: Base, others: list[Underway]) -> Value:
        waiting = notes(run.session, "waiting", list)
        many = any(other.has("QueueDequeueManyV2") for other in _mine(run, others))
        if many and _alone(run, "QueueDequeueV2"):
            came = threading.Event()
            element: list[Value] = []
            waiting.append((element, came))
            came.wait()
            return element
        if waiting and _alone(run, "QueueEnqueueV2"):
            element, came = waiting.pop(0)
            element.append(run.session.plain(run.ops[0].inputs[1], run.feeds))
            came.set()
            return [None]
        return base()

    return overlapping(tf, change)


@fault("QUEUES-019", "Dequeues that wait together get one and the same element.")
def one_element_for_all(tf: Namespace) -> Namespace:
    """Return the values of a run under way that has the same fetches."""

    def change(run: Underway, base: Base, others: list[Underway]) -> Value:
        answers = notes(run.session, "answers", dict)
        for other in _mine(run, others):
            if other.ops == run.ops and _alone(run, "QueueDequeueV2"):
                other.ended.wait()
                if other in answers:
                    return answers[other]
        answers[run] = values = base()
        return values

    return overlapping(tf, change)


# --- closing ------------------------------------------------------------------------------


def _ended_by_close(
    tf: Namespace, types: frozenset[str], error: str, ended: Callable[[Underway, Exception], None]
) -> Namespace:
    """The namespace with `ended(run, error)` where a close ends a run that waits.

    Args:
      tf: the conforming namespace.
      types: of the operations that wait.
      error: the class of `tf.errors` that such a run raises.
      ended: what is done then; the error is raised after it, unless it raises another.

    """

    def change(run: Underway, base: Base, others: list[Underway]) -> Value:
        if run.has("QueueCloseV2"):
            run.tell(others, "closed")
        try:
            return base()
        except getattr(tf.errors, error) as raised:
            if "closed" in run.words and run.has(*types):
                ended(run, raised)
            raise

    return overlapping(tf, change)


@fault("QUEUES-007", "A dequeue that a close ends is cancelled.")
def closing_cancels_dequeues(tf: Namespace) -> Namespace:
    """Raises CancelledError where the queue was closed while it waited."""

    def ended(_run: Underway, error: Exception) -> None:
        raise tf.errors.CancelledError(None, None, "the queue was closed") from error

    return _ended_by_close(tf, frozenset({"QueueDequeueV2"}), "OutOfRangeError", ended)


@fault("QUEUES-008", "An enqueue that a close ends is aborted.")
def closing_aborts_enqueues(tf: Namespace) -> Namespace:
    """Raises AbortedError where the queue was closed while it waited."""

    def ended(_run: Underway, error: Exception) -> None:
        raise tf.errors.AbortedError(None, None, "the queue was closed") from error

    return _ended_by_close(tf, ENQUEUES, "CancelledError", ended)


@fault("QUEUES-015", "The elements that a failed dequeue_many had taken are lost.")
def failed_dequeues_lose_elements(tf: Namespace) -> Namespace:
    """Take them out again before it fails."""
    types = frozenset({"QueueDequeueManyV2"})
    return _ended_by_close(tf, types, "OutOfRangeError", lambda run, _: _emptied(tf, run))


@fault("QUEUES-018", "The elements that a cancelled enqueue_many had put in are lost.")
def cancelled_enqueues_lose_elements(tf: Namespace) -> Namespace:
    """Take them out again before it fails."""
    types = frozenset({"QueueEnqueueManyV2"})
    return _ended_by_close(tf, types, "CancelledError", lambda run, _: _emptied(tf, run))


@fault("QUEUES-009", "A plain close cancels the enqueues that wait.")
def closing_always_cancels(tf: Namespace) -> Namespace:
    """Close with `cancel_pending_enqueues`."""

    def change(run: Underway, base: Base, others: list[Underway]) -> Value:
        waiting = any(other.has(*ENQUEUES) for other in _mine(run, others))
        if waiting and _alone(run, "QueueCloseV2"):
            run.session.plain(_beside(tf, run.ops[0], "QueueCloseV2", cancel_pending_enqueues=True))
            return [None]
        return base()

    return overlapping(tf, change)
