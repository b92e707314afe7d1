"""Programs of branches and bodies that are functions: shapes, lists and variables from outside."""

from __future__ import annotations

import importlib

from sessrun.conformance.subjects.programs.control_flow.functional_flow import functional
from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _module(tf, name: str):
    root = "sessrun.reference" if tf.__name__.startswith("sessrun") else "tensorflow"
    return importlib.import_module(f"{root}.python.{name}")


def _collections(tf):
    tf.add_to_collection("outside", 2)

    def branch():
        tf.add_to_collection("inside", 7)
        return tf.constant(tf.get_collection("outside")[0])

    chosen = tf.cond(tf.constant(True), branch, branch)
    last = tf.while_loop(lambda i: i < 3, lambda i: i + tf.get_collection("outside")[0], [0])
    return tf.get_collection("inside"), run(tf, [chosen, last])


def _colocation(tf):
    a, b = tf.constant([2.0], name="a"), tf.constant([2.0], name="b")
    v = tf.get_variable("v", [], use_resource=True)
    seen = []

    def branch():
        with tf.colocate_with(b):
            both = tf.constant(3.0)
        with tf.colocate_with(v, ignore_existing=True):
            beside = tf.constant(4.0)
        seen.extend(
            [
                both.op.colocation_groups(),
                tf.constant(1.0).op.colocation_groups(),
                beside.op.colocation_groups(),
            ]
        )
        return both

    with tf.colocate_with(a):
        chosen = tf.cond(tf.constant(True), branch, branch)
    return seen, run(tf, chosen)


def _shapes(tf):
    size = tf.constant([3])
    unknown = tf.placeholder(tf.int32, [1])
    seen = []

    def body(i):
        shape = tf.concat([[5], size], axis=0)
        partly = tf.concat([unknown, size], axis=0)
        tensors = [
            tf.fill(shape, 1.0),
            tf.zeros(partly),
            tf.ones(partly),
            tf.random_uniform(shape),
            tf.random_normal(partly),
            tf.truncated_normal(shape),
            tf.random_poisson([1.0], shape),
            tf.random_gamma(shape, [[1.0], [2.0]]),
            tf.reshape(tf.zeros([15]), shape),
            tf.random.stateless_uniform(shape, [1, 2]),
            tf.fill(tf.stack([i, i]), 0.0),
            tf.random.stateless_normal(partly, [1, 2]),
            tf.fill(tf.cast(size, tf.int64), 0),
            tf.reshape(tf.zeros([3]), size[0:1]),
            tf.raw_ops.Fill(dims=[2, 3], value=0.0),
        ]
        seen.extend(str(tensor.shape) for tensor in tensors)
        return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    return seen


def _lists(tf):
    lists = _module(tf, "ops.list_ops")

    def elements(shape):
        x, y = tf.placeholder(tf.float32, shape), tf.placeholder(tf.float32, shape)
        result = tf.while_loop(
            lambda v, _: tf.reduce_all(v < 8.0), lambda v, u: (tf.pow(v, u), u), [x, y]
        )
        tf.gradients(result[0], x)
        loop = result[0].op.inputs[0].op
        kept = [output for output in loop.outputs if output.dtype == tf.variant]
        return attempt(
            *(
                lambda handle=handle: str(lists.tensor_list_pop_back(handle, tf.float32)[1].shape)
                for handle in kept
            )
        )

    return [elements(shape) for shape in (None, [None, 2], [1, 2])]


def _variables_of_a_custom_gradient(tf):
    m = tf.get_variable("m", initializer=1.0, use_resource=True)
    x = tf.constant(2.0)

    def body(v):
        @tf.custom_gradient
        def inner(v):
            return v * v * m, lambda dy, variables=None: (dy * 2.0 * v * m, [v for _ in variables])

        return inner(v)

    last = tf.while_loop(lambda v: v < 8.0, body, [x])
    chosen = tf.cond(x > 0.0, lambda: body(x), lambda: x)
    tensors = [last, chosen, *tf.gradients(last, [x, m]), *tf.gradients(chosen, [x, m])]
    with tf.Session() as session:
        session.run(m.initializer)
        return session.run(tensors)


def _lowering(tf):
    """Operations that are not lowered, as a program may ask: every loop variable is computed."""
    switches = _module(tf, "ops.control_flow_util_v2")
    branches = _module(tf, "ops.cond_v2")
    v = tf.get_variable("v", initializer=0.0, use_resource=True)

    def body(i, a):
        with tf.control_dependencies([v.assign_add(1.0)]):
            return i + 1, a + 1.0

    results = []
    for state in (True, False):
        switches._DISABLE_LOWER_USING_SWITCH_MERGE = state
        with tf.name_scope(f"s{state}"):
            count = tf.while_loop(lambda i, _: i < 3, body, [0, 0.0])[0]
            chosen = tf.cond(tf.constant(True), lambda: 1, lambda: 2)
        number = branches.indexed_case(tf.constant(1), [lambda: 1.0, lambda: 2.0])
        lowered = [
            "_lower_using_switch_merge" in tensor.op.inputs[0].op.node_def.attr
            for tensor in (count, chosen, number)
        ]
        with tf.Session() as session:
            session.run(v.initializer)
            results.append([lowered, session.run([count, chosen, number]), session.run(v)])
    graphs = branches.get_func_graphs(chosen.op.inputs[0].op)
    return (
        results,
        [type(graph.outputs[0].op.type).__name__ for graph in graphs],
        attempt(
            lambda: branches.indexed_case(1, [lambda: 1.0]),
            lambda: number,
        ),
    )


BEHAVIOURS = {
    program.__name__.strip("_").replace("_", "-"): functional(program)
    for program in (
        _collections,
        _colocation,
        _shapes,
        _lists,
        _variables_of_a_custom_gradient,
        _lowering,
    )
}
