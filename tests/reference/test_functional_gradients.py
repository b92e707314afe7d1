"""Our gradients through branches, loops and calls of functions in graphs that TensorFlow wrote."""

# ruff: noqa: ARG005 - a loop tells each function of every variable

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from test_functional_control_flow import FEEDS, PROGRAMS

import sessrun.reference as ours

pytestmark = [pytest.mark.tensorflow, pytest.mark.filterwarnings("ignore")]

Program = Callable[[Any, Any, Any], Any]


@pytest.fixture
def functional(theirs: Any) -> Iterator[Any]:
    """TensorFlow, which writes branches and loops as functions meanwhile."""
    assert theirs is not None
    tf = importlib.import_module("tensorflow")
    tf.compat.v1.enable_control_flow_v2()
    yield tf
    tf.compat.v1.disable_control_flow_v2()


def _loop(tf: Any, v: Any, x: Any) -> Any:
    return tf.compat.v1.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a * v + tf.sin(v)), [0, x]
    )[1]


def _branch(tf: Any, v: Any, x: Any) -> Any:
    return tf.cond(x[0] > 1.5, lambda: v * x, lambda: v + x)


def _case(tf: Any, v: Any, x: Any) -> Any:
    branches = [lambda: x, lambda: v * x * x, lambda: tf.sin(v)]
    return tf.switch_case(tf.cast(x[0], tf.int32), branches)


def _rows(tf: Any, v: Any, x: Any) -> Any:
    return tf.compat.v1.while_loop(
        lambda i, a: i < 2, lambda i, a: (i + 1, a * tf.gather(v, [0, i, 1])), [0, x]
    )[1]


def _call(tf: Any, v: Any, x: Any) -> Any:
    """The function gives an integer, too, which has no gradient."""
    return tf.function(lambda x: (v * x, tf.size(x)))(x)[0]


def _loop_in_a_branch_in_a_call(tf: Any, v: Any, x: Any) -> Any:
    return tf.function(lambda x: tf.cond(x[0] > 1.5, lambda: _loop(tf, v, x), lambda: x))(x)


def _random_numbers_in_a_loop(tf: Any, v: Any, x: Any) -> Any:
    """They are drawn once: what goes back through the loop does not execute it again."""

    def step(i: Any, a: Any, kept: Any) -> Any:
        noise = tf.random.uniform([3])
        return i + 1, a * v * noise, kept * noise

    found = tf.compat.v1.while_loop(lambda i, *_: i < 2, step, [0, x, tf.ones([3])])
    return found[1] / found[2]


def _random_numbers_in_branches(tf: Any, v: Any, x: Any) -> Any:
    def one() -> Any:
        noise = tf.random.uniform([3])
        return v * x * noise, noise

    def other() -> Any:
        noise = tf.random.normal([3]) + tf.random.uniform([3])
        return v * noise, noise

    chosen = tf.switch_case(tf.cast(x[0], tf.int32), [one, other, one])
    taken = tf.cond(x[0] > 1.5, one, other)
    return chosen[0] / chosen[1] + taken[0] / taken[1]


_OF_VARIABLES: dict[str, Program] = {
    "loop": _loop,
    "branch": _branch,
    "case": _case,
    "rows": _rows,
    "call": _call,
    "loop-in-a-branch-in-a-call": _loop_in_a_branch_in_a_call,
    "random-numbers-in-a-loop": _random_numbers_in_a_loop,
    "random-numbers-in-branches": _random_numbers_in_branches,
}


def _compare(tf: Any, program: Program, *, in_a_function: bool) -> None:
    """Gradients by a variable and by a placeholder: twice the same, and TensorFlow's."""
    v1 = tf.compat.v1
    with v1.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [3], name="x")
        v = v1.get_variable(
            "v", [3], use_resource=True, initializer=v1.constant_initializer([2.0, 3.0, 4.0])
        )
        made = tf.function(lambda x: program(tf, v, x))(x) if in_a_function else program(tf, v, x)
        y = tf.identity(made, name="y")
        written = graph.as_graph_def().SerializeToString()
        made = v1.gradients(y, [v, x], unconnected_gradients="zero")
        by = [tf.convert_to_tensor(each) for each in made]
        with v1.Session() as session:
            session.run(v.initializer)
            wanted = [session.run(by, {x: feed}) for feed in FEEDS]
    with ours.Graph().as_default() as graph:
        ours.import_graph_def(ours.GraphDef.FromString(written), name="")
        y, *sources = (graph.get_tensor_by_name(each) for each in ("y:0", v.handle.name, "x:0"))
        found = [
            [
                ours.convert_to_tensor(each)
                for each in ours.gradients(y, sources, unconnected_gradients="zero")
            ]
            for _ in range(2)
        ]
        with ours.Session() as session:
            session.run(v.initializer.name)
            for feed, want in zip(FEEDS, wanted, strict=True):
                for one, other in zip(session.run(found, {"x:0": feed}), (want, want), strict=True):
                    for mine, its in zip(one, other, strict=True):
                        np.testing.assert_allclose(mine, its, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("in_a_function", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_of_what_was_imported_are_tensorflows(
    functional: Any, name: str, in_a_function: bool
) -> None:
    _compare(functional, lambda tf, _, x: PROGRAMS[name](tf, x), in_a_function=in_a_function)


@pytest.mark.parametrize("name", _OF_VARIABLES)
def test_so_are_gradients_by_variables_that_functions_read(functional: Any, name: str) -> None:
    _compare(functional, _OF_VARIABLES[name], in_a_function=False)
