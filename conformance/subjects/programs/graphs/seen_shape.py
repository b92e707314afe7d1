"""Programs of static shapes and static values that are inferred from computed shapes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Action, TensorFunction

__all__ = ["BEHAVIOURS"]

_Makers = Mapping[str, Action]


def _vectors(tf, x, y, u, n) -> _Makers:
    """Vectors computed from the shapes of `x` (?, 3), `y` (2, 3), `u` (unknown), and a fed number.

    `tf.shape` of `y` would be a constant: the raw operation is not.
    """
    return {
        "of x": lambda: tf.shape(x),
        "of y": lambda: tf.raw_ops.Shape(input=y),
        "of y, a constant": lambda: tf.shape(y),
        "of u": lambda: tf.shape(u),
        "of x, wide": lambda: tf.shape(x, tf.int64),
        "cast": lambda: tf.cast(tf.shape(x), tf.int64),
        "cast of constants": lambda: tf.cast(tf.constant([2.0, 4.0]), tf.int32),
        "cast of floats": lambda: tf.cast(tf.cast(tf.shape(x), tf.float32), tf.int32),
        "cast of known floats": lambda: tf.cast(
            tf.cast(tf.raw_ops.Shape(input=y), tf.float32), tf.int32
        ),
        "stack": lambda: tf.stack([tf.shape(x)[0], tf.raw_ops.Shape(input=y)[1]]),
        "stack of numbers": lambda: tf.stack([n, tf.constant(3)]),
        "stack of known": lambda: tf.stack([tf.constant(4), tf.raw_ops.Size(input=y)]),
        "stack of one": lambda: tf.stack([tf.raw_ops.Rank(input=y)]),
        "stack, minus": lambda: tf.stack([tf.constant(-1), tf.constant(3)]),
        "joined": lambda: tf.concat([tf.shape(x), tf.raw_ops.Shape(input=y)], 0),
        "joined, known": lambda: tf.concat([tf.raw_ops.Shape(input=y), [4]], 0),
        "joined of slices": lambda: tf.concat([tf.shape(x)[:1], [5]], 0),
        "joined with unknown": lambda: tf.concat([tf.shape(u), [5]], 0),
        "tail": lambda: tf.shape(x)[1:],
        "head": lambda: tf.raw_ops.Shape(input=y)[:1],
        "last": lambda: tf.shape(x)[-1:],
        "every second": lambda: tf.concat([tf.shape(x), tf.raw_ops.Shape(input=y)], 0)[::2],
        "from the second": lambda: tf.concat([tf.shape(x), tf.raw_ops.Shape(input=y)], 0)[1:3],
        "one place": lambda: tf.shape(x)[1:2],
        "cut at a fed place": lambda: tf.raw_ops.Shape(input=y)[n:],
        "with a new axis": lambda: tf.raw_ops.Shape(input=y)[0][tf.newaxis],
        "of unknown, cut": lambda: tf.shape(u)[:2],
        "same": lambda: tf.identity(tf.shape(x)),
        "stopped": lambda: tf.stop_gradient(tf.raw_ops.Shape(input=y)),
        "split": lambda: tf.split(tf.raw_ops.Shape(input=y), 2)[1],
        "split of x": lambda: tf.split(tf.shape(x), 2)[1],
        "filled": lambda: tf.fill([2], 3),
        "filled by sizes": lambda: tf.fill([tf.raw_ops.Rank(input=x)], tf.raw_ops.Size(input=y)),
        "filled with a fed number": lambda: tf.fill([2], n),
        "range": lambda: tf.range(1, tf.raw_ops.Size(input=y), 2),
        "range to a fed number": lambda: tf.range(n),
        "sum": lambda: tf.shape(x) + 1,
        "sum of known": lambda: tf.raw_ops.Shape(input=y) + 1,
        "product": lambda: tf.raw_ops.Shape(input=y) * [2, 1],
        "larger": lambda: tf.maximum(tf.shape(x), 1),
        "gathered": lambda: tf.gather(tf.raw_ops.Shape(input=y), [1, 0]),
        "gathered of x": lambda: tf.gather(tf.shape(x), [1]),
        "tiled": lambda: tf.tile(tf.raw_ops.Shape(input=y), [2]),
        "broadcast": lambda: tf.broadcast_dynamic_shape(tf.shape(x), tf.raw_ops.Shape(input=y)),
        "no sizes": lambda: tf.constant([], tf.int32),
        "fed": lambda: tf.placeholder(tf.int32, [3]),
        "fed, of any length": lambda: tf.placeholder(tf.int32, [None]),
    }


def _others(tf, x, y, u, n) -> _Makers:
    """Numbers and matrices computed from shapes."""
    return {
        "size": lambda: tf.raw_ops.Size(input=y),
        "size of x": lambda: tf.size(x),
        "size of u": lambda: tf.size(u, tf.int64),
        "rank": lambda: tf.raw_ops.Rank(input=x),
        "rank of u": lambda: tf.rank(u),
        "taken": lambda: tf.unstack(tf.raw_ops.Shape(input=y))[1],
        "taken of x": lambda: tf.unstack(tf.shape(x))[1],
        "element": lambda: tf.raw_ops.Shape(input=y)[1],
        "all": lambda: tf.reduce_prod(tf.raw_ops.Shape(input=y)),
        "equal": lambda: tf.equal(tf.raw_ops.Size(input=y), 6),
        "not equal": lambda: tf.not_equal(tf.raw_ops.Shape(input=y), [2, 4]),
        "equal of x": lambda: tf.equal(tf.shape(x), [2, 3]),
        "square": lambda: tf.reshape(tf.raw_ops.Shape(input=y), [1, 2]),
        "matrix": lambda: tf.stack([tf.raw_ops.Shape(input=y), tf.raw_ops.Shape(input=y)]),
        "matrix of columns": lambda: tf.stack([tf.raw_ops.Shape(input=y), [7, 8]], axis=1),
        "row of a matrix": lambda: tf.unstack(tf.constant([[1, 2], [3, 4]]))[1],
        "column of a matrix": lambda: tf.unstack(tf.constant([[1, 2], [3, 4]]), axis=1)[1],
        "columns": lambda: tf.split(tf.constant([[1, 2], [3, 4]]), 2, axis=1)[1],
        "partly": lambda: tf.stack([n, tf.constant(3), tf.raw_ops.Size(input=y)]),
        "partly nested": lambda: tf.stack(
            [tf.stack([n, tf.raw_ops.Size(input=y)]), tf.raw_ops.Shape(input=y)]
        ),
        "minus one": lambda: tf.constant(-1),
    }


def _rows(tf) -> _Makers:
    """Functions that build each of the vectors, numbers and matrices in the default graph."""
    given = (
        tf.placeholder(tf.float32, [None, 3]),
        tf.placeholder(tf.float32, [2, 3]),
        tf.placeholder(tf.float32, None),
        tf.placeholder(tf.int32, []),
    )
    return {**_vectors(tf, *given), **_others(tf, *given)}


def _value(value):
    """The dtype and elements; those of a partly known value are numbers, arrays or None."""
    return value if value is None else (str(value.dtype), _elements(value))


def _elements(value):
    if value is None or not np.ndim(value):
        return None if value is None else np.asarray(value).item()
    return [_elements(item) for item in value]


def _values(tf):
    """`get_static_value`, partial or not, and whether the tensor may still be fed."""

    def static(name: str, *, partial: bool):
        with tf.Graph().as_default() as graph:
            tensor = _rows(tf)[name]()
            value = _value(tf.get_static_value(tensor, partial=partial))
            return value, graph.is_feedable(tensor), tensor.shape

    return [
        [
            name,
            *attempt(
                *(lambda p=partial, n=name: static(n, partial=p) for partial in (False, True))
            ),
        ]
        for name in _rows(tf)
    ]


def _shapes(tf):
    """The static shapes of tensors that are built with a computed shape."""

    def shape(name: str, use: TensorFunction):
        with tf.Graph().as_default():
            return use(_rows(tf)[name]()).shape

    uses = (
        tf.zeros,
        lambda sizes: tf.reshape(tf.placeholder(tf.float32, None), sizes),
        lambda sizes: tf.broadcast_to(1.0, sizes),
        lambda sizes: tf.placeholder(tf.float32, sizes),
        lambda sizes: tf.ensure_shape(tf.placeholder(tf.float32, None), sizes),
        lambda sizes: tf.slice(tf.placeholder(tf.float32, None), tf.zeros_like(sizes), sizes),
        lambda sizes: tf.strided_slice(tf.zeros([9, 9]), [0, 0], sizes),
        lambda sizes: tf.TensorArray(tf.float32, tf.reduce_max(sizes)).stack(),
    )
    return [
        [name, *attempt(*(lambda u=use, n=name: shape(n, u) for use in uses))]
        for name in (*_vectors(tf, *[None] * 4), "size", "minus one")
    ]


def _written(tf):
    """Writing into a static value changes neither the constant nor other static values."""
    tensor = tf.constant([1, 2])
    seen = [
        tensor,
        tf.raw_ops.Shape(input=tensor),
        tf.identity(tensor),
        tf.concat([tensor, [3]], 0),
    ]

    def write(source):
        value = tf.get_static_value(source)
        value[...] = 7
        return tf.get_static_value(source)

    with tf.Session() as session:
        return attempt(*(lambda s=source: write(s) for source in seen), lambda: session.run(seen))


BEHAVIOURS = {"values": _values, "shapes": _shapes, "written": _written}
