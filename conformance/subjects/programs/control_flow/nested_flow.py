"""Programs of nested branches and loops that are functions, and their gradients, node by node."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence

from sessrun.conformance.subjects.programs.control_flow.functional_flow import (
    REDUNDANT,
    functional,
    plain_name,
)
from sessrun.conformance.subjects.programs.program import Plain, Program
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]

_Pair = collections.namedtuple("_Pair", "count values")  # noqa: PYI024 - what programs nest


def _attributes(node) -> list[Plain]:
    """The attributes of a node: functions by their names, constants without their values."""
    attributes = []
    for key in sorted(node.attr):
        value = node.attr[key]
        kind = value.WhichOneof("value")
        if kind == "func":
            shown = plain_name(value.func.name, {})
        elif value.list.func:
            shown = [plain_name(function.name, {}) for function in value.list.func]
        elif kind == "tensor":
            shown = [value.tensor.dtype, [dim.size for dim in value.tensor.tensor_shape.dim]]
        else:
            shown = " ".join(str(value).split())
        if key != "_gradient_op_type":  # the name contains a number
            attributes.append([key, shown])
    return attributes


def _nodes(tf) -> list[Plain]:
    """Every node of the graph, followed by those of the functions that it calls."""
    graph = tf.get_default_graph().as_graph_def()
    library = {function.signature.name: function for function in graph.library.function}
    rows = []

    def tell(nodes) -> None:
        for node in nodes:
            inputs = [REDUNDANT.sub("redundant", name) for name in node.input]
            rows.append([node.name, node.op, inputs, _attributes(node), node.device])
            for key in sorted(node.attr):
                value = node.attr[key]
                is_one = value.WhichOneof("value") == "func"
                for reference in [value.func] if is_one else value.list.func:
                    body = library[reference.name]
                    rows.append(
                        [
                            [arg.type for arg in body.signature.input_arg],
                            [arg.name for arg in body.signature.output_arg],
                            sorted(
                                (name, REDUNDANT.sub("redundant", source))
                                for name, source in body.ret.items()
                            ),
                            sorted(body.control_ret.items()),
                        ]
                    )
                    tell(body.node_def)

    tell(graph.node)
    return rows


def _times(tf, count: int, step: Callable[..., Sequence[Tensor]], *firsts):
    """The last values of loop variables that a function changes in each iteration."""
    return tf.while_loop(
        lambda i, *_: i < count, lambda i, *v: (i + 1, *step(i, *v)), [0, *firsts]
    )[1:]


def _loop_in_branch_in_loop(tf):
    x, y = tf.constant(2.0), tf.placeholder_with_default([1.0, 2.0], [None])
    inner = lambda a: _times(tf, 2, lambda _, c: [c * x + tf.sin(c)], a)[0]  # noqa: E731
    (r,) = _times(tf, 3, lambda i, a: [tf.cond(i > 1, lambda: a * y + x, lambda: inner(a))], y)
    s = tf.cond(tf.placeholder_with_default(True, []), lambda: r * r, lambda: y)
    return s, tf.gradients(s, [x, y])


def _third_derivatives(tf):
    x = tf.constant(0.5)
    derivatives = [*_times(tf, 2, lambda _, a: [tf.sin(a * x)], x)]
    for _ in range(3):
        derivatives += tf.gradients(derivatives[-1], x)
    return derivatives


def _second_derivatives_of_branches(tf):
    x = tf.constant(3.0)
    inner = lambda: tf.cond(x > 1.0, lambda: x * x * x, lambda: x)  # noqa: E731
    y = tf.cond(tf.placeholder_with_default(True, []), lambda: tf.exp(x) * x * x, inner)
    first = tf.gradients(y, x)
    return y, first, tf.gradients(first, x)


def _arrays(tf):
    x, w = tf.constant([1.0, 2.0, 3.0]), tf.constant(2.0)
    given = tf.TensorArray(tf.float32, 3).unstack(x)

    def step(i, kept, last):
        value = given.read(i) * w + last
        return kept.write(i, value), value

    kept, last = _times(tf, 3, step, tf.TensorArray(tf.float32, 3), 0.0)
    return kept.stack(), tf.gradients(kept.stack(), [x, w]), tf.gradients(last, [x, w])


def _elements(tf):
    x = tf.placeholder_with_default([1.0, 2.0], [2])
    outputs = [
        tf.map_fn(lambda e: e * e + x[0], x),
        tf.scan(lambda a, e: a * e, x),
        tf.foldl(lambda a, e: a + e * e, x),
    ]
    return outputs, tf.gradients(outputs, x)


def _variables(tf):
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    w = tf.get_variable("w", initializer=[[1.0, 2.0], [3.0, 4.0]], use_resource=True)
    (r,) = _times(tf, 2, lambda _, a: [tf.linalg.matvec(w, a) + v], v)
    (rows,) = _times(tf, 1, lambda i, a: [a + tf.gather(w, [i, i + 1])], tf.zeros([2, 2]))
    c = tf.cond(r[0] > 0.0, lambda: tf.gather(v, [0, 1]) * r, lambda: v)

    return r, c, rows, tf.gradients([r, c], [v, w]), tf.gradients(rows, w)


def _changes(tf):
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)

    def changing(_, a):
        with tf.control_dependencies([v.assign_add([1.0, 1.0])]):
            return [a * v]

    (r,) = _times(tf, 2, changing, tf.ones([2]))
    return r, tf.cond(tf.constant(False), lambda: v.assign_sub([1.0, 1.0]), lambda: r)


def _numbers(tf):
    x, number = tf.constant(2.0), tf.placeholder_with_default(1, [])
    r = tf.switch_case(number, [lambda: x, lambda: x * x, lambda: tf.sin(x) * x])
    (q,) = _times(tf, 3, lambda j, a: [tf.switch_case(j, [lambda: a * x, lambda: a * a])], x)
    return r, q, tf.gradients(r, x), tf.gradients(q, x)


def _shapes(tf):
    x = tf.placeholder_with_default([[1.5, 2.0]], [None, 2])
    y = tf.placeholder_with_default([[2.0, 2.0]], [None, 2])
    powers = _times(tf, 2, lambda _, a, b: (tf.pow(a, b), b), x, y)
    (means,) = _times(tf, 2, lambda _, a: [tf.reduce_mean(a, 1, keepdims=True) * x], x)
    longer = tf.while_loop(
        lambda i, _: i < 2,
        lambda i, a: (i + 1, tf.concat([a, a * x[0]], 0)),
        [0, x],
        [tf.TensorShape([]), tf.TensorShape([None, 2])],
    )[1]
    return (
        powers,
        means,
        longer,
        tf.gradients(powers[0], x),
        tf.gradients(means, x),
        tf.gradients(longer, x),
    )


def _own_gradients(tf):
    x = tf.constant(2.0)

    @tf.custom_gradient
    def square(a):
        return a * a, lambda dy: dy * 3.0 * a

    (r,) = _times(tf, 2, lambda _, a: [square(a)], x)
    stopped = _times(tf, 2, lambda _, a, b: (a * tf.stop_gradient(b), b * x), x, x)[0]
    within = _times(
        tf, 2, lambda _, a: tf.gradients(tf.cond(a > 0.0, lambda: a * a * x, lambda: a), a), x
    )[0]
    return r, stopped, within, tf.gradients(r, x), tf.gradients(stopped, x)


def _structures(tf):
    x = tf.constant(2.0)

    def body(s):
        pair = s["k"]
        return [{"k": _Pair(pair.count + 1, [pair.values[0] * x]), "m": (s["m"][0] + x,)}]

    with tf.name_scope("s"):
        r = tf.while_loop(
            lambda s: s["k"].count < 3, body, [{"k": _Pair(0, [x]), "m": (x,)}], name="w"
        )
    y = r[0]["k"].values[0] * r[0]["m"][0]
    return y, tf.gradients(y, x, name="g")


def _graph_and_values(program: Program) -> Program:
    """The program that returns the nodes, the tensors and the values of another one."""

    def built(tf):
        tensors = [
            value
            for value in tf.nest.flatten(program(tf), expand_composites=True)
            if value is not None
        ]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return _nodes(tf), tensors, session.run(tensors)

    return functional(built)


BEHAVIOURS = {
    program.__name__.strip("_").replace("_", "-"): _graph_and_values(program)
    for program in (
        _loop_in_branch_in_loop,
        _third_derivatives,
        _second_derivatives_of_branches,
        _arrays,
        _elements,
        _variables,
        _changes,
        _numbers,
        _shapes,
        _own_gradients,
        _structures,
    )
}
