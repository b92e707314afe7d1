"""Programs of gradients of loops: their nodes, static shapes, values and errors."""

# ruff: noqa: ARG005 - a loop passes every variable to its functions

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Program
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS", "compared", "times"]


PROGRAMS: list[Program] = []


def program(function: Program) -> Program:
    PROGRAMS.append(function)
    return function


def _number(tf):
    return tf.placeholder_with_default(2.0, [], name="x")


def _vector(tf):
    """A vector of unknown length."""
    return tf.placeholder_with_default(np.ones([3], np.float32), [None], name="x")


def times(tf, count: int, step: Callable[..., Sequence[Tensor]], *firsts, **options):
    """The outputs of a loop of `count` equal steps, without its counter."""
    outputs = tf.while_loop(
        lambda i, *_: i < count,
        lambda i, *values: [i + 1, *step(i, *values)],
        [0, *firsts],
        **options,
    )
    return outputs[1:]


@program
def an_invariant(tf):
    x = tf.constant(2.0)
    return tf.gradients(times(tf, 10, lambda i, v: [v * x], x), x)


@program
def one_variable(tf):
    x = _number(tf)
    return tf.gradients(tf.while_loop(lambda v: v < 100.0, tf.square, [x]), x)


@program
def no_iteration(tf):
    x = _vector(tf)
    return tf.gradients(times(tf, 0, lambda i, v: [v * x], x), x)


@program
def a_branch_in_the_loop(tf):
    x = _number(tf)

    def step(i, v):
        return [tf.cond(tf.equal(i % 2, 0), lambda: v * x, lambda: v + x)]

    return tf.gradients(times(tf, 5, step, x), x)


@program
def nested_branches_in_the_loop(tf):
    x = _vector(tf)

    def step(i, v):
        inner = lambda: tf.cond(i > 2, lambda: v * v, lambda: v * x)  # noqa: E731 - as short as it gets
        return [tf.cond(i > 0, inner, lambda: v + 1.0)]

    return tf.gradients(times(tf, 4, step, x * 0.5), x)


@program
def a_loop_in_a_branch(tf):
    x = _number(tf)
    loop = lambda: tf.while_loop(lambda v: v < 100.0, tf.square, [x])  # noqa: E731 - the same
    return tf.gradients(tf.cond(x > 1.0, loop, lambda: x), x)


@program
def nested_loops(tf):
    x = _number(tf)
    step = lambda i, v: times(tf, 3, lambda j, w: [w * x + v], v)  # noqa: E731 - the same
    return tf.gradients(times(tf, 2, step, x), x)


@program
def nested_loops_of_unknown_shapes(tf):
    x = _vector(tf)

    def inner(j, w, u):
        return [w * x + u * 0.5, tf.cond(j > 1, lambda: u, lambda: w)]

    return tf.gradients(times(tf, 2, lambda i, v: times(tf, 3, inner, v, v)[:1], x), x)


@program
def exits_of_nothing(tf):
    x, y = _number(tf), _vector(tf)
    step = lambda i, v, w, u: [v * w[0], w * x, u + 1.0]  # noqa: E731 - the same
    return tf.gradients(times(tf, 5, step, x, y, y)[0], [x, y])


@program
def a_variable_that_is_set_anew(tf):
    x = _vector(tf)
    return tf.gradients(times(tf, 3, lambda i, v, w: [w * w, x * 3.0], x, x), x)


@program
def rows_of_an_invariant(tf):
    p = tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3))
    outputs = times(tf, 3, lambda i, v: [v + tf.gather(p, i) * v], tf.ones([3]))
    (rows,) = tf.gradients(outputs, p)
    return [rows.values, rows.indices, rows.dense_shape, tf.convert_to_tensor(rows)]


@program
def rows_of_a_resource_variable(tf):
    w = tf.get_variable("w", [4, 3], initializer=tf.ones_initializer(), use_resource=True)
    outputs = times(tf, 3, lambda i, v: [v + tf.gather(w, [i, i])], tf.ones([2, 3]))
    return [tf.convert_to_tensor(rows) for rows in tf.gradients(outputs, w)]


@program
def variables_read_in_the_loop(tf):
    one = tf.ones_initializer()
    kinds = [tf.get_variable(name, [], initializer=one, use_resource=name == "r") for name in "rv"]
    outputs = [times(tf, 3, lambda i, v, w=w: [v * w + tf.identity(w)], w + 0.0) for w in kinds]
    return [tf.gradients(output, w)[0] for output, w in zip(outputs, kinds, strict=True)]


@program
def arrays_of_tensors(tf):
    x = tf.placeholder_with_default(np.arange(3, dtype=np.float32), [3])
    outputs = [
        tf.map_fn(lambda a: a * a * x[0] + a, x),
        tf.scan(lambda a, b: a * b + b, x),
        tf.foldl(lambda a, b: a * b + b, x),
        tf.foldr(lambda a, b: a * b + b, x),
    ]
    return [tf.gradients(output, x)[0] for output in outputs]


@program
def arrays_of_tensors_in_a_loop(tf):
    x = _number(tf)
    first = tf.constant([1.0, 2.0, 3.0])
    return tf.gradients(times(tf, 3, lambda i, v: [tf.map_fn(lambda e: e * x, v)], first), x)


@program
def sparse_values_in_a_loop(tf):
    values = tf.constant([2.0, 4.0])
    sparse = tf.SparseTensor(tf.constant([[0], [3]], tf.int64), values, [10])
    rows = tf.IndexedSlices(values, tf.constant([0, 3]), tf.constant([10]))

    def step(i, s, r):
        return [
            tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape),
            tf.IndexedSlices(r.values * 3.0, r.indices, r.dense_shape),
        ]

    one, two = times(tf, 3, step, sparse, rows)
    return tf.gradients([one.values, two.values], values)


@program
def rows_of_joined_tensors(tf):
    def joined(axis: int, dtype):
        x, y = tf.ones([3, 2]), tf.zeros([3, 2])
        rows = tf.constant([2, 0, 2], dtype)
        gradients = tf.gradients(tf.gather(tf.concat([x, y], axis), rows), [x, y])
        return [tf.convert_to_tensor(gradient) for gradient in gradients]

    places = [(0, tf.int32), (1, tf.int32), (-1, tf.int64), (0, tf.int64)]
    return [gradient for arguments in places for gradient in joined(*arguments)]


@program
def variables_in_branches(tf):
    w = tf.get_variable("w", [4, 2], initializer=tf.ones_initializer(), use_resource=True)
    flag = tf.get_variable("flag", initializer=True, use_resource=True)
    output = tf.cond(flag, lambda: tf.gather(w, [1, 2]), lambda: tf.identity(w)[:2])
    return [tf.convert_to_tensor(tf.gradients(output, w)[0])]


@program
def references_in_a_loop(tf):
    v = tf.get_variable("v", initializer=3.0, use_resource=False)
    return times(tf, 3, lambda i, a: [tf.assign_add(v, a)], v)


@program
def options_of_the_loop(tf):
    x = _number(tf)
    options = {"maximum_iterations": 3, "swap_memory": True, "parallel_iterations": 1}
    return tf.gradients(times(tf, 5, lambda i, v: [tf.square(v)], x, **options), x)


@program
def no_way_back(tf):
    x = _number(tf)
    (output,) = times(tf, 3, lambda i, v: [tf.square(v)], x, back_prop=False)
    return [
        gradient
        for gradient in [*tf.gradients(output, x), *tf.gradients(output + x, x)]
        if gradient is not None
    ]


@program
def placed_and_gated(tf):
    x = _number(tf)
    with tf.device("/cpu:0"):
        outputs = times(tf, 3, lambda i, v: [v * x], x)
    return tf.gradients(outputs, x, colocate_gradients_with_ops=True, gate_gradients=True)


@program
def shapes_that_vary(tf):
    x = tf.placeholder_with_default(np.ones([1, 2], np.float32), [1, 2])
    shapes = [tf.TensorShape([]), tf.TensorShape([None, 2])]
    step = lambda i, v: [tf.concat([v, v * 2.0], 0)]  # noqa: E731 - the same
    return tf.gradients(times(tf, 2, step, x, shape_invariants=shapes), x)


@program
def gradients_within_the_loop(tf):
    x = _number(tf)
    return tf.gradients(times(tf, 3, lambda i, v: tf.gradients(v * v * x, v), x), x)


@program
def stopped_gradients(tf):
    x = _number(tf)
    y = x * 3.0
    outputs = times(tf, 3, lambda i, v: [v * y + tf.stop_gradient(v)], x)
    return tf.gradients(outputs, [x, y], stop_gradients=[y])


@program
def two_calls(tf):
    x = _vector(tf)
    outputs = times(tf, 3, lambda i, v: [v * x], x)
    return [*tf.gradients(outputs, x), *tf.gradients(outputs, x, name="again")]


@program
def hessians_of_a_sum(tf):
    x = tf.placeholder_with_default(np.ones([2], np.float32), [2])
    return tf.hessians(tf.reduce_sum(x * x * x), x)


@program
def second_order_of_a_loop(tf):
    x = _number(tf)
    return tf.gradients(tf.gradients(times(tf, 3, lambda i, v: [v * x], x), x), x)


@program
def the_first_value_from_inside(tf):
    """Gradients within a loop's body, and of a loop whose body reads the input of its Switch."""
    x = _number(tf)
    y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * v.op.inputs[0]), [0, x])[1]
    tf.gradients(y, x)
    return times(tf, 3, lambda i, v: tf.gradients(v * v, x), x * 2.0)


def compared(function: Program) -> Program:
    """The program that returns another one's nodes, static shapes and values."""

    def compared(tf):
        def values():
            if not fetched:  # after an error TensorFlow's loop context is still entered
                return None
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                return session.run(fetched)

        fetched = []
        outcomes = attempt(lambda: fetched.extend(function(tf)))
        graph = tf.get_default_graph()
        nodes = [
            [
                node.name,
                node.op,
                list(node.input),
                node.device,
                sorted(str(pair) for pair in node.attr.items() if pair[0] != "value"),
            ]
            for node in graph.as_graph_def().node
        ]
        shapes = [
            str(output.shape.as_list())
            for op in graph.get_operations()
            for output in op.outputs
            if output.shape.ndims is not None
        ]
        return [outcomes, nodes, shapes, attempt(values)]

    return compared


BEHAVIOURS: dict[str, Program] = {function.__name__: compared(function) for function in PROGRAMS}
