"""Programs of optionals, with and without values, and of `FakeParam`."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _some(tf, *values):
    return tf.raw_ops.OptionalFromValue(components=[tf.convert_to_tensor(item) for item in values])


def _kept(tf, optional, types, shapes=None):
    shapes = [None] * len(types) if shapes is None else shapes
    return tf.raw_ops.OptionalGetValue(optional=optional, output_types=types, output_shapes=shapes)


def _there_or_not(tf):
    raw, nothing = tf.raw_ops, tf.raw_ops.OptionalNone()
    one, several = _some(tf, 3), _some(tf, [1.5, 2.5], "a", [[True]])
    return attempt(
        *(
            lambda o=optional: run(tf, raw.OptionalHasValue(optional=o))
            for optional in (nothing, one, several)
        ),
        lambda: run(tf, _kept(tf, one, [tf.int32])),
        lambda: run(tf, _kept(tf, several, [tf.float32, tf.string, tf.bool])),
        lambda: run(tf, _kept(tf, nothing, [tf.int32])),
        lambda: _kept(tf, one, [tf.int32], [[]]),
        lambda: raw.OptionalHasValue(optional=one),
        lambda: run(
            tf,
            raw.OptionalHasValue(
                optional=raw.EmptyTensorList(
                    element_shape=[2], max_num_elements=1, element_dtype=tf.float32
                )
            ),
        ),
        lambda: raw.OptionalHasValue(optional=3),
        lambda: raw.OptionalFromValue(components=[]),
    )


def _sums(tf):
    """`AddN` of optionals: the sum of those that have values, element by element."""
    nothing = tf.raw_ops.OptionalNone()
    pairs = [(1, [2.0, 3.0]), (10, [20.0, 30.0]), (100, [200.0, 300.0])]
    types = [tf.int32, tf.float32]
    optionals = [_some(tf, *pair) for pair in pairs]

    def total(*inputs):
        return tf.raw_ops.AddN(inputs=list(inputs))

    def unseen(value):
        """The same value with an unknown static shape."""
        return tf.placeholder_with_default(value, [])

    return attempt(
        lambda: run(tf, _kept(tf, total(*optionals), types)),
        lambda: run(tf, _kept(tf, total(optionals[2]), types)),
        lambda: run(tf, tf.raw_ops.OptionalHasValue(optional=total(nothing, nothing))),
        lambda: run(tf, _kept(tf, total(nothing, optionals[0]), types)),
        lambda: run(tf, _kept(tf, total(optionals[0], nothing), types)),
        lambda: run(tf, _kept(tf, total(unseen(optionals[0]), unseen(_some(tf, 1))), types)),
        lambda: run(tf, _kept(tf, total(unseen(optionals[0]), unseen(_some(tf, 1))), types[:1])),
        lambda: run(tf, _kept(tf, total(unseen(optionals[0]), unseen(optionals[2])), types)),
    )


def _parameters_of_nothing(tf):
    raw = tf.raw_ops
    tensors = [
        raw.FakeParam(dtype=dtype, shape=shape)
        for dtype in (tf.float32, tf.int64, tf.string, tf.bool)
        for shape in ([], [2], [0, 3], [None], None, [2, None])
    ]
    empty = [tf.size(item) for item in tensors]
    return (
        tensors,
        run(tf, empty),
        attempt(
            lambda: raw.FakeParam(dtype=tf.variant, shape=[]),
            lambda: run(
                tf, tf.raw_ops.OptionalHasValue(optional=raw.FakeParam(dtype=tf.variant, shape=[]))
            ),
        ),
    )


def _conditional_gradients(tf):
    """A branch that is not taken returns optionals without values as its intermediate values."""
    tf.enable_control_flow_v2()
    try:
        x = tf.placeholder(tf.float32, [2])
        y = tf.cond(x[0] > 0.0, lambda: tf.exp(x) * tf.sin(x), lambda: tf.square(x) * x)
        grads = tf.gradients(y, x)
        with tf.Session() as session:
            return [
                session.run([y, grads], {x: value})
                for value in (np.array([1.0, 2.0]), np.array([-1.0, 2.0]))
            ]
    finally:
        tf.disable_control_flow_v2()


def _closed_lists(tf):
    """Closing a TensorArray adds no operation where loops are functions."""
    tf.enable_control_flow_v2()
    try:
        array = tf.TensorArray(tf.float32, 2).write(0, 1.5).write(1, 2.5)
        done = array.close(name="closed")
        with tf.control_dependencies([done]):
            after = array.read(1)
        return done.name, done.type, array.close().name, run(tf, [after, array.size()])
    finally:
        tf.disable_control_flow_v2()


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _there_or_not,
        _sums,
        _parameters_of_nothing,
        _conditional_gradients,
        _closed_lists,
    )
}
