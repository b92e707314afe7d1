"""Programs of gradients by variables, their handles and their rows, in functions and tapes."""

from __future__ import annotations

from collections.abc import Callable

from sessrun.conformance.subjects.programs.control_flow.functional_flow import functional
from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Action, Structure
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]


def _values(tf, *programs: Action):
    """The values of the gradients that each program returns, in a graph of its own, or None."""

    def run(program: Action):
        with tf.Graph().as_default(), tf.Session() as session:
            gradients = program()
            kinds = [type(gradient).__name__.removeprefix("Symbolic") for gradient in gradients]
            session.run(tf.global_variables_initializer())
            return kinds, [
                None if gradient is None else session.run(tf.convert_to_tensor(gradient))
                for gradient in gradients
            ]

    return attempt(*(lambda program=program: run(program) for program in programs))


def _variable(tf, initial=((1.0, 2.0), (3.0, 4.0))):
    return tf.get_variable("v", initializer=initial, use_resource=True)


def _handles(tf):
    """Handles whose variable is not known while the graph is built."""

    def by_handle(make: Callable[[Tensor, Callable[[], Tensor]], Structure], **options):
        def program():
            handle = tf.placeholder_with_default(_variable(tf, [3.0, 4.0]).handle, [])

            def read():
                return tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)

            return tf.gradients(make(handle, read), handle, **options)

        return program

    return _values(
        tf,
        by_handle(lambda _, read: read() * 2.0),
        by_handle(lambda *_: tf.constant(1.0) * 2.0, unconnected_gradients="zero"),
        by_handle(
            lambda _, read: tf.cond(
                read()[0] > 1.0, lambda: read() * 2.0, lambda: tf.constant([1.0, 1.0])
            )
        ),
        by_handle(lambda _, read: tf.gather(read(), [0, 0]) * 3.0),
    )


def _rows(tf):
    """Elements and rows of variables."""

    def taken(indices) -> Action:
        def program():
            v = _variable(tf)
            return tf.gradients(tf.gather_nd(v, indices) * 2.0, v)

        return program

    def by_value(**options) -> Action:
        def program():
            v = _variable(tf)
            return tf.gradients(tf.constant(1.0), [v, v.handle], **options)

        return program

    def twice():
        v = _variable(tf)
        return tf.gradients([tf.gather(v, [0]), tf.gather_nd(v, [[1], [1]])], v)

    return _values(
        tf,
        taken([[0], [1], [0]]),
        taken([[0, 1], [1, 1]]),
        taken([[[0], [1]]]),
        twice,
        by_value(),
        by_value(unconnected_gradients="zero"),
    )


def _chosen(tf):
    """Branches some of which do not read the variable, or read its rows only."""

    def of_some():
        v, n = _variable(tf), tf.constant(1)
        branches = [lambda: v * 2.0, lambda: tf.ones([2, 2]), lambda: tf.gather(v, [0, 1])]
        return tf.gradients(tf.switch_case(n, branches), v)

    def of_integers():
        v, n = _variable(tf), tf.constant(3)
        outputs = tf.cond(n > 2, lambda: (v * tf.cast(n, tf.float32), n), lambda: (v, n + 1))
        return tf.gradients(outputs[0], [v, n])

    def of_the_same_twice():
        x = tf.constant([1.0, 2.0])

        def one():
            y = tf.exp(x)
            return y * tf.sin(y) * tf.cos(y)

        output = tf.cond(x[0] > 0.0, one, lambda: x)
        first = tf.gradients(output, x)[0]
        return [first, *tf.gradients(output * 2.0, x), *tf.gradients(first, x)]

    def of_a_loop_in_a_branch():
        v = _variable(tf)

        def loop():
            return tf.while_loop(
                lambda i, _: i < 2, lambda i, a: (i + 1, a * v), [0, tf.ones([2, 2])]
            )[1]

        return tf.gradients(tf.cond(v[0, 0] > 0.0, loop, lambda: tf.ones([2, 2])), v)

    return _values(tf, of_some, of_integers, of_the_same_twice, of_a_loop_in_a_branch)


def _shapes(tf):
    """The shape invariants of a number and of a vector of any length."""
    return [tf.TensorShape([]), tf.TensorShape([None])]


def _looped(tf):
    """Loops that carry handles, that need shapes of earlier values, or that use no variable."""

    def of_shapes():
        x = tf.placeholder_with_default([1.0, 2.0, 3.0], [None])

        def step(i, a):
            return i + 1, tf.reduce_mean(a * x) * a + tf.reduce_mean(a * a)

        output = tf.while_loop(lambda i, _: i < 2, step, [0, x], _shapes(tf))[1]
        return tf.gradients(output, x)

    def of_a_handle():
        v = _variable(tf)

        def step(i, a, handle):
            read = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
            read.set_shape([2, 2])
            return i + 1, a * read, handle

        output = tf.while_loop(lambda i, *_: i < 2, step, [0, tf.ones([2, 2]), v.handle])[1]
        return tf.gradients(output, v.handle)

    def of_no_variable():
        v, x = _variable(tf), tf.constant([1.0, 2.0])
        output = tf.while_loop(
            lambda i, _: i < tf.cast(v[0, 0], tf.int32), lambda i, a: (i + 1, a * x), [0, x]
        )[1]
        return tf.gradients(output, [v, x])

    def of_parts():
        x = tf.placeholder_with_default([1.0, 2.0, 3.0, 4.0], [None])

        def step(i, a):
            first, _ = tf.split(tf.concat([a, x], 0), 2)
            return i + 1, first * 2.0

        output = tf.while_loop(lambda i, _: i < 2, step, [0, x], _shapes(tf))[1]
        return tf.gradients(output, x)

    return _values(tf, of_shapes, of_a_handle, of_no_variable, of_parts)


BEHAVIOURS = {
    "handles": _handles,
    "rows": _rows,
    "chosen": _chosen,
    "looped": _looped,
    "chosen_by_functions": functional(_chosen),
    "looped_by_functions": functional(_looped),
    "handles_in_functions": functional(_handles),
}
