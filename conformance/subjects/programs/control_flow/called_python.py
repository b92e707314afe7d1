"""Programs whose graphs call Python functions that return other dtypes, or end late."""

from __future__ import annotations

import re
import threading

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _wrongly_returned(tf):
    """Values of other dtypes or in another number than declared; the message names both."""

    def returned(value, types):
        try:
            return run(tf, tf.py_func(lambda: value, [], types))
        except tf.errors.InvalidArgumentError as error:
            pattern = r"(\d)-th value returned by \S+ is (\w+), but expects (\w+)"
            counts = r"returns (\d) values, but expects to see (\d) values"
            return re.findall(pattern, error.message)[:1], re.findall(counts, error.message)[:1]

    return attempt(
        lambda: returned(np.float64(1), tf.float32),
        lambda: returned(np.float32(1), tf.float64),
        lambda: returned(np.int64(1), tf.half),
        lambda: returned(np.float16(1), tf.int64),
        lambda: returned("text", tf.bool),
        lambda: returned(True, tf.string),
        lambda: returned([1.5, np.uint8(2)], [tf.float64, tf.complex64]),
        lambda: returned([1.5], [tf.float64, tf.float64]),
        lambda: returned([1.5, 2.5], tf.float64),
        lambda: returned((), tf.float64),
    )


def _ended_with_its_run(tf):
    """A run that fails waits for the Python functions that it has called."""
    entered, may_go, ended = threading.Event(), threading.Event(), []

    def slow():
        entered.set()
        may_go.wait(20)
        ended.append("slow")
        return np.float32(1)

    def failing():
        entered.wait(20)
        threading.Timer(0.2, may_go.set).start()
        raise ValueError("no")

    calls = [tf.py_func(slow, [], tf.float32), tf.py_func(failing, [], tf.float32)]
    config = tf.ConfigProto(inter_op_parallelism_threads=4, use_per_session_threads=True)
    with tf.Session(config=config) as session:
        outcomes = attempt(lambda: session.run(calls))
        return outcomes, list(ended)


def _branches_in_loops(tf):
    """The index of the input that `Merge` forwards, in branches within loops."""
    switch, merge = tf.raw_ops.Switch, tf.raw_ops.Merge

    def body(i, total, sides):
        off, on = switch(data=total, pred=tf.equal(i % 3, 1))
        value, side = merge(inputs=[off + 1.0, on * 10.0])
        return i + 1, value, sides * 2 + side

    start = tf.placeholder_with_default(0, [])
    outputs = tf.while_loop(lambda i, *_: i < 7, body, [start, tf.constant(1.0), tf.constant(0)])

    def turned(limit: int):
        def swapped(i, sides):
            off, on = switch(data=i, pred=tf.less(i, limit))
            return i + 1, sides * 3 + merge(inputs=[on, off])[1]

        return tf.while_loop(lambda i, *_: i < 4, swapped, [start, tf.constant(0)])

    fetches = [outputs, *map(turned, (0, 2, 9))]
    with tf.Session() as session:
        return [session.run(fetches, {start: number}) for number in (0, 1, 2, 9)]


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (_wrongly_returned, _ended_with_its_run, _branches_in_loops)
}
