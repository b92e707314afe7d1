"""Programs of `switch_case`: values, gradients, operations, errors."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import PairFunction

__all__ = ["BEHAVIOURS"]


def _values(tf, build: PairFunction):
    """The values of a program for several branch numbers, and its nodes without gradients."""
    number, x = tf.placeholder(tf.int32, [], name="n"), tf.constant([3.0, 4.0], name="x")
    fetched = build(number, x)
    nodes = [
        (node.name, node.op, list(node.input))
        for node in tf.get_default_graph().as_graph_def().node
        if not node.name.startswith("gradients")
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [[session.run(fetched, {number: n}) for n in (0, 1, 2, 7, -1)], nodes]


def _chosen(tf):
    def build(number, x):
        output = tf.switch_case(number, [lambda: x * 2.0, lambda: x * x, lambda: tf.identity(x)])
        return [output, *tf.gradients(output, x)]

    return _values(tf, build)


def _with_a_default(tf):
    def build(number, x):
        branches = {1: lambda: (x, {"a": x * 3.0}), 0: lambda: (x + 1.0, {"a": x})}
        return tf.switch_case(number, branches, default=lambda: (-x, {"a": x * 0.0}), name="sc")

    return _values(tf, build)


def _with_variables(tf):
    def build(number, x):
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
        return tf.switch_case(number, [lambda: x + v, lambda: v * 2.0])

    return _values(tf, build)[0]


def _refused(tf):
    number, x = tf.constant(1), tf.constant(1.0)
    return attempt(
        lambda: tf.switch_case(1, [lambda: x]),
        lambda: tf.switch_case(x, [lambda: x]),
        lambda: tf.switch_case(number, []),
        lambda: tf.switch_case(number, 3),
        lambda: tf.switch_case(number, [(0, 3)]),
        lambda: tf.switch_case(number, [3]),
        lambda: tf.switch_case(number, {0: lambda: x, 2: lambda: x}),
        lambda: tf.switch_case(number, {"a": lambda: x}),
    )


BEHAVIOURS = {
    "chosen": _chosen,
    "with_a_default": _with_a_default,
    "with_variables": _with_variables,
    "refused": _refused,
}
