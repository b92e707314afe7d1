"""Faults of QUEUES: the order of elements, what a session keeps, closed queues, shapes."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.overlapping import ENQUEUES, Base, Underway, notes, overlapping
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Graph, Operation, Session, Value


def drain(tf: Namespace, session: Session, queue: Operation) -> None:
    """Take every element out of a queue, given by its operation."""
    types = queue.get_attr("component_types")
    with queue.graph.as_default(), tf.control_dependencies(None):
        size = session.plain(tf.raw_ops.QueueSizeV2(handle=queue.outputs[0]))
        taken = tf.raw_ops.QueueDequeueManyV2(
            handle=queue.outputs[0], n=np.int32(size), component_types=types
        )
    session.plain(taken)


def _recoded(tf: Namespace, types: frozenset[str], error: str, other: str) -> Namespace:
    """The namespace that raises `other` where an operation of these types raises `error`.

    Only where no second run is under way, which may have closed the queue.
    """

    def change(run: Underway, base: Base, others: list[Underway]) -> Value:
        try:
            return base()
        except getattr(tf.errors, error) as raised:
            if others or not run.has(*types):
                raise
            raise getattr(tf.errors, other)(None, None, "the queue is closed") from raised

    return overlapping(tf, change)


@fault("QUEUES-001", "A FIFOQueue gives the element that came last.")
def last_in_first_out(tf: Namespace) -> Namespace:
    """Turn the elements round before one is taken, and back afterwards."""

    def turn(run: Underway) -> None:
        take = run.ops[0]
        with take.graph.as_default(), tf.control_dependencies(None):
            count = int(run.session.plain(tf.raw_ops.QueueSizeV2(handle=take.inputs[0])))
            elements = [run.session.plain(take.outputs[0]) for _ in range(count)]
            for element in reversed(elements):
                put = tf.raw_ops.QueueEnqueueV2(handle=take.inputs[0], components=[element])
                run.session.plain(put)

    def change(run: Underway, base: Base, others: list[Underway]) -> Value:
        if others or len(run.ops) != 1 or run.ops[0].type != "QueueDequeueV2":
            return base()
        turn(run)
        values = base()
        turn(run)
        return values

    return overlapping(tf, change)


@fault("QUEUES-002", "A run without operations on queues empties them.")
def runs_empty_queues(tf: Namespace) -> Namespace:
    """Take every element out of the graph's queues before such a run."""

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        if not run.on_queues():
            for op in run.session.graph.get_operations():
                if op.type == "FIFOQueueV2":
                    drain(tf, run.session, op)
        return base()

    return overlapping(tf, change)


@fault("QUEUES-003", "The sessions of a Graph share its queues.")
def sessions_share_queues(tf: Namespace) -> Namespace:
    """Run operations on queues in the graph's first session."""
    firsts: dict[Graph, Session] = {}

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        first = firsts.setdefault(run.session.graph, run.session)
        if first is run.session or not run.on_queues():
            return base()
        return first.plain(run.fetches, run.feeds, run.options)

    return overlapping(tf, change)


@fault("QUEUES-004", "An enqueue on a closed queue is aborted.")
def closed_queues_abort(tf: Namespace) -> Namespace:
    """Raise AbortedError instead of CancelledError."""
    return _recoded(tf, ENQUEUES, "CancelledError", "AbortedError")


@fault("QUEUES-005", "A dequeue on a closed and empty queue is cancelled.")
def closed_queues_cancel(tf: Namespace) -> Namespace:
    """Raise CancelledError instead of OutOfRangeError."""
    types = frozenset({"QueueDequeueV2", "QueueDequeueManyV2"})
    return _recoded(tf, types, "OutOfRangeError", "CancelledError")


@fault("QUEUES-006", "Closing a queue empties it.")
def closing_empties(tf: Namespace) -> Namespace:
    """Take the elements out before it is closed."""

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        for op in run.ops:
            if op.type == "QueueCloseV2":
                drain(tf, run.session, op.inputs[0].op)
        return base()

    return overlapping(tf, change)


@fault("QUEUES-011", "Closing a queue a second time does nothing.")
def closing_twice_is_silent(tf: Namespace) -> Namespace:
    """Return None instead of CancelledError where the queue was closed before."""

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        closed = notes(run.session, "closed", set)
        try:
            values = base()
        except tf.errors.CancelledError:
            if not run.has("QueueCloseV2") or run.ops not in closed:
                raise
            return [None for _ in run.ops]
        closed.add(run.ops)
        return values

    return overlapping(tf, change)


@fault("QUEUES-012", "A PaddingFIFOQueue drops an element that it cannot pad.")
def other_shapes_are_dropped(tf: Namespace) -> Namespace:
    """Return None instead of the error of one enqueue of one element."""

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        try:
            return base()
        except tf.errors.InvalidArgumentError:
            (op, *others) = run.ops
            is_enqueue = op.type in {"QueueEnqueue", "QueueEnqueueV2"} and not others
            if not is_enqueue or not op.inputs[0].op.type.startswith("PaddingFIFOQueue"):
                raise
            return [None]

    return overlapping(tf, change)
