"""Programs of gradients of loops in XLA's context: the graphs they make, values and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.paths import module_of

__all__ = ["BEHAVIOURS"]


def _built(tf: Any, build: Callable[[Any], Any]) -> Any:
    """What a program that makes a tensor in the context gives, and the nodes of its graph."""

    def run() -> Any:
        with tf.Graph().as_default() as graph:
            v = tf.constant(1.5, name="v")
            context = module_of(tf, "ops.control_flow_ops").XLAControlFlowContext()
            context.Enter()
            try:
                loop = build(v)
            finally:
                context.Exit()
            gradient = tf.gradients(loop, v)[0]
            nodes = [(node.name, node.op, list(node.input)) for node in graph.as_graph_def().node]
            return nodes, tf.Session().run(tf.identity(gradient)), context.IsXLAContext()

    return attempt(run)


def _limits(tf: Any) -> Any:
    def loop(times: Any, step: Any = None) -> Callable[[Any], Any]:
        return lambda v: tf.while_loop(
            lambda i, _: i < 3,
            step or (lambda i, x: (i + 1, x * v)),
            (0, 1.0),
            maximum_iterations=times,
        )[1]

    def nested(inner: Any) -> Callable[[Any], Any]:
        def build(v: Any) -> Any:
            def step(i: Any, x: Any) -> Any:
                times = i if inner is None else inner
                return i + 1, loop(times)(v) * x

            return loop(4, step)(v)

        return build

    def of_a_branch(v: Any) -> Any:
        held = []
        tf.cond(tf.constant(True), lambda: held.append(tf.identity(5)) or 1.0, lambda: 1.0)
        return loop(held[0])(v)

    return [
        _built(tf, each)
        for each in (
            loop(5),
            loop(None),
            nested(2),
            nested(None),
            of_a_branch,
            lambda v: tf.cond(v > 1.0, lambda: v * v, lambda: v),
        )
    ]


def _shapes(tf: Any) -> Any:
    def build(v: Any) -> Any:
        rows = tf.placeholder_with_default([1.0, 2.0], [None])
        return tf.while_loop(
            lambda i, _: i < 2, lambda i, x: (i + 1, x * rows * v), (0, rows), maximum_iterations=2
        )[1]

    return _built(tf, build)


BEHAVIOURS = {"limits": _limits, "shapes": _shapes}
