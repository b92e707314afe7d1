"""Programs of branches and loops whose functions are imported from another graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sessrun.conformance.subjects.programs.control_flow.functional_flow import functional
from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Action, PairFunction, TensorFunction

if TYPE_CHECKING:  # a worker in an environment of its own lacks these messages
    from sessrun.spec.proto.graph_pb2 import FunctionDefLibrary, NodeDef

__all__ = ["BEHAVIOURS"]


def _traced(tf, build: PairFunction):
    """The graph of a traced function of a number and a variable, whose effects are in order."""
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=3.0, use_resource=True)
        traced = tf.function(lambda x: build(x, v))
        return traced.get_concrete_function(tf.TensorSpec([], tf.float32)).graph.as_graph_def()


def _imported(tf, graph, kinds):
    """A number, a variable, and the operation of one of these types in an imported graph."""
    x = tf.placeholder_with_default(2.0, [], name="number")
    v = tf.get_variable("own", initializer=3.0, use_resource=True)
    first, second = [node.name for node in graph.node if node.op == "Placeholder"]
    name = next(node.name for node in graph.node if node.op in kinds)
    (op,) = tf.import_graph_def(graph, {first: x, second: v.handle}, [name], name="")
    return x, v, op


def _one_more(x, v):
    v.assign_add(1.0)
    return x * v.read_value()


def _effects_in_branches(tf):
    """A branch updates a variable once, although its gradient needs the value it has read."""
    graph = _traced(tf, lambda x, v: tf.cond(x > 1.0, lambda: _one_more(x, v), lambda: tf.sin(x)))
    x, v, op = _imported(tf, graph, ("If",))
    gradients = tf.gradients(op.outputs[0], [x, v.handle])
    with tf.Session() as session:
        session.run(v.initializer)
        return [
            [session.run([op.outputs[0], *gradients], {x: fed}), session.run(v)]
            for fed in (2.0, 0.5, 3.0)
        ]


def _effects_in_loops(tf):
    def build(x, v):
        return tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, _one_more(x, v) * a), [0, x])[
            1
        ]

    x, v, op = _imported(tf, _traced(tf, build), ("While",))
    y = op.outputs[3]
    gradients = tf.gradients(y, [x, v.handle])
    with tf.Session() as session:
        session.run(v.initializer)
        return [[session.run([y, *gradients], {x: fed}), session.run(v)] for fed in (2.0, 0.5)]


def _missing(tf):
    """Functions that are not in the library, or have other arguments or results than needed."""

    def graph(build: TensorFunction):
        with tf.Graph().as_default() as other:
            tf.identity(build(tf.placeholder(tf.float32, [], name="x")), name="y")
            return other.as_graph_def()

    branches = graph(lambda x: tf.cond(x > 1.0, lambda: x * x, lambda: x))
    loop = graph(lambda x: tf.while_loop(lambda a: a < 9.0, lambda a: a * 2.0, [x]))

    def without(definition, change: Callable[[FunctionDefLibrary], object]) -> Action:
        def program():
            with tf.Graph().as_default():
                copy = type(definition)()
                copy.CopyFrom(definition)
                change(copy.library)
                x = tf.constant(2.0)
                (y,) = tf.import_graph_def(copy, {"x": x}, ["y:0"])
                return tf.Session().run([y, *tf.gradients(y, x)])

        return program

    def clear(library) -> None:
        library.ClearField("function")

    return attempt(
        without(branches, lambda _: None),
        without(loop, lambda _: None),
        without(branches, clear),
        without(loop, clear),
    )


def _unknown_operation(tf):
    """A function with an unknown operation, or with an input that does not exist: its run fails."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.identity(tf.cond(x > 1.0, lambda: tf.negative(x), lambda: x), name="y")
    definition = graph.as_graph_def()

    def changed(change: Callable[[NodeDef], object], fed: float):
        copy = type(definition)()
        copy.CopyFrom(definition)
        for function in copy.library.function:
            for node in function.node_def:
                if node.op == "Neg":
                    change(node)
        with tf.Graph().as_default():
            x, y = tf.import_graph_def(copy, return_elements=["x:0", "y:0"], name="")
            with tf.Session() as session:
                return session.run(y, {x: fed})

    def rename(node) -> None:
        node.op = "NoSuchOperation"

    def misdirect(node) -> None:
        node.input[0] = "nothing"

    return attempt(
        *(
            lambda c=change, f=fed: changed(c, f)
            for change in (rename, misdirect)
            for fed in (2.0, 0.5)
        )
    )


def _several(tf):
    """Several calls of the same functions, one of which is differentiated."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.cond(x > 1.0, lambda: tf.sin(x) * tf.exp(x), lambda: x)
        z = tf.while_loop(lambda a: a < 9.0, lambda a: tf.exp(a) * a, [y])
        tf.identity(z, name="z")
    definition, x = graph.as_graph_def(), tf.constant(1.5)
    zs = [tf.import_graph_def(definition, {"x": x}, ["z:0"], name=name)[0] for name in "ab"]
    (first,) = tf.gradients(zs[0], x)
    with tf.Session() as session:
        return session.run([*zs, first, *tf.gradients(first, x)])


BEHAVIOURS = {
    "effects_in_branches": _effects_in_branches,
    "effects_in_loops": _effects_in_loops,
    "missing": functional(_missing),
    "unknown_operation": functional(_unknown_operation),
    "several": functional(_several),
}
