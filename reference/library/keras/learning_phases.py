"""The learning phase, per graph a placeholder or a constant, and conditionals on predicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.api.control_flow.smart_cond import smart_constant_value
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "forget_phases",
    "in_test_phase",
    "in_train_phase",
    "known_choice",
    "learning_phase",
    "learning_phase_scope",
    "set_learning_phase",
    "smart_cond",
]

_PHASES: Final[WeakKeyDictionary[Graph, int | Tensor | None]] = WeakKeyDictionary()


def learning_phase() -> Any:
    """The learning phase of the default graph: 0, 1, or a placeholder that defaults to False."""
    with tf.init_scope():
        graph = tf.get_default_graph()
        phase = _PHASES.get(graph)
        if phase is None:
            with tf.name_scope(""):
                phase = tf.placeholder_with_default(False, (), name="keras_learning_phase")
            _PHASES[graph] = phase
        return phase


def set_learning_phase(value: int) -> None:
    """Set the learning phase of the default graph to 0 or 1.

    Raises:
      ValueError: `value` is neither 0 nor 1.

    """
    if value not in {0, 1}:
        raise ValueError("Expected learning phase to be 0 or 1.")
    with tf.init_scope():
        _PHASES[tf.get_default_graph()] = value


@contextmanager
def learning_phase_scope(value: int) -> Iterator[None]:
    """Set the learning phase of the default graph inside the `with`."""
    with tf.init_scope():
        graph = tf.get_default_graph()
    before = _PHASES.get(graph)
    set_learning_phase(value)
    try:
        yield
    finally:
        _PHASES[graph] = before  # none, as where nothing was said


def forget_phases() -> None:
    """Forget the learning phases of all graphs."""
    _PHASES.clear()


#: A value, or the function that builds it where it is chosen.
Branch: TypeAlias = "Structure | Callable[[], Structure]"
#: What both functions of a choice return.
Chosen = TypeVar("Chosen")


def in_train_phase(x: Branch, alt: Branch, training: bool | Tensor | None = None) -> Structure:
    """`x` in the training phase, else `alt`; either may be a function that returns the value."""
    training = learning_phase() if training is None else training
    if not isinstance(training, tf.Tensor):
        chosen = x if training == 1 else alt
        return chosen() if callable(chosen) else chosen
    return switch(training, x, alt)


def in_test_phase(x: Branch, alt: Branch, training: bool | Tensor | None = None) -> Structure:
    """`x` while not training, else `alt`."""
    return in_train_phase(alt, x, training=training)


def switch(condition: Tensor, then_expression: Branch, else_expression: Branch) -> Structure:
    """Choose between two values (or the results of two functions) by a bool scalar."""
    on, off = (
        value if callable(value) else (lambda value=value: value)
        for value in (then_expression, else_expression)
    )
    return tf.cond(condition, on, off)


def known_choice(predicate: bool | int | Tensor | Variable | None) -> bool | None:
    """The constant value of a predicate, or None if only a run can tell.

    Raises:
      TypeError: `predicate` is neither a tensor, a variable nor one of True, False, 1 and 0.

    """
    if isinstance(predicate, Variable):
        return None
    known = smart_constant_value(predicate)
    return None if known is None else bool(known)


def smart_cond(
    predicate: bool | int | Tensor | Variable | None,
    on: Callable[[], Chosen],
    off: Callable[[], Chosen],
) -> Chosen:
    """Call `on` or `off` by a constant predicate; else build a `cond` of both."""
    known = known_choice(predicate)
    if known is None:
        return tf.cond(predicate, on, off)
    return on() if known else off()
