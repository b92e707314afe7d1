"""Programs of counts, histograms, sorting, edit distances, variances and means of segments."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.graphs_and_values import fed, shown

__all__ = ["BEHAVIOURS"]

_X = np.array([[3.0, -1.0, 2.5, 2.5], [0.0, 7.0, -2.0, 1.0]], "f")
_N = np.array([[3, 1, 2, 2], [0, 7, 2, 1]])


def _counted(tf):
    return shown(
        tf,
        lambda tf: tf.bincount([1, 2, 2, 5]),
        lambda tf: tf.math.bincount(_N.astype("i")),
        lambda tf: tf.bincount([1, 2, 2], [0.5, 1.0, 2.0]),
        lambda tf: tf.bincount([2.0, 1.0]),
        lambda tf: tf.bincount([1, 2, 2], minlength=6, dtype=tf.int64),
        lambda tf: tf.bincount([-1]),
        lambda tf: tf.bincount([1, 2, 9], maxlength=4),
        lambda tf: tf.bincount(np.zeros([0], "i")),
        lambda tf: tf.histogram_fixed_width(_X, [0.0, 4.0], 4),
        lambda tf: tf.histogram_fixed_width([-1, 5, 3], [0, 5], nbins=5, dtype=tf.int64),
        lambda tf: tf.histogram_fixed_width(_X, [4.0, 0.0], 4),
        lambda tf: tf.histogram_fixed_width(_X, [0.0, 4.0], 0),
        lambda tf: tf.histogram_fixed_width(_X, [0.0, 4.0, 5.0], 3),
        lambda tf: tf.raw_ops.DenseBincount(input=_N, size=4, weights=[1.0], binary_output=False),
        lambda tf: tf.raw_ops.NthElement(input=_X, n=1, reverse=True),
        lambda tf: tf.raw_ops.NthElement(input=_X, n=4),
    )


def _sorted(tf):
    dtypes = ("float32", "int32", "uint8", "int64")
    calls = [
        lambda tf, d=dtype, a=axis, w=way: tf.sort(_N.astype(d), axis=a, direction=w)
        for dtype in dtypes
        for axis in (-1, 0)
        for way in ("ASCENDING", "DESCENDING")
    ]
    calls += [
        lambda tf: tf.argsort(_X),
        lambda tf: tf.argsort(_X, axis=0, direction="DESCENDING"),
        lambda tf: tf.sort(fed(tf, _X)),
        lambda tf: tf.sort(_X, direction="UP"),
        lambda tf: tf.sort(_X, axis=[0]),
        lambda tf: tf.sort(_X, axis=fed(tf, 0)),
        lambda tf: tf.argsort(_X, stable=True, name="s"),
        lambda tf: tf.argsort(tf.placeholder_with_default(_X, [2, None]), axis=0),
        lambda tf: tf.argsort(tf.placeholder_with_default(_X, [2, None]), axis=1),
    ]
    return shown(tf, *calls)


def _distances(tf):
    def sparse(tf, rows: list[str], width: int = 4):
        places = [[row, column] for row, text in enumerate(rows) for column in range(len(text))]
        letters = [letter for text in rows for letter in text]
        return tf.SparseTensor(places, letters, [len(rows), width])

    return shown(
        tf,
        lambda tf: tf.edit_distance(sparse(tf, ["ab", "abc", "a"]), sparse(tf, ["ac", "", "aab"])),
        lambda tf: tf.edit_distance(sparse(tf, ["ab", "abc"]), sparse(tf, ["ac", "b"]), False),
        lambda tf: tf.edit_distance(sparse(tf, ["ab"]), sparse(tf, ["a", "b"]), name="n"),
        lambda tf: tf.edit_distance([1], sparse(tf, ["a"])),
    )


def _sums(tf):
    ids = np.array([2, 0])

    def slope(make):
        def by_input(tf):
            given = tf.constant(_X)
            output = make(tf, given)
            return tf.gradients(
                output,
                given,
                tf.constant(np.arange(1.0, 9).reshape(2, 4), "float32")
                if output.shape.ndims == 2
                else None,
            )

        return by_input

    return shown(
        tf,
        lambda tf: tf.math.cumulative_logsumexp(_X, 1),
        lambda tf: tf.math.cumulative_logsumexp(_X, -1, exclusive=True, reverse=True, name="c"),
        lambda tf: tf.math.reduce_variance(_X, [0]),
        lambda tf: tf.math.reduce_std(_X, keepdims=True),
        lambda tf: tf.math.reduce_variance(_N),
        lambda tf: tf.math.reduce_std(_X * (1 + 2j)),
        lambda tf: tf.math.polyval([2.0, 1.0, 3.0], _X),
        lambda tf: tf.math.polyval([], _X),
        lambda tf: tf.math.polyval((1.0,), _X),
        lambda tf: tf.math.reciprocal_no_nan(_X),
        lambda tf: tf.unsorted_segment_mean(_X, ids, 4),
        lambda tf: tf.unsorted_segment_sqrt_n(_X, ids, 4),
        lambda tf: tf.math.unsorted_segment_mean(_X, _N % 3, fed(tf, 3)),
        slope(lambda tf, x: tf.math.cumulative_logsumexp(x, 1)),
        slope(lambda tf, x: tf.raw_ops.NthElement(input=x, n=2)),
        slope(lambda tf, x: tf.tensor_scatter_nd_max(x, [[0, 1], [1, 2]], [0.5, -3.0])),
        slope(lambda tf, x: tf.tensor_scatter_nd_min(x, [[0, 1], [1, 2]], [0.5, -3.0])),
    )


BEHAVIOURS = {"counted": _counted, "distances": _distances, "sorted": _sorted, "sums": _sums}
