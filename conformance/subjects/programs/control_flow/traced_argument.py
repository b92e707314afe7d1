"""Programs with `tf.function`: structures as arguments, methods, concrete functions, errors."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]


def _value(tf, fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def _structures(tf):
    """Arguments that are dictionaries, tuples, sparse tensors or the program's own objects."""
    traced = []

    @tf.function
    def taken(x, more=None):
        traced.append(type(x).__name__.removeprefix("Symbolic"))
        if isinstance(x, dict):
            return x["a"] + x["b"][0]
        if isinstance(x, tf.SparseTensor):
            return tf.sparse.reduce_sum(x)
        return x if more is None else x * more

    one, two = tf.constant([1.0]), tf.constant([2.0, 4.0])
    sparse = tf.SparseTensor([[0, 1]], [3.0], [2, 2])
    outputs = [
        taken({"a": one, "b": (two,)}),
        taken({"b": (two,), "a": one}),
        taken({"a": one, "b": [two]}),
        taken(sparse),
        taken(sparse),
        taken(one, more=two),
        taken(np.array([5.0], np.float32)),
        taken(np.float32(2.0)),
        taken(one, more=np.ones([1], np.float32)),
    ]
    return traced, taken.experimental_get_tracing_count(), _value(tf, outputs)


def _what_is_compared(tf):
    """Which arguments that are not tensors share a trace."""
    traced = []

    class Thing:
        """An object that is equal to itself only."""

    @tf.function
    def noted(x):
        traced.append(type(x).__name__)
        return tf.constant(1.0)

    thing = Thing()
    for value in (thing, thing, Thing(), "a", "a", 1, 1, 2, True, None, (1, 2), (1, 2), {"k": 3}):
        noted(value)
    return traced


def _methods(tf):
    class Counted:
        """A class whose method counts its traces."""

        count = 0

        @tf.function
        def more(self, x):
            Counted.count += 1
            return x + 1.0

    one, other = Counted(), Counted()
    outputs = [one.more(tf.constant(1.0)), one.more(tf.constant(2.0)), other.more(tf.constant(3.0))]
    return (
        Counted.count,
        _value(tf, outputs),
        Counted.more.__name__,
        _value(tf, Counted.more(one, tf.constant(4.0))),
    )


def _by_hand(tf):
    """`get_concrete_function` with an input signature and without, and calls of the results."""
    spec = tf.TensorSpec([2], tf.float32, name="given")

    @tf.function(input_signature=[spec, {"k": tf.TensorSpec([], tf.float32)}])
    def signed(x, more):
        return x * more["k"]

    @tf.function
    def free(x, y=2.0):
        return x * y

    concrete = signed.get_concrete_function()
    again = free.get_concrete_function(spec, y=3.0)
    x = tf.constant([1.0, 2.0])
    outputs = [signed(x, {"k": tf.constant(4.0)}), free(x), again(x)]
    begins = [function.name.startswith(b"__inference_") for function in (concrete, again)]
    names = [
        begins,
        concrete.inputs[0].op.type,
        len(concrete.inputs),
        len(again.inputs),
        str(again.outputs),
    ]
    return (
        names,
        _value(tf, outputs),
        attempt(
            lambda: signed(x, {"k": [1.0]}),
            lambda: signed(x, {}),
            lambda: signed(x, x),
            lambda: again(x, x, x),
            lambda: again(),
            lambda: concrete(x),
            lambda: signed.get_concrete_function(
                tf.TensorSpec([3], tf.float32), {"k": tf.TensorSpec([], tf.float32)}
            ),
        ),
    )


def _refused(tf):
    x = tf.constant([1.0, 2.0])
    one = tf.function(lambda x: x)
    matrix = tf.function(lambda x: x, input_signature=[tf.TensorSpec([2, 2], tf.float32)])
    return attempt(
        lambda: tf.function(lambda x: x, unknown=True),
        lambda: one(),
        lambda: one(x, x),
        lambda: tf.function(lambda x: x, experimental_nothing=1),
        lambda: one(x, y=1),
        lambda: matrix(x),
        lambda: matrix(x, x),
        lambda: matrix("a"),
        lambda: matrix(),
        lambda: tf.function(lambda x: x, input_signature=tf.TensorSpec([])),
        lambda: tf.function(lambda: x, input_signature=[])().op.type,
        lambda: tf.function(lambda x, y: x * y, input_signature=[tf.TensorSpec([])])(x),
    )


BEHAVIOURS = {
    function.__name__.removeprefix("_"): function
    for function in (_structures, _what_is_compared, _methods, _by_hand, _refused)
}
