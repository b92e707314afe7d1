"""Programs of branches and loops of defined functions: the nodes, the functions and the values."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]


def _in_own_graphs(tf, *programs: Action):
    """For each program, in a graph of its own: the values, the nodes, and the functions by name."""

    def run(program: Action):
        with tf.Graph().as_default() as graph:
            fetched = program()
            definition = graph.as_graph_def()
            nodes = [
                [node.name, node.op, list(node.input), sorted(node.attr)]
                for node in definition.node
            ]
            functions = [
                [
                    function.signature.name.rpartition("_")[0],
                    len(function.signature.input_arg),
                    len(function.signature.output_arg),
                ]
                for function in definition.library.function
            ]
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                return [session.run(fetched), nodes, sorted(functions)]

    return attempt(*(lambda program=program: run(program) for program in programs))


def _parts(tf):
    return module_of(tf, "ops.functional_ops"), module_of(tf, "framework.function").Defun


def _branches(tf):
    calls, defun = _parts(tf)
    twice, squared = (
        defun(tf.float32, func_name=name)(function)
        for name, function in (("twice", lambda x: (x + x, x)), ("squared", lambda x: (x * x, -x)))
    )

    def taken(condition) -> Action:
        return lambda: calls.If(condition, [3.0], twice, squared, name="here")

    def gradients():
        return calls.Gradient([3.0, 1.0, 2.0], squared)

    conditions = (True, 0, 2, 0.0, b"", b"a", [], [0], [[False]])
    return _in_own_graphs(tf, *map(taken, conditions), gradients)


def _loops(tf):
    calls, defun = _parts(tf)

    def below(n, x):
        return n < 5.0

    def summed(n, x):
        return n + 1.0, x + n

    def plain():
        return calls.While(
            [1.0, 0.0],
            defun(tf.float32, tf.float32, func_name="below")(below),
            defun(tf.float32, tf.float32, func_name="summed")(summed),
        )

    def with_a_capture(**options):
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())

        @defun(tf.float32, tf.float32, func_name="more")
        def more(n, x):
            return n + v, x + n

        goes_on = defun(tf.float32, tf.float32, func_name="below")(below)
        return calls.While([1.0, 0.0], goes_on, more, **options)

    def capturing_condition():
        v = tf.constant(3.0)
        goes_on = defun(tf.float32, tf.float32)(lambda n, x: n < v)  # noqa: ARG005 - as above
        return calls.While([1.0, 0.0], goes_on, defun(tf.float32, tf.float32)(summed))

    def other_arguments():
        goes_on = defun(tf.float32, tf.int32)(below)
        return calls.While([1.0, 0.0], goes_on, defun(tf.float32, tf.float32)(summed))

    return _in_own_graphs(
        tf,
        plain,
        with_a_capture,
        lambda: with_a_capture(hostmem=[1]),
        capturing_condition,
        other_arguments,
    )


def _ranges(tf):
    calls, defun = _parts(tf)

    def with_body(*bounds, **options) -> Action:
        def program():
            @defun(tf.int32, tf.float32, func_name="body")
            def body(i, x):
                return x * 2.0 + tf.cast(i, tf.float32)

            return calls.For(*bounds, [1.0], body, **options)

        return program

    def with_a_capture(**options) -> Action:
        def program():
            v = tf.constant(3.0)
            body = defun(tf.int32, tf.float32, func_name="body")(lambda i, x: (x * v,))  # noqa: ARG005 - as above
            return calls.For(0, 3, 1, [1.0], body, **options)

        return program

    bounds = ((0, 4, 1), (3, 0, -1), (0, 5, 2), (2, 2, 0), (0, 3, -1), (0, 3, 0), ([0], 3, 1))
    whiles = [with_body(*bound, rewrite_with_while=True) for bound in ((0, 5, 2), (3, 0, -1))]
    return _in_own_graphs(
        tf,
        *(with_body(*bound) for bound in bounds),
        with_body(0, 4, 1, hostmem=[0]),
        *whiles,
        with_a_capture(),
        with_a_capture(rewrite_with_while=True),
    )


def _remote_calls(tf):
    calls, defun = _parts(tf)
    squared = defun(tf.float32, func_name="squared")(lambda x: x * x)

    def on(target) -> Action:
        return lambda: calls.remote_call(args=[3.0], Tout=[tf.float32], f=squared, target=target)

    return _in_own_graphs(tf, on("/cpu:0"), on("/job:localhost/replica:0/task:0/device:CPU:0"))


BEHAVIOURS = {"branches": _branches, "loops": _loops, "ranges": _ranges, "elsewhere": _remote_calls}
