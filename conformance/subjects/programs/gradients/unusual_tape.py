"""Programs of gradient tapes and custom gradients with rare arguments, and errors."""

# ruff: noqa: ARG005 - a gradient function gets every variable

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]


def _in_own_graphs(tf, *programs: Callable[[Tensor], object]):
    """The values of what each program returns of a constant, in a graph of its own."""

    def value(program: Callable[[Tensor], object]):
        with tf.Graph().as_default(), tf.Session() as session:
            results = program(tf.constant([3.0, 2.0]))
            session.run(tf.global_variables_initializer())
            return [
                item if item is None or isinstance(item, str) else session.run(item)
                for item in tf.nest.flatten(results)
            ]

    return attempt(*(lambda program=program: value(program) for program in programs))


def _tapes(tf):
    def never_entered(x):
        tape = tf.GradientTape(persistent=True)
        tape.watch(x)
        return [tape.gradient(x * x, x), [variable.name for variable in tape.watched_variables()]]

    def reset_after(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
        first = tape.gradient(y, x)
        tape.reset()
        return [first, tape.gradient(y, x)]

    def entered_again(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
        with tape:
            z = y * x
        return tape.gradient(z, x)

    def watched_variable(x):
        fixed = tf.Variable(5.0, trainable=False, use_resource=True, name="fixed")
        with tf.GradientTape() as tape:
            tape.watch(fixed)
            y = fixed * x
        return [[v.name for v in tape.watched_variables()], *tape.gradient(y, [fixed, x])]

    def of_a_reference(x):
        variable = tf.Variable(5.0, use_resource=False)
        with tf.GradientTape() as tape:
            y = variable * x
        return tape.gradient(y, variable)

    def watched_reference(_):
        return tf.GradientTape().watch(tf.Variable(5.0, use_resource=False))

    def too_many(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.gradient(y, x, output_gradients=[x, x])

    def no_batch(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x)
        return tape.batch_jacobian(y, x, experimental_use_pfor=False)

    def unknown_batch(_):
        x = tf.placeholder_with_default(np.ones([2, 3], np.float32), None)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.batch_jacobian(y, x, experimental_use_pfor=False)

    return _in_own_graphs(
        tf,
        never_entered,
        reset_after,
        entered_again,
        watched_variable,
        of_a_reference,
        watched_reference,
        too_many,
        no_batch,
        unknown_batch,
    )


def _own_gradients(tf):
    def with_brackets(x):
        @tf.custom_gradient()
        def doubled(x):
            return x * 2.0, lambda grad: grad * 7.0

        return tf.gradients(doubled(x), x)

    def too_few_of_variables(x):
        v = tf.get_variable("v", initializer=3.0, use_resource=True)

        @tf.custom_gradient
        def scaled(x):
            return x * v, lambda grad, variables=None: (grad, [])

        return tf.gradients(scaled(x), [x, v])

    def of_two_of_one_name(x):
        v = tf.get_variable("v", initializer=3.0, use_resource=True)
        tf.add_to_collection(tf.GraphKeys.GLOBAL_VARIABLES, v)

        @tf.custom_gradient
        def scaled(x):
            return x * v, lambda grad, variables=None: (grad, [grad for _ in variables])

        return tf.gradients(scaled(x), [x, v])

    def of_a_loop(x):
        v = tf.get_variable("v", initializer=3.0, use_resource=True)

        @tf.custom_gradient
        def counted(x):
            y = tf.while_loop(lambda y: tf.reduce_sum(y) < v * 9.0, lambda y: y * 2.0, [x])
            return y, lambda grad, variables=None: (grad * 3.0, [tf.reduce_sum(grad)])

        return tf.gradients(counted(x), [x, v])

    return _in_own_graphs(tf, with_brackets, too_few_of_variables, of_two_of_one_name, of_a_loop)


def _what_it_takes(tf):
    """Custom gradients with keyword arguments, without a gradient, and of unwatched inputs."""

    def with_keywords(x):
        return tf.custom_gradient(lambda x: (x, lambda grad: grad))(x=x)

    def beside_what_is_not_watched(x):
        other = tf.constant(3.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * other + x * other * other
        return [
            tape.gradient(y, [x, other], unconnected_gradients=kind) for kind in ("none", "zero")
        ]

    def with_no_gradient(x):
        passed = tf.custom_gradient(lambda x: (x * 2.0, lambda _: None))
        return tf.gradients(passed(x) + x, x)

    return _in_own_graphs(tf, with_keywords, with_no_gradient, beside_what_is_not_watched)


BEHAVIOURS = {"tapes": _tapes, "own_gradients": _own_gradients, "what_it_takes": _what_it_takes}
