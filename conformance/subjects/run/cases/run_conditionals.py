"""Vectors of RUN: conditionals and loops, as graphs of Switch, Merge and frames."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.subjects.run.cases.run import counter, floats, ints
from sessrun.spec.cases.objects import Tensor


@engine_case("RUN-049", title="Only the taken branch of a conditional counts.")
def only_the_taken_branch_counts(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.bool, [], name="p")

        def branch(name: str, result: float) -> Callable[[], Tensor]:
            def build() -> Tensor:
                with tf.control_dependencies([tf.assign_add(variables[name], 1)]):
                    return tf.constant(result)

            return build

        variables = {
            name: tf.Variable(0, name=name, dtype=tf.int32, use_resource=False)
            for name in ("on", "off")
        }
        tf.identity(tf.cond(p, branch("on", 2.0), branch("off", 3.0)), name="result")
    session = c.open()
    session.run(["on/Assign", "off/Assign"], values=[None, None])
    for taken, result in ((True, 2), (True, 2), (False, 3)):
        session.run(["result:0"], {"p:0": np.bool_(taken)}, values=[np.float32(result)])
    session.run(["on:0", "off:0"], values=[np.int32(2), np.int32(1)])


@engine_case("RUN-049", title="A branch inside of a branch runs if both are taken.")
def branches_inside_of_branches(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p, q = (tf.placeholder(tf.bool, [], name=name) for name in "pq")
        x = tf.placeholder(tf.float32, [2], name="x")
        inner = lambda: tf.cond(q, lambda: x + 1.0, lambda: x * 2.0)  # noqa: E731 - a branch
        tf.identity(tf.cond(p, inner, lambda: -x), name="y")
    session = c.open()
    wanted = {(True, True): (6, 8), (True, False): (10, 14), (False, True): (-5, -7)}
    for (p_value, q_value), values in wanted.items():
        feeds = {"p:0": np.bool_(p_value), "q:0": np.bool_(q_value), "x:0": floats(5, 7)}
        session.run(["y:0"], feeds, values=[floats(*values)])


@engine_case("RUN-050", title="What was made outside of a branch runs with either branch.")
def outside_of_the_branches(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.bool, [], name="p")
        bumped = counter(tf)
        tf.identity(tf.cond(p, lambda: bumped * 10, lambda: tf.constant(-1)), name="y")
    session = c.open()
    session.run(["counter/Assign"], values=[None])
    session.run(["y:0"], {"p:0": np.bool_(False)}, values=[np.int32(-1)])
    session.run(["y:0"], {"p:0": np.bool_(True)}, values=[np.int32(20)])
    session.run(["counter:0"], values=[np.int32(2)])


@engine_case("RUN-051", title="A tensor of the other branch has no value to fetch.")
def a_value_of_the_other_branch(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.bool, [], name="p")
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.cond(p, lambda: tf.add(x, 1.0, name="on"), lambda: tf.multiply(x, 2.0, name="off"))
    session = c.open()
    feeds = {"x:0": floats(1, 2)}
    session.run(["cond/on:0"], {**feeds, "p:0": np.bool_(True)}, values=[floats(2, 3)])
    session.run(["cond/on:0"], {**feeds, "p:0": np.bool_(False)}, error=[3])
    session.run(["cond/Merge:0", "cond/off:0"], {**feeds, "p:0": np.bool_(True)}, error=[3])
    session.run(["cond/off:0"], {**feeds, "p:0": np.bool_(False)}, values=[floats(2, 4)])


@engine_case("RUN-052", title="An operation of the other branch is fetched, and not executed.")
def an_operation_of_the_other_branch(c: EngineAuthor) -> None:
    with c.graph() as tf:
        p = tf.placeholder(tf.bool, [], name="p")
        variable = tf.Variable(0, name="count", dtype=tf.int32, use_resource=False)
        tf.cond(p, lambda: tf.assign_add(variable, 1, name="bump"), lambda: tf.constant(0))
    session = c.open()
    session.run(["count/Assign"], values=[None])
    session.run(["cond/bump"], {"p:0": np.bool_(False)}, values=[None])
    session.run(["count:0"], values=[np.int32(0)])
    session.run(["cond/bump"], {"p:0": np.bool_(True)}, values=[None])
    session.run(["count:0"], values=[np.int32(1)])


@engine_case("RUN-053", title="A loop that is not entered gives its first values.")
def a_loop_that_is_not_entered(c: EngineAuthor) -> None:
    with c.graph() as tf:
        n = tf.placeholder(tf.int32, [], name="n")
        first = tf.constant([1.5, 2.5])
        loop = tf.while_loop(lambda i, _: i < n, lambda i, a: (i + 1, a * 2.0), [n * 0, first])
        tf.identity(loop[1], name="y")
    session = c.open()
    session.run(["y:0"], {"n:0": np.int32(0)}, values=[floats(1.5, 2.5)])
    session.run(["y:0"], {"n:0": np.int32(-3)}, values=[floats(1.5, 2.5)])
    session.run(["y:0"], {"n:0": np.int32(3)}, values=[floats(12, 20)])


@engine_case("RUN-056", title="The body of a loop runs as long as the condition holds.")
def a_loop_that_counts(c: EngineAuthor) -> None:
    with c.graph() as tf:
        n = tf.placeholder(tf.int32, [], name="n")
        x = tf.placeholder(tf.int32, [2], name="x")

        def body(i: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
            inner = tf.while_loop(lambda j, _: j < i, lambda j, b: (j + 1, b + x), [i * 0, a])
            return i + 1, inner[1]

        tf.identity(tf.while_loop(lambda i, _: i < n, body, [n * 0, x * 0])[1], name="y")
    session = c.open()
    feeds = {"x:0": ints(1, 10)}
    for count, times in ((1, 0), (3, 3), (5, 10)):
        session.run(["y:0"], {**feeds, "n:0": np.int32(count)}, values=[ints(times, 10 * times)])


@engine_case("RUN-057", title="An update in a loop is done in every iteration.")
def updates_in_a_loop(c: EngineAuthor) -> None:
    with c.graph() as tf:
        n = tf.placeholder(tf.int32, [], name="n")
        variable = tf.Variable(0, name="count", dtype=tf.int32, use_resource=False)

        def body(i: Tensor) -> Tensor:
            with tf.control_dependencies([tf.assign_add(variable, 2)]):
                return i + 1

        tf.identity(tf.while_loop(lambda i: i < n, body, [n * 0]), name="y")
    session = c.open()
    session.run(["count/Assign"], values=[None])
    session.run(["y:0"], {"n:0": np.int32(4)}, values=[np.int32(4)])
    session.run(["count:0"], values=[np.int32(8)])
