"""Loops that write into a reference variable under control inputs see what they have written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sessrun.reference as tf


def variable(value: Any) -> Any:
    return tf.Variable(value, use_resource=False)


def goes_on_until_the_variable_says_so(a: Any) -> Any:
    def body(i: Any) -> Any:
        with tf.control_dependencies([tf.assign_add(a, 1)]):
            return tf.identity(i) + 1

    return tf.while_loop(lambda _: tf.less(a, 5), body, [0], parallel_iterations=1)


def adds_the_variable_once_it_was_written(a: Any) -> Any:
    def body(i: Any, total: Any) -> Any:
        with tf.control_dependencies([tf.assign(a, (i + 1) * 10)]):
            return i + 1, total + a

    return tf.while_loop(lambda i, _: i < 3, body, [0, 0], parallel_iterations=1)[1]


def reads_it_on_a_branch(a: Any) -> Any:
    def body(i: Any, total: Any) -> Any:
        with tf.control_dependencies([tf.assign_add(a, 1)]):
            later = tf.identity(i)
        return i + 1, total + tf.cond(later >= 0, lambda: a + later - later, lambda: 0)

    return tf.while_loop(lambda i, _: i < 4, body, [0, 0], parallel_iterations=1)[1]


def writes_in_a_loop_within(a: Any) -> Any:
    def inner(j: Any) -> Any:
        with tf.control_dependencies([tf.assign_add(a, 1)]):
            return j + 1

    def body(i: Any, total: Any) -> Any:
        with tf.control_dependencies([tf.while_loop(lambda j: j < 2, inner, [0 * i])]):
            return i + 1, total + a

    return tf.while_loop(lambda i, _: i < 4, body, [0, 0], parallel_iterations=1)[1]


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    ("build", "result", "last"),
    [
        (goes_on_until_the_variable_says_so, 5, 5),
        (adds_the_variable_once_it_was_written, 60, 30),
        (reads_it_on_a_branch, 10, 4),
        (writes_in_a_loop_within, 20, 8),
    ],
)
def test_what_an_iteration_writes_is_seen_in_the_loop(
    build: Callable[[Any], Any], result: int, last: int, traced: bool
) -> None:
    """As TensorFlow 2.21 gives it; where a read is not seen anew, the first loop has no end."""
    with tf.Graph().as_default(), tf.Session() as session:
        a = variable(0)
        end = build(a)
        session.run(a.initializer)
        options = tf.RunOptions(timeout_in_ms=20_000)
        options.trace_level = tf.RunOptions.FULL_TRACE if traced else tf.RunOptions.NO_TRACE
        metadata = tf.RunMetadata() if traced else None
        assert session.run(end, None, options, metadata) == result
        assert session.run(a) == last


def test_a_branch_that_writes_the_square_of_a_variable_does_so_each_time() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        a = variable(2.0)

        def body(i: Any) -> Any:
            square = tf.cond(tf.constant(True), lambda: tf.assign(a, tf.square(a)), lambda: a)
            with tf.control_dependencies([square]):
                return i + 1

        end = tf.while_loop(lambda i: i < 4, body, [0])
        session.run(a.initializer)
        assert session.run(end) == 4
        assert session.run(a) == 65536


def test_a_read_that_is_used_after_an_assignment_gives_what_was_assigned() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        a = variable([0.0, 0.0])
        read = a.value()
        with tf.control_dependencies([read]):
            update = tf.assign(a, [1.0, 2.0])
        with tf.control_dependencies([update]):
            later = read + 0.0
        session.run(a.initializer)
        np.testing.assert_array_equal(session.run(later), [1.0, 2.0])


def test_a_read_that_a_switch_hands_on_is_fetched_as_an_array() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        a = variable(1)
        taken = tf.raw_ops.Switch(data=a.value(), pred=tf.constant(True))[1]
        with tf.control_dependencies([taken]):
            update = tf.assign_add(a, 1)
        session.run(a.initializer)
        fetched, updated = session.run([taken, update])
        assert updated == 2
        assert fetched in {1, 2}  # before or after the update: nothing orders them
