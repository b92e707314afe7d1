"""Programs of custom gradients, and of calls whose gradient is derived."""

# ruff: noqa: ARG005 - a loop passes every variable to its functions

from __future__ import annotations

import importlib

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.program import Action, Program

__all__ = ["BEHAVIOURS"]


def _in_own_graphs(tf, *programs: Action):
    """The values and the nodes of each program in a graph of its own."""

    def run(program: Action):
        with tf.Graph().as_default() as graph:
            fetched = [tensor for tensor in program() if tensor is not None]
            nodes = [[node.name, node.op, list(node.input)] for node in graph.as_graph_def().node]
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                return [session.run(fetched), nodes]

    return attempt(*(lambda program=program: run(program) for program in programs))


def _own_gradients(tf):
    def stable():
        @tf.custom_gradient
        def function(x):
            e = tf.exp(x)
            return tf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

        x = tf.constant(100.0)
        return tf.gradients(function(x), x)

    def of_several():
        function = tf.custom_gradient(lambda x, y: ((x * y, x + y), lambda a, b: (a * 5, b * 7)))
        x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
        results = function(x, y)
        return [*results, *tf.gradients(list(results), [x, y]), *tf.gradients(results[0], x)]

    def second():
        function = tf.custom_gradient(lambda x: (x * x * x, lambda dy: dy * 3.0 * x * x))
        x = tf.constant(2.0)
        (first,) = tf.gradients(function(x), x)
        return [first, *tf.gradients(first, x)]

    def in_a_loop():
        function = tf.custom_gradient(lambda x: (x * x, lambda dy: dy * 10.0 * x))
        x = tf.constant(2.0)
        outputs = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, function(v)), [0, x])
        return tf.gradients(outputs[1], x)

    def passed_through():
        x = tf.constant(1.3)
        return tf.gradients(tf.grad_pass_through(tf.floor)(x * 2.0), x)

    def of_a_handle():
        """A custom gradient returns a variable's handle, which still refers to the variable."""
        v = tf.get_variable("v", [3], initializer=tf.zeros_initializer(), use_resource=True)

        @tf.custom_gradient
        def updated(handle, value):
            with tf.control_dependencies(
                [tf.raw_ops.ResourceScatterUpdate(resource=handle, indices=[1], updates=value)]
            ):
                return tf.identity(handle), lambda grad: (None, grad.values * 5.0)

        value = tf.constant([2.0])
        new = updated(v.handle, value)
        rows = tf.raw_ops.ResourceGather(resource=new, indices=[0, 1], dtype=tf.float32)
        return [rows, *tf.gradients(rows, value)]

    return _in_own_graphs(tf, stable, of_several, second, in_a_loop, passed_through, of_a_handle)


def _methods(tf):
    class Model:
        @tf.custom_gradient
        def scaled(self, x):
            """What is called."""
            return x * 2.0, lambda dy: dy * 7.0

    def bound():
        x = tf.constant(3.0)
        y = Model().scaled(x)
        return [y, *tf.gradients(y, x)]

    facts = [Model().scaled.__name__, Model.scaled.__doc__, callable(Model.scaled)]
    return [facts, _in_own_graphs(tf, bound)]


def _dependence(tf):
    """The variables that tensors depend on."""
    module = module_of(tf, "ops.custom_gradient")
    v = tf.get_variable("v", [], use_resource=True)
    w = tf.get_variable("w", [], use_resource=True, trainable=False)
    x = tf.identity(v)
    return attempt(
        lambda: [variable.name for variable in module._get_dependent_variables([], [x * w + 1.0])],
        lambda: module._get_dependent_variables([x], [x * 2.0]),
        lambda: module._get_dependent_variables([], [tf.ones_like(v)]),
        lambda: module.get_variable_by_name("v").name,
        lambda: module.get_variable_by_name("w"),
        lambda: module.get_variable_by_name("none"),
    )


def _variables(tf):
    def function(takes: bool, use_resource: bool = True):
        def inner(x):
            v = tf.get_variable(
                "v", [2], initializer=tf.ones_initializer(), use_resource=use_resource
            )

            def gradient(dy, variables=None):
                return dy * 3.0, [dy * 11.0 * len(variables)]

            return x * v, gradient if takes else lambda dy: dy

        return tf.custom_gradient(inner)

    def used():
        x = tf.constant([1.0, 2.0])
        output = function(takes=True)(x)
        return tf.gradients(output, [x, *tf.global_variables()])

    return _in_own_graphs(
        tf,
        used,
        lambda: [function(takes=False)(tf.constant([1.0, 2.0]))],
        lambda: [function(takes=True, use_resource=False)(tf.constant([1.0, 2.0]))],
    )


def _refused(tf):
    x, y = tf.constant(1.0), tf.constant(2.0)
    half = tf.custom_gradient(lambda x, y: (x * y, lambda d: (None, d)))(x, y)
    short = tf.custom_gradient(lambda x, y: (x * y, lambda d: (d,)))(x, y)
    plain = tf.custom_gradient(lambda x: (x, lambda d: d))
    return attempt(
        lambda: plain(x=x),
        lambda: tf.gradients(half, x),
        lambda: tf.gradients(half, y),
        lambda: tf.gradients(short, x),
        lambda: tf.gradients(tf.stop_gradient(x * x), x),
        lambda: tf.RegisterGradient(3),
        lambda: tf.NotDifferentiable(3),
        lambda: tf.NoGradient("MatMul"),
        lambda: tf.RegisterGradient("MatMul")(lambda op, g: g),
        lambda: tf.gradients(tf.unique([1.0, 2.0])[0] * x, x)[0].shape,
    )


def _derived(tf):
    """The gradients of functions without a gradient of their own."""
    package = "tensorflow" if tf.__name__.startswith("tensorflow") else tf.__name__
    defun = importlib.import_module(f"{package}.python.framework.function").Defun

    def values(program: Action):
        with tf.Graph().as_default() as graph:
            fetched = program()
            types = [op.type for op in graph.get_operations() if "gradients" in op.name]
            with tf.Session() as session:
                return session.run(fetched), types

    def plain():
        function = defun(tf.float32, tf.float32)(lambda x, y: x * tf.sin(y) + x * x)
        x, y = tf.constant([1.0, 2.0]), tf.constant(np.float32([3.0, 4.0]))
        return tf.gradients(function(x, y), [x, y])

    def in_a_loop():
        function = defun(tf.float32)(lambda x: x * x)
        x = tf.constant(1.5)
        outputs = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, function(v)), [0, x])
        return tf.gradients(outputs[1], x)

    def in_a_branch():
        function = defun(tf.float32)(lambda x: x * x)
        x = tf.constant(1.5)
        return tf.gradients(tf.cond(x > 1.0, lambda: function(x), lambda: x), x)

    return attempt(*(lambda p=p: values(p) for p in (plain, in_a_loop, in_a_branch)))


BEHAVIOURS: dict[str, Program] = {
    "own_gradients": _own_gradients,
    "methods": _methods,
    "dependence": _dependence,
    "variables": _variables,
    "refused": _refused,
    "derived": _derived,
}
