"""Loops that are executed as lists of steps give what others give, and fail as they do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sessrun.reference as tf
from sessrun.conformance.plan import case_of
from sessrun.conformance.runner import Runner
from sessrun.reference.session.execute.straight_flow import StraightLoop


def loop(count: int, body: Any, *firsts: Any, **options: Any) -> Any:
    """The variables after so many iterations."""
    return tf.while_loop(
        lambda i, *_: i < count, lambda i, *values: [i + 1, *body(*values)], [0, *firsts], **options
    )[1:]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many exits each loop had that was executed as lists of steps."""
    found: list[int] = []
    real = StraightLoop.run

    def run(self: StraightLoop, *args: Any) -> Any:
        found.append(len(self.exits))
        return real(self, *args)

    monkeypatch.setattr(StraightLoop, "run", run)
    return found


def test_a_loop_of_operations_is_lists_of_steps_and_so_is_its_gradient(runs: list[int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1.0, 2.0])
        (found,) = loop(3, lambda v: [v * x + 1.0], x)
        gradients = tf.gradients(found, x)
        np.testing.assert_allclose(session.run(found), [4.0, 23.0])
        np.testing.assert_allclose(session.run(gradients[0]), [7.0, 37.0])
    assert len(runs) == 3


def test_variables_may_change_places(runs: list[int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        first, second = loop(3, lambda a, b: [b, a], tf.constant(1), tf.constant(2))
        assert session.run([first, second]) == [2, 1]
    assert len(runs) == 1


def test_a_branch_in_a_loop_is_a_step(runs: list[int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        (found,) = loop(4, lambda v: [tf.cond(v > 4, lambda: v * 2, lambda: v + 3)], tf.constant(1))
        assert session.run(found) == 28
    assert len(runs) == 1


def test_branches_in_branches_and_one_that_changes_nothing(runs: list[int]) -> None:
    def body(v: Any) -> Any:
        inner = lambda: tf.cond(v > 5, lambda: v + 100, lambda: v)  # noqa: E731
        return [tf.cond(v > 2, inner, lambda: v + 1)]

    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(loop(3, body, tf.constant(1))) == [3]
        assert session.run(loop(3, body, tf.constant(6))) == [306]
    assert len(runs) == 2


def test_a_branch_in_the_condition(runs: list[int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        found = tf.while_loop(
            lambda i: tf.cond(i < 5, lambda: True, lambda: i < 3), lambda i: i + 2, [0]
        )
        assert session.run(found) == 6
    assert len(runs) == 1


@pytest.mark.parametrize("use_resource", [True, False])
def test_only_the_side_that_is_taken_has_effects(runs: list[int], use_resource: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        counters = [tf.Variable(0, use_resource=use_resource) for _ in range(2)]
        session.run(tf.global_variables_initializer())

        def body(v: Any) -> Any:
            sides = [lambda c=c: tf.assign_add(c, 1) + v * 0 for c in counters]
            return [tf.cond(tf.equal(v % 3, 0), *sides) * 0 + v + 1]

        assert session.run(loop(10, body, tf.constant(0))) == [10]
        assert session.run(counters) == [4, 6]
    assert len(runs) == 1


def test_loops_in_loops_are_steps(runs: list[int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(2.0)
        (found,) = loop(3, lambda v: loop(2, lambda u: [u * x], v), tf.constant(1.0))
        assert session.run([found, *tf.gradients(found, x)]) == [64.0, 192.0]
    assert len(runs) == 2 * (1 + 3)  # forth and back


@pytest.mark.parametrize(("waits", "count"), [(True, 2), (False, 5)])
def test_what_needs_constants_only_executes_in_a_dead_loop_too(waits: bool, count: int) -> None:
    """After the last iteration the variables of the loop within are dead; a constant is not."""
    with tf.Graph().as_default() as graph:
        counter, one = tf.Variable(0, use_resource=True, name="counter"), tf.constant(1)
        (found,) = loop(2, lambda v: loop(1, lambda u: [u + counter.assign_add(one) * 0 + 1], v), 0)
        graph_def = graph.as_graph_def()
    for node in graph_def.node:
        if node.op == "AssignAddVariableOp" and not waits:  # a while_loop has it wait for the body
            node.input[:] = [name for name in node.input if not name.startswith("^")]
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        session.run("counter/Assign")
        assert session.run(found.name) == 2
        assert session.run("counter/Read/ReadVariableOp:0") == count


def test_a_failure_in_a_branch_of_a_loop_within_names_its_operation() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.constant([1.0, 2.0])

        def body(v: Any) -> Any:
            def picked() -> Any:
                return tf.gather(rows, tf.cast(v, tf.int32), name="pick")

            return loop(9, lambda u: [tf.cond(u > 4.0, picked, lambda: u + 1.0)], v)

        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(loop(3, body, tf.constant(0.0)))
    assert caught.value.op.name.endswith("/pick")
    assert caught.value.__cause__ is not caught.value


def test_a_traced_run_gives_the_same(runs: list[int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        (found,) = loop(5, lambda v: [v * 2], tf.constant(1))
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        assert session.run(found, options=options, run_metadata=tf.RunMetadata()) == 32
        assert not runs
        assert session.run(found) == 32


def test_a_failure_names_its_operation() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.constant([1.0, 2.0])
        i = tf.while_loop(
            lambda i, _: i < 5, lambda i, _: [i + 1, tf.gather(rows, i, name="pick")], [0, 0.0]
        )
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(i[1])
    assert caught.value.op.name == "while/pick"


def test_a_loop_without_end_ends_with_its_time() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        endless = tf.while_loop(lambda i: i >= 0, lambda i: i * 1, [tf.constant(0)])
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(endless, options=tf.RunOptions(timeout_in_ms=50))


def test_a_loop_without_end_within_a_loop_ends_with_its_time() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        (endless,) = loop(2, lambda _: [tf.while_loop(lambda i: i >= 0, lambda i: i * 1, [0])], 0)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(endless, options=tf.RunOptions(timeout_in_ms=50))


def test_a_condition_of_several_elements_in_a_loop_fails() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        several = tf.placeholder_with_default([True, False], None)
        (found,) = loop(2, lambda v: [tf.cond(several, lambda: v + 1, lambda: v)], tf.constant(0))
        with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"):
            session.run(found)


def test_a_condition_of_several_elements_fails() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        several = tf.placeholder_with_default([True, False], None)
        endless = tf.while_loop(lambda _: several, lambda i: i + 1, [tf.constant(0)])
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(endless)


def test_loops_one_after_the_other_in_loops_that_are_ahead() -> None:
    """Inner loops of iterations that have begun before the last one's values are there."""
    runner = Runner("reference", in_process=True)
    assert runner.run_once(case_of("programs:2026:48"))["result"] == "pass"


@pytest.mark.parametrize("traced", [False, True])
def test_a_loop_in_a_loop_that_does_not_go_round_is_dead_and_so_is_what_reads_it(
    traced: bool,
) -> None:
    def count(limit: Any) -> Any:
        return tf.while_loop(lambda k: k < limit, lambda k: k + 1, [0])

    def body(i: Any) -> Any:
        return i + 1 + tf.while_loop(lambda j: j < 0, lambda j: count(count(j)), [0])

    with tf.Graph().as_default(), tf.Session() as session:
        # An iteration begins once all of the one before it has ended, what is dead in it too.
        end = tf.while_loop(lambda i: i < 3, body, [0], parallel_iterations=1)
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE) if traced else None
        assert session.run(end, None, options, tf.RunMetadata()) == 3
