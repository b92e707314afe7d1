"""Faults of QUEUES: how many elements are taken or put in at once, and what one element is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.overlapping import ENQUEUES, Base, Underway, overlapping
from sessrun.conformance.faulty.run_fragments import fed
from sessrun.conformance.subjects.queues.faults.queues import drain
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Operation, Value

__all__ = ["DEQUEUES", "beside", "changed", "count_of", "only", "queue_of", "size_of"]

DEQUEUES: Final = frozenset({"QueueDequeueV2", "QueueDequeueManyV2", "QueueDequeueUpToV2"})


def only(run: Underway, *types: str) -> Operation | None:
    """The operation whose outputs a run fetches, if there is only one and it is of these types."""
    ops = set(run.ops)
    return run.ops[0] if len(ops) == 1 and run.ops[0].type in types else None


def queue_of(op: Operation) -> Operation:
    """The operation that makes the queue of a queue operation."""
    return op.inputs[0].op


def beside(tf: Namespace, run: Underway, op: Operation, op_type: str, **attrs: Argument) -> Any:
    """The value of a new operation on the queue of `op`, which is built outside of all scopes."""
    with op.graph.as_default(), tf.control_dependencies(None):
        result = getattr(tf.raw_ops, op_type)(handle=op.inputs[0], **attrs)
    return run.session.plain(result, run.feeds)


def size_of(tf: Namespace, run: Underway, op: Operation) -> int:
    """How many elements the queue of `op` holds."""
    return int(beside(tf, run, op, "QueueSizeV2"))


def is_closed(tf: Namespace, run: Underway, op: Operation) -> bool:
    """Whether the queue of `op` is closed."""
    return bool(beside(tf, run, op, "QueueIsClosedV2"))


def count_of(run: Underway, op: Operation) -> int:
    """How many elements a dequeue of several asks for."""
    return int(run.session.plain(op.inputs[1], run.feeds))


def changed(
    tf: Namespace, change: Callable[[Operation, Underway, Base], Value], *types: str
) -> Namespace:
    """The namespace with `change(op, run, base)` where a run fetches one operation of these types.

    Only where no other run is under way.
    """

    def replace(run: Underway, base: Base, others: list[Underway]) -> Value:
        op = only(run, *types)
        return base() if others or op is None else change(op, run, base)

    return overlapping(tf, replace)


def _forgiven(
    tf: Namespace, applies: Callable[[Operation, Underway], bool], *types: str
) -> Namespace:
    """The namespace in which a refused enqueue or dequeue gives None where `applies` says so."""

    def change(op: Operation, run: Underway, base: Base) -> Value:
        try:
            return base()
        except tf.errors.InvalidArgumentError:
            if not applies(op, run):
                raise
            return [None for _ in run.ops]

    return changed(tf, change, *types)


# --- too few ------------------------------------------------------------------------------


@fault("QUEUES-022", "A dequeue_many that fails on a closed queue empties it.")
def too_few_are_lost(tf: Namespace) -> Namespace:
    """Drain the queue before the error is raised."""

    def change(op: Operation, run: Underway, base: Base) -> Value:
        try:
            return base()
        except tf.errors.OutOfRangeError:
            drain(tf, run.session, queue_of(op))
            raise

    return changed(tf, change, "QueueDequeueManyV2")


@fault("QUEUES-023", "A dequeue_up_to of a closed queue that holds fewer elements fails.")
def up_to_is_many(tf: Namespace) -> Namespace:
    """As a dequeue_many."""

    def change(op: Operation, run: Underway, base: Base) -> Value:
        if is_closed(tf, run, op) and size_of(tf, run, op) < count_of(run, op):
            raise tf.errors.OutOfRangeError(None, None, "too few elements")
        return base()

    return changed(tf, change, "QueueDequeueUpToV2")


@fault("QUEUES-024", "A dequeue_up_to of a closed and empty queue gives no elements.")
def up_to_gives_nothing(tf: Namespace) -> Namespace:
    """It succeeds with an empty batch."""

    def change(op: Operation, run: Underway, base: Base) -> Value:
        try:
            return base()
        except tf.errors.OutOfRangeError:
            return base(run.fetches, {**(run.feeds or {}), op.inputs[1]: np.int32(0)})

    return changed(tf, change, "QueueDequeueUpToV2")


@fault("QUEUES-025", "A dequeue_up_to of an open queue gives what there is.")
def up_to_does_not_wait(tf: Namespace) -> Namespace:
    """It waits for one element only."""

    def change(op: Operation, run: Underway, base: Base) -> Value:
        few = min(size_of(tf, run, op), count_of(run, op))
        if count_of(run, op) <= 0:
            return base()
        return base(run.fetches, {**(run.feeds or {}), op.inputs[1]: np.int32(max(1, few))})

    return changed(tf, change, "QueueDequeueUpToV2")


# --- none ---------------------------------------------------------------------------------


@fault("QUEUES-026", "A batch of no elements of a closed queue is out of range.")
def nothing_is_out_of_range(tf: Namespace) -> Namespace:
    """As if it were of one."""

    def change(op: Operation, run: Underway, base: Base) -> Value:
        values = base()
        if count_of(run, op) == 0 and is_closed(tf, run, op):
            raise tf.errors.OutOfRangeError(None, None, "the queue is closed")
        return values

    return changed(tf, change, "QueueDequeueManyV2", "QueueDequeueUpToV2")


@fault("QUEUES-026", "The sizes that vary are 1 in a batch of no elements.")
def nothing_has_a_size(tf: Namespace) -> Namespace:
    """Of a PaddingFIFOQueue."""

    def change(op: Operation, _run: Underway, base: Base) -> Value:
        values = base()
        if queue_of(op).type != "PaddingFIFOQueueV2":
            return values
        return [
            np.zeros([0, *(size or 1 for size in value.shape[1:])], value.dtype)
            if getattr(value, "shape", (1,))[:1] == (0,)
            else value
            for value in values
        ]

    return changed(tf, change, "QueueDequeueManyV2", "QueueDequeueUpToV2")


@fault("QUEUES-027", "Fewer elements than none are none.")
def negative_counts_are_zero(tf: Namespace) -> Namespace:
    """They give an empty batch."""

    def change(op: Operation, run: Underway, base: Base) -> Value:
        if count_of(run, op) >= 0:
            return base()
        return base(run.fetches, {**(run.feeds or {}), op.inputs[1]: np.int32(0)})

    return changed(tf, change, "QueueDequeueManyV2", "QueueDequeueUpToV2")


@fault("QUEUES-028", "Components without a shape are stacked as long as they can be.")
def components_without_a_shape_are_stacked(tf: Namespace) -> Namespace:
    """A dequeue_many of them takes one after the other."""

    def change(op: Operation, run: Underway, base: Base) -> Value:
        queue = queue_of(op)
        if list(queue.get_attr("shapes")) or queue.type == "PaddingFIFOQueueV2":
            return base()
        types = queue.get_attr("component_types")
        taken = [
            beside(tf, run, op, "QueueDequeueV2", component_types=types)
            for _ in range(count_of(run, op))
        ]
        columns = [np.stack(column) for column in zip(*taken, strict=True)]
        return columns[: len(run.ops)] or [np.zeros(0) for _ in run.ops]

    return changed(tf, change, "QueueDequeueManyV2", "QueueDequeueUpToV2")


@fault("QUEUES-059", "An enqueue_many of no elements on a closed queue is cancelled.")
def nothing_is_cancelled(tf: Namespace) -> Namespace:
    """As if it were of one."""

    def change(op: Operation, run: Underway, base: Base) -> Value:
        rows = run.session.plain(op.inputs[1], run.feeds)
        if np.shape(rows)[:1] == (0,) and is_closed(tf, run, op):
            raise tf.errors.CancelledError(None, None, "the queue is closed")
        return base()

    return changed(tf, change, "QueueEnqueueManyV2")


# --- elements -----------------------------------------------------------------------------


@fault("QUEUES-029", "Rows that do not belong to an element are dropped.")
def odd_rows_are_dropped(tf: Namespace) -> Namespace:
    """An `enqueue_many` of different numbers of rows puts nothing in, and succeeds."""

    def applies(op: Operation, run: Underway) -> bool:
        parts = [np.shape(run.session.plain(part, run.feeds))[:1] for part in op.inputs[1:]]
        return len(set(parts)) > 1

    return _forgiven(tf, applies, "QueueEnqueueManyV2")


@fault("QUEUES-077", "A scalar has no rows, so that none are put in.")
def scalars_are_dropped(tf: Namespace) -> Namespace:
    """An `enqueue_many` of a scalar puts nothing in, and succeeds."""

    def applies(op: Operation, run: Underway) -> bool:
        return any(np.ndim(run.session.plain(part, run.feeds)) == 0 for part in op.inputs[1:])

    return _forgiven(tf, applies, "QueueEnqueueManyV2")


@fault("QUEUES-030", "The second components of a batch are turned round.")
def components_are_mixed_up(tf: Namespace) -> Namespace:
    """Reverse all components but the first."""

    def change(op: Operation, run: Underway, base: Base) -> Value:
        if len(op.outputs) < 2:
            return base()
        values = run.session.plain(list(op.outputs), run.feeds)
        mixed = [values[0], *(value[::-1] for value in values[1:])]
        named = {output.name: value for output, value in zip(op.outputs, mixed, strict=True)}
        return [named.get(name) for name in run.fetches]

    return changed(tf, change, "QueueDequeueManyV2")


@fault("QUEUES-032", "Elements of float64 are kept as float32.")
def elements_lose_precision(tf: Namespace) -> Namespace:
    """What comes out has fewer digits than what went in."""

    def change(_op: Operation, _run: Underway, base: Base) -> Value:
        values = base()
        return [_rounded(value) for value in values] if isinstance(values, list) else values

    return changed(tf, change, *DEQUEUES)


def _rounded(value: Value) -> Value:
    if getattr(value, "dtype", None) != np.float64:
        return value
    return np.asarray(value).astype(np.float32).astype(np.float64)[()]


@fault("QUEUES-033", "Components of other dtypes than the queue's are dropped.")
def other_dtypes_are_dropped(tf: Namespace) -> Namespace:
    """The enqueue succeeds, and nothing is in."""

    def applies(op: Operation, _run: Underway) -> bool:
        queue = queue_of(op)
        wanted = list(queue.get_attr("component_types"))
        if queue.type == "PriorityQueueV2":
            return False
        return list(op.get_attr("Tcomponents")) != wanted

    return _forgiven(tf, applies, *ENQUEUES)


# --- capacity and closing -----------------------------------------------------------------


@fault("QUEUES-031", "A queue of capacity -1 has room for a hundred elements.")
def every_queue_has_a_bound(tf: Namespace) -> Namespace:
    """An enqueue of more is refused."""

    def change(op: Operation, run: Underway, base: Base) -> Value:
        if queue_of(op).get_attr("capacity") < 0:
            rows = len(run.session.plain(op.inputs[1], run.feeds))
            if size_of(tf, run, op) + rows > 100:
                raise tf.errors.ResourceExhaustedError(None, None, "the queue is full")
        return base()

    return changed(tf, change, "QueueEnqueueManyV2")


@fault("QUEUES-034", "A cancelling close of a closed queue is cancelled.")
def cancelling_twice_fails(tf: Namespace) -> Namespace:
    """As is a plain close."""

    def change(op: Operation, run: Underway, base: Base) -> Value:
        if op.get_attr("cancel_pending_enqueues") and is_closed(tf, run, op):
            raise tf.errors.CancelledError(None, None, "the queue is closed")
        return base()

    return changed(tf, change, "QueueCloseV2")


@fault("QUEUES-035", "A queue is closed when it is empty, too.")
def closed_once_it_is_empty(tf: Namespace) -> Namespace:
    """Answer QueueIsClosed with true only while the queue has no elements."""

    def change(run: Underway, base: Base, _others: list[Underway]) -> Value:
        values = base()
        for index, op in enumerate(run.ops):
            if op.type == "QueueIsClosedV2":
                values[index] = np.bool_(size_of(tf, run, op) == 0 and bool(values[index]))
        return values

    return overlapping(tf, change)


# --- one run ------------------------------------------------------------------------------


@fault("QUEUES-063", "Each fetch of a dequeue takes an element of its own.")
def each_fetch_dequeues(tf: Namespace) -> Namespace:
    """One that is fetched twice takes two."""

    def change(op: Operation, run: Underway, base: Base) -> Value:
        values = base()
        if len(run.ops) > len(op.outputs):
            values[0] = run.session.plain(op.outputs[0], run.feeds)
        return values

    return changed(tf, change, *DEQUEUES)


@fault("QUEUES-064", "A dequeue takes an element even where it is fed.")
def fed_dequeues_take(tf: Namespace) -> Namespace:
    """The fed value is used, the element is gone."""

    def change(run: Underway, base: Base, others: list[Underway]) -> Value:
        values = base()
        for tensor in fed(run.session, run.feeds):
            if tensor.op.type in DEQUEUES and not others:
                run.session.plain(tensor)
        return values

    return overlapping(tf, change)
