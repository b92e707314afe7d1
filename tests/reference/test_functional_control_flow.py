"""Graphs that TensorFlow writes with branches and loops as functions, run here."""

# ruff: noqa: ARG005 - a loop tells each function of every variable

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sessrun.reference as ours

pytestmark = [pytest.mark.tensorflow, pytest.mark.filterwarnings("ignore")]

Program = Callable[[Any, Any], Any]


def _loop(tf: Any, x: Any) -> Any:
    return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x + tf.sin(v)), [0, x])[1]


def _branch(tf: Any, x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.sin(x) * tf.exp(x), lambda: tf.cos(x))


def _case(tf: Any, x: Any) -> Any:
    branches = [lambda: tf.sin(x) * tf.exp(x), lambda: tf.exp(tf.cos(x)), lambda: x * x]
    return tf.switch_case(tf.cast(x[0], tf.int32), branches)


def _branch_in_a_loop(tf: Any, x: Any) -> Any:
    def inner(v: Any) -> Any:
        return tf.cond(v[0] > 2.0, lambda: tf.sin(v) * tf.exp(v * x), lambda: tf.cos(v) * x)

    return tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, inner(v)), [0, x])[1]


def _loop_in_a_branch(tf: Any, x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0, lambda: _loop(tf, x), lambda: x)


def _nested_loops(tf: Any, x: Any) -> Any:
    def inner(v: Any) -> Any:
        return tf.while_loop(lambda j, w: j < 2, lambda j, w: (j + 1, w * x), [0, v])[1]

    return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, inner(v)), [0, x])[1]


def _mapped(tf: Any, x: Any) -> Any:
    return tf.map_fn(lambda e: e * e * x[0], x) + tf.scan(lambda a, e: a * e, x)


def _arrays(tf: Any, x: Any) -> Any:
    rows = tf.TensorArray(tf.float32, 3, infer_shape=False).unstack(x)
    more = tf.TensorArray(tf.float32, 4).scatter([3, 0, 1], x)
    parts = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [1, 2])
    grown = tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False)
    _, grown = tf.while_loop(
        lambda i, t: i < 3, lambda i, t: (i + 1, t.write(i, tf.fill([i + 1], x[0]))), [0, grown]
    )
    return tf.concat(
        [rows.gather([2, 0]), [rows.read(1)], more.stack(), parts.concat(), grown.concat()], 0
    )


PROGRAMS: dict[str, Program] = {
    "loop": _loop,
    "branch": _branch,
    "case": _case,
    "branch-in-a-loop": _branch_in_a_loop,
    "loop-in-a-branch": _loop_in_a_branch,
    "nested-loops": _nested_loops,
    "mapped": _mapped,
}


def _written(tf: Any, program: Program) -> tuple[bytes, list[Any]]:
    """The graph of a program, and what TensorFlow makes of two feeds."""
    v1 = tf.compat.v1
    with v1.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [3], name="x")
        tf.identity(tf.function(lambda x: program(tf, x))(x), name="y")
        with v1.Session() as session:
            values = [session.run("y:0", {"x:0": feed}) for feed in FEEDS]
        return graph.as_graph_def().SerializeToString(), values


FEEDS = ([1.0, 2.0, 3.0], [2.0, -5.0, 1.0])


def _read(graph: bytes) -> list[Any]:
    with ours.Graph().as_default():
        ours.import_graph_def(ours.GraphDef.FromString(graph), name="")
        with ours.Session() as session:
            return [session.run("y:0", {"x:0": feed}) for feed in FEEDS]


def _check(theirs: Any, program: Program) -> None:
    assert theirs is not None  # TensorFlow's functions are written by its version 2
    graph, wanted = _written(importlib.import_module("tensorflow"), program)
    for found, value in zip(_read(graph), wanted, strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-5)


@pytest.mark.parametrize("name", [*PROGRAMS, "arrays"])
def test_a_function_with_branches_and_loops_gives_the_same(theirs: Any, name: str) -> None:
    _check(theirs, {**PROGRAMS, "arrays": _arrays}[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_so_does_its_gradient(theirs: Any, name: str) -> None:
    def gradient(tf: Any, x: Any) -> Any:
        return tf.compat.v1.gradients(PROGRAMS[name](tf, x), x)[0]

    _check(theirs, gradient)
