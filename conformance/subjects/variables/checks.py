"""Named checks of VARIABLES: functions that the backend calls with arguments by keyword."""

from __future__ import annotations

from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Tensor, Variable
from sessrun.spec.forms import Json

__all__ = ["calls_of_an_initial_value", "calls_of_getters", "what_a_getter_gives"]


def calls_of_getters(tf: Namespace) -> list[str]:
    """Which custom getters are asked for which names, of two scopes and of one call."""
    calls: list[str] = []

    def noting(label: str) -> Call:
        def custom(getter: Call, *args: Argument, **kwargs: Argument) -> Variable:
            calls.append(f"{label} {kwargs['name'] if 'name' in kwargs else args[0]}")
            return getter(*args, **kwargs)

        return custom

    with tf.variable_scope("a", custom_getter=noting("outer")):
        with tf.variable_scope("b", custom_getter=noting("inner")):
            tf.get_variable("v", [2])
        tf.get_variable("v", [2])
    tf.get_variable("v", [2], custom_getter=noting("own"))
    return calls


def what_a_getter_gives(tf: Namespace) -> list[Json]:
    """The value of what a getter made of a variable, and the names of the trainable variables."""

    def twice(getter: Call, *args: Argument, **kwargs: Argument) -> Tensor:
        return getter(*args, **(kwargs | {"trainable": False})) * 2.0

    with tf.variable_scope("a", custom_getter=twice):
        variable = tf.get_variable("v", [], initializer=tf.constant_initializer(3.0))
    tf.get_variable("w", [])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [float(sess.run(variable)), *(one.name for one in tf.trainable_variables())]


def calls_of_an_initial_value(tf: Namespace, use_resource: bool) -> list[int]:
    """How often an initial value was called when its variable was made, and after two runs."""
    calls: list[int] = []

    def initial() -> Tensor:
        calls.append(1)
        return tf.constant(3.0)

    variable = tf.Variable(initial, use_resource=use_resource)
    before = len(calls)
    with tf.Session() as sess:
        sess.run(variable.initializer)
        sess.run(variable.initializer)
        return [before, len(calls), int(sess.run(variable))]
