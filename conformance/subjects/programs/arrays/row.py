"""Programs of bands of diagonals, identity matrices, searches, repeats and decompositions."""

from __future__ import annotations

import random

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]


def _shown(tf, make: Action) -> Action:
    """The static shape and the value of a tensor that is built in a graph of its own."""

    def shown():
        with tf.Graph().as_default():
            output = make()
            return [output.shape, run(tf, output)]

    return shown


def _numbers(shape: list[int], dtype):
    return (np.arange(int(np.prod(shape))).reshape(shape) % 13).astype(dtype.as_numpy_dtype)


def _band(tf, draw: random.Random) -> Action:
    """A random operation on a band of diagonals, whose arguments are valid or nearly so."""
    dtype = draw.choice([tf.float32, tf.int64, tf.bool, tf.complex64])
    align = draw.choice(["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"])
    low = draw.randint(-3, 3)
    high = draw.choice([low, draw.randint(low, 4)])
    k = np.int32(low if low == high else [low, high])
    batch = [draw.randint(0, 2) for _ in range(draw.choice([0, 0, 1, 2]))]
    rows, columns, length = draw.randint(0, 5), draw.randint(0, 5), draw.randint(0, 4)
    many = [] if low == high else [high - low + 1]
    padding, kind = draw.choice([0, 7]), draw.choice(["make", "take", "set"])
    sides = [draw.choice([-1, -1, side, length]) for side in (rows, columns)]
    longest = max(0, min(rows + min(high, 0), columns - max(low, 0)))
    is_fed = draw.random() < 0.5

    def known_or_fed(value):
        constant = tf.constant(value)
        return tf.placeholder_with_default(constant, None) if is_fed else constant

    def make():
        if kind == "make":
            given = known_or_fed(_numbers([*batch, *many, length], dtype))
            return tf.matrix_diag(given, "d", known_or_fed(k), *sides, padding, align)
        matrices = known_or_fed(_numbers([*batch, rows, columns], dtype))
        if kind == "take":
            return tf.matrix_diag_part(matrices, "d", known_or_fed(k), padding, align)
        given = known_or_fed(_numbers([*batch, *many, longest], dtype))
        return tf.matrix_set_diag(matrices, given, "d", known_or_fed(k), align)

    return make


def _bands(tf):
    draw = random.Random(5)
    return attempt(*(_shown(tf, _band(tf, draw)) for _ in range(150)))


def _factors(tf):
    def factored(number: int) -> Action:
        draw = random.Random(number)
        shape = [draw.randint(0, 2) for _ in range(draw.choice([0, 0, 1]))]
        shape += [draw.randint(0, 4), draw.randint(0, 4)]
        values = np.random.default_rng(number).normal(size=shape)
        dtype = draw.choice(["float32", "float64", "complex64"])

        def factors():
            both = tf.qr(values.astype(dtype), full_matrices=draw.random() < 0.5)
            arrays = [
                np.round(value.astype("complex128"), 4) + 0.0 for value in run(tf, list(both))
            ]
            return [[array.shape, array.dtype, array.tolist()] for array in arrays]

        return factors

    unknown = tf.placeholder(tf.float32, [4, None, 3])
    return [[factor.shape for factor in tf.qr(unknown)], *attempt(*map(factored, range(30)))]


def _matrices(tf):
    two = tf.constant(2)
    eyes = [
        (3,),
        (3, 4),
        (4, 3),
        (3, 3),
        (2, None, [3], tf.int32),
        (two,),
        (two, 3, [2]),
        (0,),
        (2, None, tf.constant([2])),
        (2.0,),
        (2, None, None, tf.bool),
    ]
    outcomes = attempt(*(_shown(tf, lambda args=args: tf.eye(*args)) for args in eyes[:5]))
    outcomes += attempt(*(lambda args=args: run(tf, tf.eye(*args)) for args in eyes))
    outcomes += attempt(_shown(tf, lambda: tf.trace([[1.0, 2.0], [3.0, 4.0]])))
    tf.trace(np.ones([2, 3, 4]))
    nodes = tf.get_default_graph().as_graph_def().node
    return [outcomes, [[node.name, node.op, list(node.input)] for node in nodes]]


def _rows(tf):
    several = [
        lambda: tf.repeat([1, 2], 2),
        lambda: tf.repeat([[1, 2]], [2], axis=0),
        lambda: tf.repeat([[1, 2], [3, 4]], [1, 3], axis=0),
        lambda: tf.repeat([[1, 2], [3, 4]], [0, 3], axis=1),
        lambda: tf.repeat(7, 3),
        lambda: tf.repeat(tf.placeholder_with_default([[1, 2], [3, 4]], None), 2, axis=0),
        lambda: tf.repeat(tf.placeholder(tf.float32), 2, axis=-1),
        lambda: tf.constant([1, 2, 3])[: 2**31],
        lambda: tf.repeat([[1, 2], [3, 4]], [0, 3, 1], axis=1),
        lambda: tf.repeat([1], [1], axis=3),
        lambda: tf.repeat([1, 2, 3], [1.5, 2, 0]),
        lambda: tf.repeat([[1, 2]], [2, 0], axis=-1),
        lambda: tf.repeat([1, 2], 2, axis="0"),
        lambda: tf.repeat([[1, 2], [3, 4]], [2, 1, 0, 1]),
        lambda: tf.batch_gather([[1, 2], [3, 4]], [[1], [0]]),
        lambda: tf.batch_gather([5, 6], [1]),
        lambda: tf.batch_gather([5], tf.placeholder(tf.int32)),
    ]
    single = [
        lambda: tf.searchsorted([[1, 2, 2, 3]], [[2, 0, 9]], side="right"),
        lambda: tf.searchsorted([1.0, 2.0, 2.0, 3.0], [2.0, 0.0], out_type=tf.int64),
        lambda: tf.searchsorted([1], [1], side="x"),
        lambda: tf.timestamp() > 1e9,
        lambda: tf.is_non_decreasing([1, 1, 2]),
        lambda: tf.is_non_decreasing([]),
        lambda: tf.is_strictly_increasing([1, 1, 2]),
        lambda: tf.is_strictly_increasing([[1, 2], [3, 4]]),
        lambda: tf.unravel_index([1, 5], [2, 3]),
        lambda: tf.unravel_index(5, [3, 2]),
        lambda: tf.unravel_index([6], [2, 3]),
        lambda: tf.unravel_index([1], [2, 0]),
        lambda: tf.unravel_index([[1]], tf.placeholder_with_default([2, 3], None)),
        lambda: tf.parallel_stack([[1, 2], [3, 4]]),
        lambda: tf.parallel_stack([[1], [1, 2]]),
        lambda: tf.parallel_stack([tf.placeholder(tf.int32)]),
    ]
    # Which operations these consist of is not compared, nor the name of the last one.
    named = [lambda call=call: tf.identity(call(), name="rows") for call in several]
    return attempt(*(_shown(tf, call) for call in (*named, *single)))


BEHAVIOURS = {
    "bands": _bands,
    "factors": _factors,
    "matrices": _matrices,
    "rows": _rows,
}
