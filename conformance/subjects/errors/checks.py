"""Named checks of ERRORS: what the exception of a failed run holds."""

from __future__ import annotations

import builtins
from typing import NoReturn

import numpy as np

from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Feeds, Fetches, Operation, OpError, Session

__all__ = [
    "attributes_that_can_be_set",
    "failed_op_is",
    "failed_op_is_none",
    "message_type",
    "node_def_of_failure",
    "of_a_script",
]


def _raised(tf: Namespace, session: Session, fetches: Fetches, feeds: Feeds) -> OpError | None:
    try:
        session.run(fetches, feeds)
    except Exception as error:  # noqa: BLE001 - whatever it raises is looked at
        return error if isinstance(error, tf.errors.OpError) else None
    return None


def failed_op_is(
    tf: Namespace, session: Session, fetches: Fetches, feeds: Feeds, operation: Operation
) -> bool:
    """Whether the run raises an OpError whose `op` is this very Operation."""
    error = _raised(tf, session, fetches, feeds)
    return error is not None and error.op is operation


def failed_op_is_none(tf: Namespace, session: Session, fetches: Fetches) -> bool:
    """Whether the run raises an OpError whose `op` is None."""
    error = _raised(tf, session, fetches, None)
    return error is not None and error.op is None


def node_def_of_failure(
    tf: Namespace, session: Session, fetches: Fetches, feeds: Feeds
) -> list[str]:
    """Name, type and inputs of the `node_def` of the OpError that the run raises."""
    error = _raised(tf, session, fetches, feeds)
    node = None if error is None else error.node_def
    return [] if node is None else [node.name, node.op, *node.input]


def message_type(tf: Namespace, session: Session, fetches: Fetches, feeds: Feeds) -> str:
    """The name of the class of the `message` of the OpError that the run raises."""
    return type(getattr(_raised(tf, session, fetches, feeds), "message", None)).__name__


def attributes_that_can_be_set(tf: Namespace) -> list[str]:
    """Which of its four attributes a new error lets its owner set."""
    error = tf.errors.InvalidArgumentError(None, None, "told")
    settable = []
    for name in ("op", "node_def", "message", "error_code"):
        try:
            setattr(error, name, getattr(error, name))
        except AttributeError:
            continue
        settable.append(name)
    return settable


def of_a_script(tf: Namespace, raised: str) -> str:
    """The class of what a run raises whose `py_func` raises this class of Python.

    Args:
      tf: the backend.
      raised: the name of a built-in class, or "subclass of" and such a name, for a new one.

    """
    *derived, name = raised.split()
    kind: type[Exception] = getattr(builtins, name)
    if derived:
        kind = type(f"My{name}", (kind,), {})

    def script(_: np.ndarray) -> NoReturn:
        raise kind("on purpose")

    with tf.Graph().as_default():
        value = tf.py_func(script, [tf.constant(1.0)], tf.float32)
        with tf.Session() as session:
            try:
                session.run(value)
            except Exception as error:  # noqa: BLE001 - its class is the result
                return type(error).__name__
    return "nothing"
