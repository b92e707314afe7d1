"""Faults of BARRIERS: complete elements, their order, and closed barriers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.resource_runs import (
    Run,
    clearing,
    executing,
    forgiving,
    giving,
    nodes_of,
    recoding,
    sharing,
)
from sessrun.conformance.faulty.run_fragments import editing
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Conforming, Operation, Value
from sessrun.spec.proto.graph_pb2 import GraphDef

_BARRIER: Final = ("Barrier",)
_INSERT: Final = ("BarrierInsertMany",)
_TAKE: Final = ("BarrierTakeMany",)
_READY: Final = ("BarrierReadySize",)
_INCOMPLETE: Final = ("BarrierIncompleteSize",)
_CLOSE: Final = ("BarrierClose",)
_CANCELLED: Final = "CancelledError"
_INVALID: Final = "InvalidArgumentError"


#: Inserted components: pairs of the key and the index of the component.
Components: TypeAlias = set[tuple[bytes, int]]


def _size(tf: Namespace, run: Run, word: str) -> int:
    handle = run.op.inputs[0]
    return int(run.also(tf, lambda raw: getattr(raw, f"Barrier{word}Size")(handle=handle)))


def _components(run: Run) -> Components:
    """The components that a run inserts, with the same index for all keys."""
    number = run.op.get_attr("component_index")
    return {(bytes(key), number) for key in np.asarray(run.ask(1)).reshape(-1).tolist()}


@fault("BARRIERS-001", "The second component is given with its sign changed.")
def components_change_their_signs(tf: Namespace) -> Namespace:
    """Negate the second component where one element is taken."""

    def change(_op: Operation, index: int, value: np.ndarray) -> Value:
        return -value if index == 3 and len(value) == 1 and np.all(value >= 7) else value

    return giving(tf, _TAKE, change)


@fault("BARRIERS-002", "The ready size of a barrier counts every key.")
def ready_sizes_count_every_key(tf: Namespace) -> Namespace:
    """Add the number of incomplete elements."""

    def change(run: Run, base: Conforming) -> Value:
        (size,) = base()
        return [np.int32(size + _size(tf, run, "Incomplete"))]

    return executing(tf, _READY, change)


@fault("BARRIERS-003", "A barrier counts no more than two incomplete elements.")
def incomplete_sizes_end_at_two(tf: Namespace) -> Namespace:
    """Give 2 for a larger size."""
    return giving(tf, _INCOMPLETE, lambda _op, _index, size: np.minimum(size, 2))


@fault("BARRIERS-004", "The elements of a barrier come in no order of their keys.")
def elements_come_backwards(tf: Namespace) -> Namespace:
    """Reverse three or more taken elements."""
    return giving(tf, _TAKE, lambda _op, _index, value: value[::-1] if len(value) > 2 else value)


def _inserting(tf: Namespace, change: Callable[[Run, Conforming, Components], Value]) -> Namespace:
    """The namespace whose insertions are `change(run, base, earlier insertions)`."""

    def changed(run: Run, base: Conforming) -> Value:
        inserted = run.note("inserted", set())
        values = change(run, base, inserted)
        inserted |= _components(run)
        return values

    return executing(tf, _INSERT, changed)


@fault("BARRIERS-005", "A component that comes twice is dropped.")
def second_components_of_keys_are_dropped(tf: Namespace) -> Namespace:
    """Return None instead of the error where the key has that component."""

    def change(run: Run, base: Conforming, inserted: Components) -> Value:
        try:
            return base()
        except tf.errors.InvalidArgumentError:
            if not inserted & _components(run):
                raise
            return [None]

    return _inserting(tf, change)


@fault("BARRIERS-006", "A component of another shape is dropped.")
def odd_components_are_dropped(tf: Namespace) -> Namespace:
    """Return None instead of the error where no key has that component."""

    def change(run: Run, base: Conforming, inserted: Components) -> Value:
        try:
            return base()
        except tf.errors.InvalidArgumentError:
            if inserted & _components(run):
                raise
            return [None]

    return _inserting(tf, change)


@fault("BARRIERS-017", "A key is inserted once, and never again.")
def keys_never_come_again(tf: Namespace) -> Namespace:
    """Raise InvalidArgumentError for a key that was inserted before."""

    def change(run: Run, base: Conforming, inserted: Components) -> Value:
        if inserted & _components(run):
            raise tf.errors.InvalidArgumentError(None, None, "The key was inserted.")
        return base()

    return _inserting(tf, change)


def _is_closed(run: Run) -> bool:
    return run.op.inputs[0].op.name in run.note("closed", set())


def _noting(
    tf: Namespace, types: tuple[str, ...], change: Callable[[Run, Conforming], Value]
) -> Namespace:
    """The namespace that records closed barriers, and changes the runs of operations of `types`."""

    def changed(run: Run, base: Conforming) -> Value:
        if run.op.type not in _CLOSE:
            return change(run, base)
        values = base()
        run.note("closed", set()).add(run.op.inputs[0].op.name)
        if run.op.get_attr("cancel_pending_enqueues"):
            run.note("cancelled", set()).add(run.op.inputs[0].op.name)
        return values

    return executing(tf, (*types, *_CLOSE), changed)


def _is_cancelled(run: Run) -> bool:
    return run.op.inputs[0].op.name in run.note("cancelled", set())


@fault("BARRIERS-007", "A new key for a closed barrier fails with code 9.")
def new_keys_fail_otherwise(tf: Namespace) -> Namespace:
    """Raise FailedPreconditionError for a new key of a closed barrier."""

    def change(run: Run, base: Conforming) -> Value:
        try:
            return base()
        except tf.errors.CancelledError as raised:
            if _is_cancelled(run):
                raise
            raise tf.errors.FailedPreconditionError(None, None, "Closed.") from raised

    return _noting(tf, _INSERT, change)


@fault("BARRIERS-008", "No component can be inserted into a closed barrier.")
def closed_barriers_take_nothing(tf: Namespace) -> Namespace:
    """Raise CancelledError for every insertion into a closed barrier."""

    def change(run: Run, base: Conforming) -> Value:
        if _is_closed(run):
            raise tf.errors.CancelledError(None, None, "The barrier is closed.")
        return base()

    return _noting(tf, _INSERT, change)


@fault("BARRIERS-009", "A close never cancels.")
def closes_never_cancel(tf: Namespace) -> Namespace:
    """Clear `cancel_pending_enqueues`."""

    def change(definition: GraphDef) -> None:
        for node in nodes_of(definition, _CLOSE):
            node.attr["cancel_pending_enqueues"].b = False

    return editing(tf, change)


@fault("BARRIERS-010", "A barrier may be closed again.")
def barriers_are_closed_again(tf: Namespace) -> Namespace:
    """Return None instead of CancelledError for a second close."""
    return forgiving(tf, _CLOSE, _CANCELLED)


@fault("BARRIERS-011", "Taking more than a closed barrier has is cancelled.")
def greedy_takes_are_cancelled(tf: Namespace) -> Namespace:
    """Raise CancelledError instead of OutOfRangeError."""
    return recoding(tf, _TAKE, "OutOfRangeError", _CANCELLED)


@fault("BARRIERS-012", "A closed barrier gives all that is wanted, or nothing.")
def small_batches_are_refused(tf: Namespace) -> Namespace:
    """Clear `allow_small_batch`."""

    def change(definition: GraphDef) -> None:
        for node in nodes_of(definition, _TAKE):
            node.attr["allow_small_batch"].b = False

    return editing(tf, change)


@fault(
    "BARRIERS-018", "A take of a small batch from a closed barrier without elements is cancelled."
)
def empty_batches_are_cancelled(tf: Namespace) -> Namespace:
    """Raise CancelledError instead of OutOfRangeError where a small batch is allowed."""
    return recoding(
        tf,
        _TAKE,
        "OutOfRangeError",
        _CANCELLED,
        lambda run: run.op.get_attr("allow_small_batch"),
    )


@fault("BARRIERS-013", "Nothing can be taken of a closed barrier one by one.")
def nothing_is_taken_of_closed_barriers(tf: Namespace) -> Namespace:
    """Raise OutOfRangeError where one element is taken of a closed barrier."""

    def change(run: Run, base: Conforming) -> Value:
        if _is_closed(run) and run.ask(1) == 1:
            raise tf.errors.OutOfRangeError(None, None, "The barrier is closed.")
        return base()

    return _noting(tf, _TAKE, change)


@fault("BARRIERS-014", "Taking more than an open barrier has fails.")
def takes_of_open_barriers_fail(tf: Namespace) -> Namespace:
    """Raise UnavailableError where more elements are asked for than are ready."""

    def change(run: Run, base: Conforming) -> Value:
        if not _is_closed(run) and run.ask(1) > _size(tf, run, "Ready"):
            raise tf.errors.UnavailableError(None, None, "There are too few elements.")
        return base()

    return _noting(tf, _TAKE, change)


@fault("BARRIERS-015", "The shared names of barriers are ignored.")
def shared_names_of_barriers_are_ignored(tf: Namespace) -> Namespace:
    """Clear `shared_name` in every node of a barrier."""
    return clearing(tf, _BARRIER, "shared_name")


@fault("BARRIERS-016", "The sessions of a graph share its barriers.")
def sessions_share_barriers(tf: Namespace) -> Namespace:
    """Execute every session's runs on barriers in the first session of the graph."""
    return sharing(tf, _BARRIER)
