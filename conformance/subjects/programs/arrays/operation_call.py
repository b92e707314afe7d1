"""Programs of raw operations, of the effects of one run, and of random numbers."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS", "TOPIC"]

#: These programs belong to the topic of the module `operation`.
TOPIC = "operation"


def _random(tf):
    tf.set_random_seed(7)
    tensors = [
        tf.random_uniform([3]),
        tf.random_normal([2, 2], 5.0, 0.1, seed=1),
        tf.truncated_normal([4], seed=2),
        tf.random_uniform([5], 2, 9, tf.int32),
        tf.random_shuffle([1, 2, 3]),
        tf.multinomial([[0.0, 0.0]], 4),
        tf.random_uniform([2], dtype=tf.float64, seed=3),
        tf.random_normal([]),
    ]
    with tf.Session() as one, tf.Session() as two:
        first, second, again = one.run(tensors), one.run(tensors), two.run(tensors)
    same = [np.array_equal(a, b) for a, b in zip(first, again, strict=True)]
    differs = [np.array_equal(first[i], second[i]) for i in (0, 1, 2, 6, 7)]
    kinds = [(str(np.asarray(v).dtype), np.shape(v)) for v in first]
    inside = [
        bool((first[0] >= 0).all() and (first[0] < 1).all()),
        bool((first[3] >= 2).all() and (first[3] < 9).all()),
        sorted(first[4].tolist()),
    ]
    return (
        tensors,
        same,
        differs,
        kinds,
        inside,
        attempt(
            lambda: tf.random_uniform([2], dtype=tf.int32),
            lambda: tf.random_uniform([2], dtype=tf.string),
            lambda: run(tf, tf.random_uniform([2], 5, 5, tf.int32)),
            lambda: tf.random_normal("a"),
            lambda: tf.random_normal([None]),
            lambda: run(tf, tf.random_normal([-1])),
        ),
    )


def _effects(tf):
    v = tf.Variable(1, use_resource=True)
    add = v.assign_add(1)
    with tf.control_dependencies([add]):
        after = v.read_value()
    with tf.control_dependencies([tf.Assert(tf.less(v, 4), ["too large", v])]):
        checked = tf.identity(v)
    with tf.Session() as session:
        session.run(v.initializer)
        return attempt(
            lambda: session.run([add, after]),
            lambda: session.run([after, after]),
            lambda: session.run(v),
            lambda: session.run(tf.group(add, after)),
            lambda: session.run(v),
            lambda: session.run(checked),
            lambda: session.run(add.op),
            lambda: session.run([v, tf.no_op()]),
            lambda: session.run(add, {v: 10}),
        )


def _raw_ops(tf):
    return attempt(
        lambda: tf.raw_ops.AddV2(x=1.0, y=2.0),
        lambda: tf.raw_ops.AddV2(x=1.0, y=2),
        lambda: tf.raw_ops.Nope,
        lambda: tf.raw_ops.NoOp(name="n"),
        lambda: tf.raw_ops.ConcatV2(values=[[1], [2]], axis=0),
        lambda: tf.raw_ops.Unique(x=[1, 1]),
        lambda: tf.raw_ops.AddV2(1.0, 2.0),
        lambda: tf.raw_ops.AddV2(x=1.0),
        lambda: tf.raw_ops.Cast(x=1.0, DstT=tf.int32),
        lambda: tf.raw_ops.Cast(x=1.0, DstT="int32", Nope=1),
    )


def _incremented(x):
    x += 1.0
    return x


def _lists_of_inputs(tf):
    raw, text, real = tf.raw_ops, tf.placeholder(tf.string), tf.placeholder(tf.float32)
    wrong = np.array([1, 2]), "ab", {1: 2}, {3, 4}, None, real, (x for x in (1, 2))
    return attempt(
        lambda: raw.Pack(values=[1, 2.5]),
        lambda: raw.Pack(values=[1, None]),
        lambda: raw.Pack(values=["a", 1]),
        lambda: raw.Pack(values=[1, text]),
        lambda: raw.Pack(values=[real, text]),
        lambda: raw.Pack(values=[2, real]).op.inputs[0],
        lambda: raw.Pack(values=[{"a": 1}]),
        lambda: raw.Pack(values=[]),
        lambda: raw.IdentityN(input=[1, None]),
        lambda: raw.IdentityN(input=[]),
        lambda: raw.IdentityN(input=[1, "a", real]),
        lambda: raw.ConcatV2(values=[1.0], axis=0),
        lambda: raw.DynamicStitch(indices=[1], data=[2.0, 3.0]),
        lambda: run(tf, tf.py_func(_incremented, [tf.constant([1.0, 2.0])], tf.float32)),
        lambda: run(tf, tf.equal(tf.cast([1, 2], tf.qint8), tf.cast([1, 3], tf.qint8))),
        lambda: tf.TensorArray(tf.float32, np.int64(3)).size().dtype,
        lambda: tf.py_func(len, [None], tf.int32),
        lambda: tf.stack(np.array([1, 2])),
        lambda: tf.stack([1, "a"]),
        lambda: tf.concat([[1], ["a"]], 0),
        *(lambda values=values: raw.Pack(values=values) for values in wrong),
        *(lambda values=values: raw.IdentityN(input=values) for values in wrong),
    )


def _names_of_what_failed(tf):
    """A node whose attribute or input is refused has used up its name; earlier errors do not."""
    raw, text = tf.raw_ops, tf.constant("a")
    return attempt(
        lambda: tf.add(tf.constant(1), text, name="a"),
        lambda: tf.no_op(name="a").name,
        lambda: tf.cast(text, "foo", name="b"),
        lambda: tf.no_op(name="b").name,
        lambda: raw.FIFOQueueV2(component_types=[], name="c"),
        lambda: tf.no_op(name="c").name,
        lambda: tf.ConditionalAccumulator(tf.string, name="d"),
        lambda: tf.no_op(name="d").name,
        lambda: tf.decode_raw("a", tf.string, name="e"),
        lambda: tf.no_op(name="e").name,
        lambda: tf.unique([1], out_idx=tf.string, name="f"),
        lambda: tf.no_op(name="f").name,
        lambda: tf.convert_to_tensor(text, tf.int32, name="g"),
        lambda: tf.no_op(name="g").name,
        lambda: tf.convert_to_tensor("it's", tf.int32),
        lambda: tf.constant([1, "x"], tf.int32),
    )


def _products(tf):
    """The operation that `matmul` chooses: a batched one where the rank may be greater than 2."""
    sides = [tf.placeholder(tf.float32, shape) for shape in (None, [], [2], [2, 2], [1, 2, 2])]
    pairs = [(a, b) for a in sides for b in sides]
    outcomes = attempt(
        *(lambda a=a, b=b: tf.matmul(a, b) for a, b in pairs),
        *(lambda a=a, b=b: a @ b for a, b in pairs),
    )
    return [*outcomes, [op.type for op in tf.get_default_graph().get_operations()]]


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _random,
        _effects,
        _raw_ops,
        _lists_of_inputs,
        _names_of_what_failed,
        _products,
    )
}
