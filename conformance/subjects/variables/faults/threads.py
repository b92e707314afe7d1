"""Faults of GRAPH and VARIABLES: what several threads add to one graph, and to one variable."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Final

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.overlapping import Underway, overlapping
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Graph, Operation, Tensor, Value

#: How long a fault dwells where it should be safe for threads, in seconds.
_DWELL_S: Final = 0.001


@fault("GRAPH-106", "A name scope holds for every thread that adds to the graph.")
def name_scopes_are_shared(tf: Namespace) -> Namespace:
    """A thread without a name scope has the one that was entered last."""
    entered: list[tuple[Graph, str]] = []

    @contextlib.contextmanager
    def name_scope(*args: Argument, **kwargs: Argument) -> Iterator[str]:
        with tf.name_scope(*args, **kwargs) as scope:
            entered.append((tf.get_default_graph(), scope))
            try:
                yield scope
            finally:
                entered.pop()

    def constant(*args: Argument, **kwargs: Argument) -> Tensor:
        graph = tf.get_default_graph()
        shared = [scope for of, scope in entered if of is graph]
        if shared and not graph.get_name_scope():
            with tf.name_scope(shared[-1]):
                return tf.constant(*args, **kwargs)
        return tf.constant(*args, **kwargs)

    return override(tf, name_scope=name_scope, constant=constant)


@fault("GRAPH-107", "Operations that two threads add at once may get one name.")
def names_are_not_safe(tf: Namespace) -> Namespace:
    """Refuse the second one, whose name is found to be taken."""
    naming = threading.Lock()

    def constant(*args: Argument, **kwargs: Argument) -> Tensor:
        if not naming.acquire(blocking=False):
            raise ValueError("an operation of this name is there already")
        try:
            time.sleep(_DWELL_S)
            return tf.constant(*args, **kwargs)
        finally:
            naming.release()

    return override(tf, constant=constant)


def _losing(tf: Namespace, op_type: str, undo: Callable[[Operation], Operation]) -> Namespace:
    """The namespace that loses an update which began during another one of the same kind.

    Args:
      tf: the conforming namespace.
      op_type: the type of the updates.
      undo: makes the operation that takes one back.

    """

    def change(run: Underway, base: Call, others: list[Underway]) -> Value:
        values = base()
        same = [other for other in others if other.ops == run.ops]
        if same and run.has(op_type):
            with run.ops[0].graph.as_default(), tf.control_dependencies(None):
                lost = undo(run.ops[0])
            run.session.plain(lost)
        return values

    return overlapping(tf, change)


@fault("VARIABLES-057", "Locked updates of a reference variable that overlap are lost.")
def locked_updates_are_lost(tf: Namespace) -> Namespace:
    """Take back those that began while another was under way."""
    return _losing(
        tf,
        "AssignAdd",
        lambda op: tf.raw_ops.AssignSub(ref=op.inputs[0], value=op.inputs[1], use_locking=True),
    )


@fault("VARIABLES-058", "Updates of a resource variable that overlap are lost.")
def resource_updates_are_lost(tf: Namespace) -> Namespace:
    """Take back those that began while another was under way."""
    return _losing(
        tf,
        "AssignAddVariableOp",
        lambda op: tf.raw_ops.AssignSubVariableOp(resource=op.inputs[0], value=op.inputs[1]),
    )
