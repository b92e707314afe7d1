"""Faults of QUEUES: queues by priority, in random order, and those that pad their batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.overlapping import Base, Underway, notes
from sessrun.conformance.faulty.run_fragments import editing
from sessrun.conformance.subjects.queues.faults.queues_counted import (
    changed,
    is_closed,
    queue_of,
    size_of,
)
from sessrun.spec.cases.arguments import Argument, DTypeLike, Shape, ShapeLike
from sessrun.spec.cases.library import Queue
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Operation, Value
from sessrun.spec.proto.graph_pb2 import GraphDef, NodeDef

_SHUFFLE: Final = "RandomShuffleQueueV2"
_PRIORITY: Final = "PriorityQueueV2"
_PADDING: Final = "PaddingFIFOQueueV2"
_BATCHES: Final = ("QueueDequeueManyV2", "QueueDequeueUpToV2")


# --- by priority --------------------------------------------------------------------------


@fault("QUEUES-036", "Priorities are kept as int32 numbers.")
def priorities_wrap_around(tf: Namespace) -> Namespace:
    """The largest and the smallest change places in what is fed."""

    def change(op: Operation, run: Underway, base: Base) -> Value:
        if queue_of(op).type != _PRIORITY:
            return base()
        ranks = np.asarray(run.session.plain(op.inputs[1], run.feeds))
        wrapped = ranks.astype(np.int32).astype(np.int64)
        return base(run.fetches, {**(run.feeds or {}), op.inputs[1]: wrapped})

    return changed(tf, change, "QueueEnqueueManyV2")


@fault("QUEUES-037", "An element replaces the one of equal priority.")
def equal_priorities_are_one(tf: Namespace) -> Namespace:
    """What is put in a second time is dropped."""

    def change(op: Operation, run: Underway, base: Base) -> Value:
        if queue_of(op).type != _PRIORITY:
            return base()
        known = notes(run.session, "priorities", set)
        rank = run.session.plain(op.inputs[1], run.feeds)
        if np.ndim(rank) == 0 and int(rank) in known:
            return [None]
        values = base()
        known.add(int(rank))
        return values

    return changed(tf, change, "QueueEnqueueV2")


@fault("QUEUES-038", "Elements whose priority is no scalar are dropped.")
def odd_priorities_are_dropped(tf: Namespace) -> Namespace:
    """The enqueue succeeds, and nothing is in."""

    def change(op: Operation, _run: Underway, base: Base) -> Value:
        try:
            return base()
        except tf.errors.InvalidArgumentError:
            if queue_of(op).type != _PRIORITY:
                raise
            return [None]

    return changed(tf, change, "QueueEnqueueV2", "QueueEnqueueManyV2")


@fault("QUEUES-039", "A batch by priority has the largest first.")
def batches_by_priority_are_turned_round(tf: Namespace) -> Namespace:
    """Its rows are in descending order."""

    def change(op: Operation, _run: Underway, base: Base) -> Value:
        values = base()
        return [value[::-1] for value in values] if queue_of(op).type == _PRIORITY else values

    return changed(tf, change, *_BATCHES)


# --- in random order ----------------------------------------------------------------------


def _edited_queues(tf: Namespace, op_type: str, edit: Callable[[NodeDef], None]) -> Namespace:
    """The namespace that edits the nodes of queues of a type when it imports them."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            if node.op == op_type:
                edit(node)

    return editing(tf, change)


@fault("QUEUES-040", "A RandomShuffleQueue without a seed gives its elements as they came.")
def nothing_is_shuffled(tf: Namespace) -> Namespace:
    """It is a FIFOQueue, where no element needs to stay behind."""

    def edit(node: NodeDef) -> None:
        seeded = node.attr["seed"].i or node.attr["seed2"].i
        if seeded or node.attr["shared_name"].s or node.attr["min_after_dequeue"].i:
            return
        node.op = "FIFOQueueV2"
        for name in ("min_after_dequeue", "seed", "seed2"):
            if name in node.attr:
                del node.attr[name]

    return _edited_queues(tf, _SHUFFLE, edit)


@fault("QUEUES-041", "An open RandomShuffleQueue gives all of its elements.")
def nothing_stays_behind(tf: Namespace) -> Namespace:
    """No queue keeps any."""

    def edit(node: NodeDef) -> None:
        good = 0 < node.attr["min_after_dequeue"].i < node.attr["capacity"].i
        if good and not node.attr["shared_name"].s:
            node.attr["min_after_dequeue"].i = 0

    return _edited_queues(tf, _SHUFFLE, edit)


@fault("QUEUES-042", "A closed RandomShuffleQueue keeps elements back, as an open one does.")
def elements_stay_when_closed(tf: Namespace) -> Namespace:
    """A dequeue of them is out of range."""

    def change(op: Operation, run: Underway, base: Base) -> Value:
        queue = queue_of(op)
        closed = queue.type == _SHUFFLE and is_closed(tf, run, op)
        if closed and size_of(tf, run, op) <= queue.get_attr("min_after_dequeue"):
            raise tf.errors.OutOfRangeError(None, None, "the queue is closed")
        return base()

    return changed(tf, change, "QueueDequeueV2")


@fault("QUEUES-043", "A RandomShuffleQueue's order does not depend on its seed.")
def seeds_are_not_used(tf: Namespace) -> Namespace:
    """Each has seeds of the system's."""

    def edit(node: NodeDef) -> None:
        if not node.attr["shared_name"].s:
            node.attr["seed"].i = node.attr["seed2"].i = 0

    return _edited_queues(tf, _SHUFFLE, edit)


@fault("QUEUES-078", "Small seeds have one order.")
def small_seeds_are_one(tf: Namespace) -> Namespace:
    """Make 7 of the seeds below it."""

    def edit(node: NodeDef) -> None:
        if not node.attr["shared_name"].s and 0 < node.attr["seed2"].i < 7:
            node.attr["seed2"].i = 7

    return _edited_queues(tf, _SHUFFLE, edit)


@fault("QUEUES-045", "As many elements stay as there is room for, and one goes.")
def too_many_stay(tf: Namespace) -> Namespace:
    """What does not fit is made to fit."""

    def edit(node: NodeDef) -> None:
        capacity, reserve = node.attr["capacity"].i, node.attr["min_after_dequeue"].i
        most = capacity - 1 if capacity > 0 else reserve
        node.attr["min_after_dequeue"].i = max(0, min(reserve, most))

    return _edited_queues(tf, _SHUFFLE, edit)


# --- padded -------------------------------------------------------------------------------


def _varies(op: Operation) -> bool:
    """Whether the only component of a dequeue's queue has a last size that varies."""
    queue = queue_of(op)
    if queue.type != _PADDING:
        return False
    shapes = [shape.as_list() for shape in map(_shape, queue.get_attr("shapes"))]
    return len(shapes) == 1 and bool(shapes[0]) and shapes[0][-1] is None


def _shape(shape: Any) -> Shape | _Sizes:
    """The TensorShape of an attribute; some engines give its protobuf."""
    if hasattr(shape, "as_list"):
        return shape
    sizes = [None if dim.size < 0 else dim.size for dim in shape.dim]
    return _Sizes(sizes)


class _Sizes:
    """A TensorShape that has `as_list` only."""

    def __init__(self, sizes: list[int | None]) -> None:
        self._sizes = sizes

    def as_list(self) -> list[int | None]:
        """The sizes."""
        return self._sizes


def _one_wider(value: np.ndarray) -> np.ndarray:
    return np.pad(value, [(0, 0)] * (value.ndim - 1) + [(0, 1)])


@fault("QUEUES-046", "A batch is padded to more than its largest element.")
def batches_are_padded_too_far(tf: Namespace) -> Namespace:
    """One more than is needed."""

    def change(op: Operation, _run: Underway, base: Base) -> Value:
        values = base()
        if not _varies(op):
            return values
        return [_one_wider(value) if len(value) else value for value in values]

    return changed(tf, change, *_BATCHES)


@fault("QUEUES-046", "Strings are padded with a zero byte.")
def strings_are_padded_with_zeros(tf: Namespace) -> Namespace:
    """As if padding were memory."""

    def change(op: Operation, _run: Underway, base: Base) -> Value:
        values = base()
        if queue_of(op).type != _PADDING:
            return values
        return [_with_zeros(value) for value in values]

    return changed(tf, change, *_BATCHES)


def _with_zeros(value: np.ndarray) -> np.ndarray:
    if value.dtype.kind != "O":
        return value
    return np.array([item or b"\x00" for item in value.ravel()], object).reshape(value.shape)


@fault("QUEUES-047", "A single element is padded to the size of the one before it.")
def single_elements_are_padded(tf: Namespace) -> Namespace:
    """As if it were in a batch."""

    def change(op: Operation, _run: Underway, base: Base) -> Value:
        values = base()
        return [_one_wider(value) for value in values] if _varies(op) else values

    return changed(tf, change, "QueueDequeueV2")


@fault("QUEUES-048", "A queue of shapes that are not known enough is a queue all the same.")
def any_shapes_will_do(tf: Namespace) -> Namespace:
    """It holds nothing, and nothing can be put in."""

    def change(op: Operation, _run: Underway, base: Base) -> Value:
        try:
            return base()
        except tf.errors.InvalidArgumentError:
            queue = queue_of(op)
            if queue.type == _SHUFFLE or queue.get_attr("shared_name"):
                raise
            return [np.int32(0)]

    return changed(tf, change, "QueueSizeV2")


@fault("QUEUES-049", "Queues of any shapes can be made.")
def shapes_are_not_refused(tf: Namespace) -> Namespace:
    """Make a FIFOQueue without shapes where its shapes are refused."""

    def queue(
        capacity: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: Sequence[ShapeLike] | None = None,
        **more: Argument,
    ) -> Queue:
        try:
            return tf.FIFOQueue(capacity, dtypes, shapes, **more)
        except ValueError:
            return tf.FIFOQueue(capacity, dtypes, **more)

    return override(tf, FIFOQueue=queue)
