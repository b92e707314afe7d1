"""Named checks of FETCH, FEED and RUN: values and runs too large to be written out in a case."""

from __future__ import annotations

import numpy as np

from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array

__all__ = ["fed", "fetched", "many_fetches", "strings"]


def fetched(tf: Namespace, count: int) -> list[bool]:
    """Fetch three arrays of `count` numbers: computed, a constant, and dependent on a feed.

    Returns:
      for each array whether its dtype and all its elements are right.

    """
    ramp = np.arange(count)
    with tf.Graph().as_default() as graph:
        limit = tf.placeholder(tf.int32, shape=[])
        tensors = [tf.range(count), tf.constant(ramp), tf.range(limit) * 2]
        with tf.Session(graph=graph) as session:
            values = session.run(tensors, feed_dict={limit: count})
    wanted: list[np.ndarray] = [ramp.astype(np.int32), ramp, (2 * ramp).astype(np.int32)]
    return [_same(value, want) for value, want in zip(values, wanted, strict=True)]


def fed(tf: Namespace, count: int) -> list[bool]:
    """Feed `count` floats, and negate them, add them up exactly, and store them in a variable.

    Returns:
      for each of the three whether the result is right.

    """
    ramp = np.arange(count, dtype=np.float32)
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, shape=[None])
        variable = tf.Variable(tf.zeros([count]))
        negated, total = -x, tf.reduce_sum(tf.cast(x, tf.int64))
        stored = tf.assign(variable, x)
        with tf.Session(graph=graph) as session:
            values = session.run([negated, total], feed_dict={x: ramp})
            session.run(stored.op, feed_dict={x: ramp})
            kept = session.run(variable)
    exact = int(values[1]) == count * (count - 1) // 2
    return [_same(values[0], -ramp), exact, _same(kept, ramp)]


def strings(tf: Namespace, length: int, count: int) -> list[bool]:
    """Feed and fetch a string of `length` bytes, and fetch `count` short ones.

    Returns:
      whether the fed string, a computed string of this length, and the short ones are right.

    """
    long = (b"a\0b\xff" * length)[:length]
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.string, shape=[])
        same, joined = tf.identity(x), tf.reduce_join(tf.fill([length], b"x"))
        many = tf.as_string(tf.range(count))
        with tf.Session(graph=graph) as session:
            values = session.run([same, joined, many], feed_dict={x: long})
    numbers = [b"%d" % number for number in range(count)]
    return [values[0] == long, values[1] == b"x" * length, list(values[2]) == numbers]


def many_fetches(tf: Namespace, count: int) -> bool:
    """Fetch `count` tensors in one run; return whether each has its own value."""
    with tf.Graph().as_default() as graph:
        parts = tf.unstack(tf.range(count) * 3, num=count)
        with tf.Session(graph=graph) as session:
            values = session.run(parts)
    return [int(value) for value in values] == list(range(0, 3 * count, 3))


def _same(value: Array, want: np.ndarray) -> bool:
    return bool(value.dtype == want.dtype and np.array_equal(value, want))
