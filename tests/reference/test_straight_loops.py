"""Loops that are executed as lists of steps give what others give, and fail as they do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sessrun.reference as tf
from sessrun.conformance.plan import case_of
from sessrun.conformance.runner import Runner
from sessrun.reference.session.straight_loops import StraightLoop


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


def test_a_loop_with_a_branch_is_none(runs: list[int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        (found,) = loop(4, lambda v: [tf.cond(v > 4, lambda: v * 2, lambda: v + 3)], tf.constant(1))
        assert session.run(found) == 28
    assert not runs


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
        i = tf.while_loop(lambda i, _: i < 5, lambda i, _: [i + 1, tf.gather(rows, i, name="pick")],
                          [0, 0.0])  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(i[1])
    assert caught.value.op.name == "while/pick"


def test_a_loop_without_end_ends_with_its_time() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        endless = tf.while_loop(lambda i: i >= 0, lambda i: i * 1, [tf.constant(0)])
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(endless, options=tf.RunOptions(timeout_in_ms=50))


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
