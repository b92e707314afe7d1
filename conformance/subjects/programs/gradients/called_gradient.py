"""Programs of gradients through calls of defined, traced and imported functions."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.program import Action, TensorFunction

__all__ = ["BEHAVIOURS"]


def _values(tf, *programs: Action):
    """The values of the gradients that each program returns, in a graph of its own, or None."""

    def run(program: Action):
        with tf.Graph().as_default(), tf.Session() as session:
            gradients = [
                None if gradient is None else tf.convert_to_tensor(gradient)
                for gradient in program()
            ]
            session.run(tf.global_variables_initializer())
            return [
                None if gradient is None else [str(gradient.shape), session.run(gradient)]
                for gradient in gradients
            ]

    return attempt(*(lambda program=program: run(program) for program in programs))


def _defun(tf):
    return module_of(tf, "framework.function").Defun


def _defined(tf):
    """Functions without a gradient of their own: a SymbolicGradient derives it in the run."""
    defun = _defun(tf)

    def of_one():
        x = tf.constant([2.0, 3.0])
        return tf.gradients(defun(tf.float32, func_name="cubed")(lambda x: x * x * x)(x), x)

    def of_several():
        x, y = tf.constant([2.0, 3.0]), tf.constant(4)

        @defun(tf.float32, tf.int32, func_name="mixed")
        def mixed(x, y):
            return x * tf.cast(y, tf.float32), y + 1, tf.stop_gradient(x)

        return tf.gradients(mixed(x, y)[0], [x])

    def unused():
        x = tf.constant([2.0, 3.0])
        outputs = defun(tf.float32, func_name="two")(lambda x: (x * 2.0, x * x))(x)
        return tf.gradients(outputs[1], x)

    def of_a_variable(reads: bool):
        v = tf.get_variable("v", initializer=[2.0, 5.0], use_resource=True)

        @defun(tf.float32, func_name="read", capture_resource_var_by_value=reads)
        def read(x):
            return x * v

        x = tf.constant([1.0, 3.0])
        return tf.gradients(read(x), [x, v])

    def within_another():
        inner = defun(tf.float32, func_name="inner")(tf.square)
        outer = defun(tf.float32, func_name="outer")(lambda x: inner(x) * x)
        x = tf.constant(3.0)
        return tf.gradients(outer(x), x)

    def within_a_branch():
        squared, x = defun(tf.float32, func_name="squared")(lambda x: x * x), tf.constant(3.0)
        return tf.gradients(tf.cond(x > 1.0, lambda: squared(x), lambda: x), x)

    def within_a_loop():
        squared, x = defun(tf.float32, func_name="squared")(lambda x: x * x), tf.constant(1.5)
        output = tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, squared(y)), [0, x])[1]
        return tf.gradients(output, x)

    return _values(
        tf,
        of_one,
        of_several,
        unused,
        lambda: of_a_variable(True),
        lambda: of_a_variable(False),
        within_another,
        within_a_branch,
        within_a_loop,
    )


def _traced(tf):
    """Traced functions, whose calls get more outputs when gradients need intermediate values."""

    def of_constants():
        @tf.function
        def scaled(x):
            factor = tf.constant([3.0, 5.0])
            return x * factor + tf.sin(x) * factor

        x = tf.constant([1.0, 2.0])
        return tf.gradients(scaled(x), x)

    def of_rows():
        table = tf.get_variable("t", initializer=[[1.0], [2.0], [3.0]], use_resource=True)
        taken = tf.function(lambda i: tf.gather(table, i) ** 2.0)
        return tf.gradients(taken(tf.constant([0, 2, 0])), table)

    def of_a_loop_of_rows():
        table = tf.get_variable("t", initializer=[[1.0], [2.0], [3.0]], use_resource=True)

        @tf.function
        def summed(x):
            return tf.while_loop(
                lambda i, _: i < 3, lambda i, s: (i + 1, s * tf.gather(table, i)), [0, x]
            )[1]

        x = tf.constant([2.0])
        return tf.gradients(summed(x), [x, table])

    def twice():
        cubed, x = tf.function(lambda x: tf.sin(x) * x), tf.constant(2.0)
        first = tf.gradients(cubed(x), x)[0]
        return [first, *tf.gradients(cubed(x) * first, x)]

    return _values(tf, of_constants, of_rows, of_a_loop_of_rows, twice)


def _traced_arguments(tf):
    """Gradients by some arguments of traced functions whose branches use not all of them."""

    def of_a_variable_in_branches():
        v = tf.get_variable("v", initializer=[2.0, 5.0], use_resource=True)

        @tf.function
        def chosen(x):
            inner = tf.cond(x[0] > 3.0, lambda: v * x, lambda: x)
            return tf.cond(x[0] > 1.0, lambda: v * inner, lambda: inner * 3.0)

        x = tf.constant([2.0, 4.0])
        return tf.gradients(chosen(x), [x, v])

    def of_integers():
        @tf.function
        def raised(x, n):
            return x ** tf.cast(n, tf.float32), n + 1

        x, n = tf.constant(3.0), tf.constant(2)
        return tf.gradients(raised(x, n)[0], [x, n])

    return _values(tf, of_a_variable_in_branches, of_integers)


def _imported_calls(tf):
    """Calls in an imported graph: a SymbolicGradient derives their gradients in the run."""

    def imported(make: TensorFunction) -> Action:
        def program():
            with tf.Graph().as_default() as graph:
                tf.identity(make(tf.placeholder(tf.float32, [2], name="x")), name="y")
            x = tf.constant([2.0, 3.0])
            (y,) = tf.import_graph_def(graph.as_graph_def(), {"x": x}, ["y:0"])
            y.set_shape(x.shape)
            return [y, *tf.gradients(y, x)]

        return program

    def stateful(x):
        @tf.function
        def checked(x):
            tf.debugging.assert_less(x, 9.0)
            return x * x

        return checked(x)

    defined = _defun(tf)(tf.float32, func_name="cubed")(lambda x: x * x * x)
    return _values(
        tf, imported(tf.function(lambda x: x * x * x)), imported(stateful), imported(defined)
    )


BEHAVIOURS = {
    "defined": _defined,
    "traced": _traced,
    "traced_arguments": _traced_arguments,
    "imported_calls": _imported_calls,
}
