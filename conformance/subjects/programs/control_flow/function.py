"""Programs of functions in a graph's library: definitions, calls and errors."""

from __future__ import annotations

import importlib
import re

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import TensorFunction

__all__ = ["BEHAVIOURS"]


def _functions(tf):
    """The module `python.framework.function` of a namespace."""
    package = "tensorflow" if tf.__name__.startswith("tensorflow") else tf.__name__
    return importlib.import_module(f"{package}.python.framework.function")


def _plain(name: str) -> str:
    """A function's name without its hash."""
    return re.sub(r"_[A-Za-z0-9]{11}$", "", name)


def _described(function):
    definition = function.definition
    signature = definition.signature
    return [
        _plain(signature.name),
        signature.is_stateful,
        signature.description,
        [(arg.name, arg.type) for arg in signature.input_arg],
        [(arg.name, arg.type, definition.ret[arg.name]) for arg in signature.output_arg],
        [
            (node.name, _plain(node.op), node.device, list(node.input), sorted(node.attr))
            for node in definition.node_def
        ],
        sorted(definition.attr),
        {key: str(definition.arg_attr[key].attr["_output_shapes"]) for key in definition.arg_attr},
    ]


def _calls(tf):
    function = _functions(tf)

    @function.Defun(tf.float32, tf.float32)
    def both(a, b):
        """Give two results."""
        c = tf.add(a, b, name="sum")
        return c * 2.0, tf.split(c, 2)[1]

    x = tf.placeholder_with_default([1.0, 2.0], [2], name="x")
    with tf.name_scope("s"):
        first, second = both(x, x, name="named"), both(x, 1.0)
    nodes = [
        (n.name, _plain(n.op), list(n.input), sorted(n.attr))
        for n in tf.get_default_graph().as_graph_def().node
    ]
    with tf.Session() as session:
        values = session.run([first, second])
        fed = session.run([first, second], {x: [3.0, 4.0]})
        skipped = session.run(first[0] + 1.0, {first[0]: [5.0, 6.0]})
    shapes = [str(tensor.shape) for tensor in (*first, *second)]
    return (
        _described(both),
        [(_plain(n), _plain(o), i, a) for n, o, i, a in nodes],
        values,
        fed,
        skipped,
        shapes,
    )


def _captures(tf):
    function = _functions(tf)
    outside = tf.constant([1.0, 2.0], name="outside")
    guaranteed = tf.guarantee_const(tf.constant(1.0))
    for _ in range(1200):
        guaranteed = tf.identity(guaranteed)
    variable = tf.Variable(3.0, name="v", use_resource=False)
    resource = tf.Variable(4.0, name="r", use_resource=True)

    @function.Defun(tf.float32, func_name="Capturing", noinline=True)
    def capturing(x):
        return x + outside, variable * x, resource + x, outside, guaranteed + x

    @function.Defun(tf.float32, func_name="Copying", capture_by_value=True)
    def copying(x):
        return x + outside * 2.0

    called, copied = capturing(1.0), copying(1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run([called, copied])
    names = [tensor.name for tensor in (*called[0].op.inputs, *copied.op.inputs)]
    return (
        _described(capturing),
        _described(copying),
        values,
        names,
        [[tensor.name for tensor in defined.captured_inputs] for defined in (capturing, copying)],
    )


def _overloads(tf):
    function = _functions(tf)

    @function.Defun(func_name="Sum", out_names=["total"])
    def total(x, y):
        return x + y

    @function.Defun(tf.int32, tf.int32)
    def outer(x, y):
        return total(x, y) * total(y, y)

    floats, integers = total(1.5, 2.5), outer(2, 3)
    with tf.Session() as session:
        values = session.run([floats, integers])
    library = tf.get_default_graph().as_graph_def().library
    names = sorted(_plain(entry.signature.name) for entry in library.function)
    return values, floats.op.type, names, _described(outer)


def _effects(tf):
    function = _functions(tf)
    seen: list[float] = []
    counter = tf.Variable(0.0, name="counter", use_resource=True)

    def note(value):
        seen.append(float(value))
        return value

    @function.Defun(tf.float32)
    def noting(x):
        tf.py_func(note, [x], tf.float32)
        tf.py_func(note, [-x], tf.float32, stateful=False)
        tf.raw_ops.AssignAddVariableOp(resource=counter.handle, value=x)
        return tf.identity(x)

    y = noting(3.0)
    with tf.Session() as session:
        session.run(counter.initializer)
        session.run([y, y])
        session.run(y)
        return seen, session.run(counter), noting.stateful_ops


def _variables(tf):
    function = _functions(tf)

    @function.Defun(tf.float32)
    def scaled(x):
        weight = tf.get_variable("w", initializer=2.0)
        return x * weight, tf.constant(float(len(function.get_extra_vars())))

    with tf.variable_scope("scope"):
        y = scaled(3.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run(y)
    return values, [v.name for v in tf.global_variables()], [t.name for t in y[0].op.inputs]


def _gradients(tf):
    function = _functions(tf)

    @function.Defun(tf.float32, tf.float32, func_name="Back")
    def back(x, dy):
        return dy * 2.0 + x

    @function.Defun(tf.float32, grad_func=back, func_name="Forth")
    def forth(x):
        return x * 2.0

    forth(1.0)
    library = tf.get_default_graph().as_graph_def().library
    pairs = [(entry.function_name, entry.gradient_func) for entry in library.gradient]
    return pairs, forth.grad_func_name, sorted(f.signature.name for f in library.function)


def _imported(tf):
    function = _functions(tf)

    @function.Defun(tf.float32)
    def twice(x):
        return x * 2.0

    twice(tf.placeholder(tf.float32, [], name="p"), name="y")
    definition = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default() as graph:
        (y,) = tf.import_graph_def(definition, {"p": tf.constant(4.0)}, ["y:0"])
        again = graph.as_graph_def()
        with tf.Session() as session:
            value = session.run(y)
    versions = [
        (graph_def.versions.producer > 0, graph_def.versions.min_consumer)
        for graph_def in (definition, again)
    ]
    return value, y.name, str(y.shape), len(again.library.function), versions


def _refused(tf):
    function = _functions(tf)

    def defined(*types, body: TensorFunction = lambda x: x, **options):
        def function_of_one(x):
            return body(x)

        return function.Defun(*types, **options)(function_of_one)

    def reshaped():
        y = defined(tf.float32, body=lambda x: tf.reshape(x, [5]))(1.0)
        return tf.Session().run(y)

    variable = tf.Variable(1.0, use_resource=False)
    placeholder = tf.placeholder(tf.float32, [])
    defined(tf.float32, func_name="Taken")(1.0)
    return attempt(
        lambda: function.Defun(tf.float32)(3),
        lambda: defined(tf.float32, tf.float32),
        lambda: function.Defun(tf.float32)(lambda x, y=1: x + y),
        lambda: defined(tf.float32)(1.0, 2.0),
        lambda: defined(tf.float32)(tf.constant(1)),
        lambda: defined(tf.float32)(1.0, bad=1),
        lambda: defined(tf.float32, body=lambda x: (x, None))(1.0),
        lambda: defined(tf.float32, body=lambda _: None, func_name="O")(1.0).type,
        lambda: defined(tf.float32, func_name="Taken", body=lambda x: x + 1)(1.0),
        lambda: defined(tf.float32, func_name="MatMul")(1.0),
        reshaped,
        lambda: defined(tf.float32, body=lambda x: tf.assign_add(variable, x))(1.0),
        lambda: defined(tf.float32, out_names=["a", "b"])(1.0),
        lambda: defined(tf.float32, capture_by_value=True, body=lambda x: x + placeholder)(1.0),
        lambda: defined(tf.float32, capture_by_value=True, body=lambda x: x + variable)(1.0),
        lambda: defined(noinline=True, func_name="N")(True).op.type,
        lambda: defined(tf.float32, experimental_a=1, func_name="E")(1.0).shape,
        lambda: defined(tf.float32, experimental_a=[])(1.0),
        lambda: defined(tf.float32, shape_func=lambda op: [op.inputs[0].shape])([1.0]).shape,
        lambda: tf.get_default_graph().finalize(),
        lambda: defined(tf.float32)(1.0),
    )


def _outside(tf):
    function = _functions(tf)
    before = [function.get_extra_vars(), function.get_extra_inputs(), function.get_extra_args()]
    outer = tf.constant(1.0, name="outer")
    inside = []

    @function.Defun(tf.float32)
    def looking(x):
        y = x + outer
        inside.append([t.name for t in function.get_extra_inputs() + function.get_extra_args()])
        inside.append(tf.get_default_graph().building_function)
        inside.append(tf.get_default_graph() is outer.graph)
        with tf.init_scope():
            inside.append(tf.get_default_graph() is outer.graph)
        return y

    with tf.device("/cpu:0"):
        looking(1.0)
    return before, inside, looking.declared_input_types, _described(looking)


BEHAVIOURS = {
    function.__name__.removeprefix("_"): function
    for function in (
        _calls,
        _captures,
        _overloads,
        _effects,
        _variables,
        _gradients,
        _imported,
        _refused,
        _outside,
    )
}
