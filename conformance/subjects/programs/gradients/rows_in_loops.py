"""Programs of gradients of loops with gathered rows, zeros, calls and branches."""

# ruff: noqa: ARG005 - a loop passes every variable to its functions

from __future__ import annotations

import itertools
from typing import Final

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.gradients.loop_gradient import compared, times
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.program import PairFunction, Program

__all__ = ["BEHAVIOURS"]


#: Makes names of registered gradients unique: a process registers a name once.
_NUMBERS: Final = itertools.count()


def _table(tf, shape=(4, 3)):
    values = np.arange(12, dtype=np.float32).reshape(4, 3)
    return tf.placeholder_with_default(values, shape, name="table")


def _numbers(tf, shape=(None,)):
    return tf.placeholder_with_default(np.array([1, 3], np.int32), shape, name="numbers")


def rows_of_what_leaves_the_loop(tf):
    x = _table(tf)
    (output,) = times(tf, 3, lambda i, v: [v * x], x)
    return [tf.convert_to_tensor(tf.gradients(tf.gather(output, [3, 1, 0, 1]), x)[0])]


def rows_of_unknown_number(tf):
    x, at = _table(tf), _numbers(tf)
    outputs = times(
        tf,
        3,
        lambda i, v: [v + tf.gather(x, at)],
        tf.ones([2, 3]),
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 3])],
    )
    return [tf.convert_to_tensor(tf.gradients(outputs, x)[0])]


def rows_of_unknown_rank(tf):
    x, at = _table(tf, None), _numbers(tf, None)
    outputs = times(tf, 3, lambda i, v: [v + tf.reduce_sum(tf.gather(x, at))], 1.0)
    return [tf.convert_to_tensor(tf.gradients(outputs, x)[0])]


def rows_of_a_variable(tf):
    x = tf.get_variable("w", [4, 3], initializer=tf.ones_initializer(), use_resource=True)
    at = _numbers(tf)
    outputs = times(tf, 3, lambda i, v: [v * tf.reduce_sum(tf.gather(x, at))], 1.0)
    return [tf.convert_to_tensor(tf.gradients(outputs, x)[0])]


def _rows_of_no_known_shape(tf):
    name = f"RowsOfNoShape{next(_NUMBERS)}"
    x = _table(tf)

    @tf.RegisterGradient(name)
    def _rows(op, grad):
        return tf.IndexedSlices(grad * 2.0, tf.constant([0, 1, 2, 3]))

    def step(i, v):
        with tf.get_default_graph().gradient_override_map({"Identity": name}):
            return [v + tf.identity(x)]

    (gradient,) = tf.gradients(times(tf, 2, step, tf.ones([4, 3])), x)
    parts = [gradient.values, gradient.indices]
    return gradient.dense_shape, [str(part.shape) for part in parts], tf.Session().run(parts)


def rows_of_a_part(tf):
    x = tf.constant(np.ones([4, 3], np.float32))

    def step(i, v):
        part = x[: i + 1]
        return [v + tf.reduce_sum(tf.gather(part, [0, i]))]

    return tf.gradients(times(tf, 3, step, 1.0), x)


def exits_of_nothing_within_a_loop(tf):
    x = tf.placeholder_with_default(2.0, [], name="x")

    def step(i, v):
        inner = times(
            tf, 2, lambda j, a, b, c: [a * x, b + 1.0, c + tf.ones_like(c)], v, x, tf.ones([2])
        )
        return inner[:1]

    return tf.gradients(times(tf, 2, step, x), x)


def a_known_variable_that_is_set_anew(tf):
    x = tf.placeholder_with_default(2.0, [], name="x")
    return tf.gradients(times(tf, 3, lambda i, v, w: [w * w, x * 3.0], x, x), x)


def branches_that_leave_values_aside(tf):
    x = tf.placeholder_with_default(np.ones([3], np.float32), [None], name="x")

    def step(i, v, w):
        return tf.cond(i > 0, lambda: [v * w, w], lambda: [v + x, v])

    return tf.gradients(times(tf, 3, step, x, x)[0], x)


def parts_of_what_is_split(tf):
    x = tf.placeholder_with_default(np.ones([4], np.float32), [4], name="x")

    def step(i, v):
        first, _ = tf.split(v, 2)
        return [tf.concat([first * x[:2], first], 0)]

    unknown = tf.placeholder_with_default(np.ones([4], np.float32), [None], name="u")

    def free(i, v):
        return [v * tf.unstack(tf.stack([unknown, v]), 2)[0]]

    return [
        tf.gradients(times(tf, 2, step, x), x)[0],
        tf.gradients(times(tf, 2, free, unknown), unknown)[0],
    ]


def calls_in_the_loop(tf):
    x = tf.placeholder_with_default(2.0, [], name="x")
    defun = module_of(tf, "framework.function").Defun
    cubed = defun(tf.float32, func_name="cubed")(lambda v: v * v * v * 0.1)
    return tf.gradients(times(tf, 2, lambda i, v: [cubed(v) + x], x), x)


def _within_functions(tf):
    """Gradients of loops within a function of the graph's library."""
    defun = module_of(tf, "framework.function").Defun

    @defun(tf.float32, func_name="slope")
    def slope(x):
        def step(i, v):
            first, _ = tf.split(v, 2)
            return [tf.concat([first * 2.0, first], 0)]

        y = times(tf, 2, step, tf.stack([x, x]))
        return tf.gradients(y, x)[0]

    with tf.Session() as session:
        return session.run(slope(tf.constant(3.0)))


def _twice_through_a_loop(tf):
    """Second gradients through a loop, which are refused, and around it."""

    def run(slopes: PairFunction):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.constant(2.0)
            (first,) = tf.gradients(times(tf, 3, lambda i, v: [v * x], x), x)
            return session.run(slopes(first, x))

    return attempt(
        lambda: run(tf.gradients),
        lambda: run(lambda first, x: tf.gradients(first * x, x)),
        lambda: run(lambda first, x: tf.gradients(first * x, x, stop_gradients=[first])),
        lambda: run(lambda first, x: tf.gradients([x * x * x, first], [first, x])),
    )


BEHAVIOURS: dict[str, Program] = {
    **{
        program.__name__: compared(program)
        for program in (
            rows_of_what_leaves_the_loop,
            rows_of_unknown_number,
            rows_of_unknown_rank,
            rows_of_a_variable,
            rows_of_a_part,
            exits_of_nothing_within_a_loop,
            a_known_variable_that_is_set_anew,
            branches_that_leave_values_aside,
            parts_of_what_is_split,
            calls_in_the_loop,
        )
    },
    "rows_of_no_known_shape": _rows_of_no_known_shape,
    "within_functions": _within_functions,
    "twice_through_a_loop": _twice_through_a_loop,
}
