"""Programs of TensorArrays with control flow as functions, where they are tensor lists."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import caught, run
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]


def _within(tf, build: Action):
    """What a function builds with control flow as functions, and the values."""
    tf.enable_control_flow_v2()
    try:
        with tf.Graph().as_default():
            return run(tf, build())
    finally:
        tf.disable_control_flow_v2()


def _loops(tf):
    def squares():
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[])

        def body(i, array):
            return i + 1, array.write(i, tf.cast(i * i, tf.float32))

        return tf.while_loop(lambda i, _: i < 5, body, (0, array))[1].stack()

    def reversed_rows():
        rows = tf.TensorArray(tf.float32, 3).unstack(tf.reshape(tf.range(6.0), [3, 2]))
        array = tf.TensorArray(tf.float32, 3, element_shape=[2])

        def body(i, array):
            return i + 1, array.write(i, rows.read(2 - i))

        return tf.while_loop(lambda i, _: i < 3, body, (0, array))[1].stack()

    def gradients():
        x = tf.constant([1.0, 2.0, 3.0])
        mapped = tf.map_fn(lambda element: element * element * element, x)
        return tf.gradients(mapped, x)

    def scanned():
        x = tf.constant([1.0, 2.0, 3.0])
        total = tf.scan(lambda a, b: a * b + 1.0, x, 2.0)
        return total, tf.gradients(total, x)

    return [_within(tf, build) for build in (squares, reversed_rows, gradients, scanned)]


def _methods(tf):
    def filled():
        array = tf.TensorArray(tf.int32, 4, element_shape=[2])
        return array.scatter([0, 3, 1, 2], [[1, 2], [3, 4], [5, 6], [7, 8]])

    def joined():
        array = tf.TensorArray(tf.int32, 2, infer_shape=False)
        return array.write(0, [1, 2]).write(1, [3, 4, 5]).concat()

    def parted():
        array = tf.TensorArray(tf.int32, 3, infer_shape=False)
        array = array.split([1, 2, 3, 4, 5], [2, 0, 3])
        return array.read(0), array.read(1), array.read(2)

    makes = [
        lambda: filled().stack(),
        lambda: filled().gather([2, 0, 2]),
        lambda: filled().read(3),
        lambda: filled().size(),
        lambda: filled().identity().stack(),
        joined,
        parted,
        lambda: tf.TensorArray(tf.int32, 2, element_shape=[2]).stack(),
        lambda: filled().write(0, [9, 9]).stack(),
        lambda: filled().write(4, [9, 9]).stack(),
        lambda: filled().write(0, [9, 9, 9]).stack(),
        lambda: filled().read(4),
        lambda: filled().grad("g"),
        lambda: filled().unstack([[1, 1], [2, 2]]).stack(),
    ]
    return [caught(lambda make=make: _within(tf, make)) for make in makes]


BEHAVIOURS = {"loops": _loops, "methods": _methods}
