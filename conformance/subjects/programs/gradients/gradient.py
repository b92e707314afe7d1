"""Programs of `tf.gradients`: results, the nodes that it adds, and errors."""

from __future__ import annotations

import importlib
import itertools

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Action, PairFunction, TensorFunction

__all__ = ["BEHAVIOURS"]

#: Makes names of registered gradients unique: a process registers a name once.
_NUMBERS = itertools.count()


def _nodes(graph):
    return [
        [
            node.name,
            node.op,
            list(node.input),
            node.device,
            str(node.attr["_class"]) if "_class" in node.attr else "",
        ]
        for node in graph.as_graph_def().node
        if node.name.startswith(("gradients", "g/"))
    ]


def _hundredfold(_op, grad):
    return grad * 100.0


def _in_own_graphs(tf, *programs: Action):
    """What each program returns in a graph of its own, and the nodes of its gradients."""

    def build(program: Action):
        with tf.Graph().as_default() as graph:
            return [program(), _nodes(graph)]

    return attempt(*(lambda program=program: build(program) for program in programs))


def _pair(tf, dtype=None):
    return tf.placeholder(dtype or tf.float32, [2]), tf.placeholder(dtype or tf.float32, [2])


def _of_one(tf, make: TensorFunction, dtype=None, **options):
    x, _ = _pair(tf, dtype)
    return tf.gradients(make(x), x, **options)


def _targets(tf):
    def two():
        x, y = _pair(tf)
        return tf.gradients([x * y, x + y], [x, y])

    def placed():
        x, _ = _pair(tf)
        with tf.device("/cpu:1"):
            y = x * x
        return tf.gradients(tf.exp(y) + y, x, colocate_gradients_with_ops=True)

    def on_two_devices():
        x, _ = _pair(tf)
        terms = []
        for device in ("/task:2", "/task:1"):
            with tf.device(device):
                terms += [tf.sin(x), tf.exp(x)]
        return [
            tf.gradients(tf.add_n(terms), x, colocate_gradients_with_ops=colocate)
            for colocate in (False, True)
        ]

    def of_a_matrix():
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        with tf.Session() as session:
            return session.run(tf.hessians(tf.reduce_sum(tf.matmul(x, x, transpose_a=True)), x))

    def gated():
        x, y = _pair(tf)
        return tf.gradients(x * y, [x, y], gate_gradients=True)

    def stopped():
        x, _ = _pair(tf)
        y = x * 2.0
        return tf.gradients(y * 3.0, [x, y], stop_gradients=[y])

    def unpacked():
        x = tf.placeholder(tf.float32, [2, 3])
        return tf.gradients(tf.unstack(x)[0], x)

    return _in_own_graphs(
        tf,
        two,
        placed,
        on_two_devices,
        of_a_matrix,
        gated,
        stopped,
        unpacked,
        lambda: _of_one(tf, lambda x: x * x),
        lambda: _of_one(tf, lambda x: x),
        lambda: _of_one(tf, lambda x: tf.stop_gradient(x) * 2.0),
        lambda: _of_one(tf, lambda x: x * 2, tf.int32),
        lambda: _of_one(tf, lambda x: x * 2.0, grad_ys=[tf.constant([1.0, 2.0])]),
        lambda: _of_one(
            tf, lambda x: x * 2, tf.complex64, grad_ys=tf.constant([1j, 2], tf.complex64)
        ),
        lambda: tf.gradients(*_pair(tf)),
        lambda: tf.gradients([], _pair(tf)[0]),
        lambda: tf.gradients(*_pair(tf), unconnected_gradients="zero"),
        *(
            lambda method=method: _of_one(
                tf, lambda x: x + tf.exp(x) + tf.sin(x), name="g", aggregation_method=method
            )
            for method in (0, 1, 2)
        ),
    )


def _refused(tf):
    return _in_own_graphs(
        tf,
        lambda: tf.gradients(*_pair(tf), unconnected_gradients="nope"),
        lambda: _of_one(tf, lambda x: x * 2, tf.complex64),
        lambda: _of_one(tf, lambda x: x * 2.0, grad_ys=[tf.constant([1, 2])]),
        lambda: _of_one(tf, lambda x: x * 2.0, grad_ys=[1.0, 2.0]),
        lambda: _of_one(tf, lambda x: tf.bitcast(x, tf.float32)),
        lambda: _of_one(tf, lambda x: x + x, aggregation_method=7),
        lambda: tf.gradients(tf.constant("a"), _pair(tf)[0]),
        lambda: _of_one(tf, lambda x: tf.raw_ops.PreventGradient(input=x, message="no")),
        lambda: tf.RegisterGradient("Sin")(_hundredfold),
        lambda: tf.RegisterGradient(7),
        lambda: tf.NotDifferentiable("Sin"),
    )


def _rows(tf):
    def parts(slices):
        return [slices.values, slices.indices, slices.dense_shape]

    def twice():
        x = tf.placeholder(tf.float32, [5, 2])
        return parts(tf.gradients([tf.gather(x, [0, 1]), tf.gather(x, [2])], x)[0])

    def mixed():
        x = tf.placeholder(tf.float32, [5, 2])
        return tf.gradients([tf.gather(x, [0, 1]), x * 2.0], x)

    def of_variable():
        variable = tf.get_variable("v", [3])
        return parts(tf.gradients(tf.gather(variable, [0, 2]) * 2.0, variable)[0])

    def of_variables():
        old, new = tf.get_variable("v", [2]), tf.get_variable("r", [2], use_resource=True)
        return tf.gradients(old * new, [old, new])

    return _in_own_graphs(tf, twice, mixed, of_variable, of_variables)


def _conditional(tf):
    def values(make: PairFunction, *, of_variable: bool = False):
        p = tf.placeholder(tf.bool, [])
        x = tf.placeholder(tf.float32, [])
        if of_variable:
            x = tf.get_variable("v", initializer=2.0, use_resource=True)
        gradient = tf.gradients(make(p, x), x)[0]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            feeds = {} if of_variable else {x: 2.0}
            return [session.run(gradient, {p: taken, **feeds}) for taken in (True, False)]

    def switched(p, x):
        no, yes = tf.raw_ops.Switch(data=x, pred=p)
        return tf.raw_ops.Merge(inputs=[no * 2.0, yes * 5.0])[0]

    return _in_own_graphs(
        tf,
        lambda: values(lambda p, x: tf.cond(p, lambda: x * x, lambda: x * 3.0)),
        lambda: values(lambda p, x: tf.cond(p, lambda: x * x, lambda: 1.0)),
        lambda: values(lambda p, x: tf.cond(p, lambda: x * x, lambda: 1.0), of_variable=True),
        lambda: values(
            lambda p, x: tf.cond(
                p, lambda: tf.cond(x > 1.0, lambda: x * x * x, lambda: -x), lambda: x * 3.0
            )
        ),
        lambda: values(switched),
    )


def _arrays(tf):
    def values(make: TensorFunction):
        x = tf.constant([1.0, 2.0, 3.0])
        with tf.Session() as session:
            return session.run(tf.gradients(make(x), x)[0])

    def array(count: int = 3):
        return tf.TensorArray(tf.float32, count)

    return _in_own_graphs(
        tf,
        lambda: values(lambda x: array().unstack(x).read(1) * 5.0),
        lambda: values(lambda x: array().unstack(x).gather([2, 0]) * [1.0, 4.0]),
        lambda: values(lambda x: array(2).write(0, x).write(1, x * x).stack()),
        lambda: values(lambda x: array(2).split(x, [1, 2]).concat() * [1.0, 2.0, 3.0]),
        lambda: tf.gradients(array().unstack(_pair(tf)[0]).read(0), _pair(tf)[0], name="other"),
    )


def _functions(tf):
    package = "sessrun.reference" if "sessrun" in tf.__name__ else "tensorflow"
    function = importlib.import_module(f"{package}.python.framework.function")

    def by_python():
        @function.Defun(tf.float32, func_name="f", python_grad_func=_hundredfold)
        def f(x):
            return x * x

        x = tf.constant(2.0)
        with tf.Session() as session:
            return session.run(tf.gradients(f(x), x))

    def by_function():
        @function.Defun(tf.float32, tf.float32, func_name="of_f")
        def of_f(x, grad):
            return x * grad * 5.0

        @function.Defun(tf.float32, func_name="f", grad_func=of_f)
        def f(x):
            return x * x

        x = tf.constant(2.0)
        with tf.Session() as session:
            return session.run(tf.gradients(f(x), x))

    return attempt(by_python, by_function)


def _replaced(tf):
    name = f"Hundredfold{next(_NUMBERS)}"
    tf.RegisterGradient(name)(_hundredfold)

    def overridden():
        x, _ = _pair(tf)
        with tf.get_default_graph().gradient_override_map({"Square": name}):
            y = tf.square(x)
        with tf.Session() as session:
            return session.run(tf.gradients([y, tf.square(x)], x)[0], {x: np.array([2.0, 3.0])})

    def second():
        x, _ = _pair(tf)
        return tf.hessians(tf.reduce_sum(x * x * x), x)

    def squared():
        x, y = _pair(tf)
        hessians = tf.hessians([tf.reduce_sum(x * y * x)], [x, y])
        with tf.Session() as session:
            return session.run(hessians, {x: [1.0, 2.0], y: [3.0, 4.0]})

    return _in_own_graphs(tf, overridden, second, squared)


BEHAVIOURS = {
    "arrays": _arrays,
    "conditional": _conditional,
    "functions": _functions,
    "refused": _refused,
    "replaced": _replaced,
    "rows": _rows,
    "targets": _targets,
}
