"""Programs that call raw operations of arrays: names of arguments, and errors."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _names_of_python(tf):
    """Inputs and attributes whose names in Python differ from those in the operation."""
    x, raw = tf.constant([[1.0, 0.0], [2.0, 3.0]]), tf.raw_ops
    return attempt(
        lambda: run(tf, raw.Sum(input=x, axis=0)),
        lambda: run(tf, raw.Max(input=x, axis=[1])),
        lambda: run(tf, raw.All(input=x > 0, axis=1, keep_dims=True)),
        lambda: run(tf, raw.ExpandDims(input=x, axis=1)),
        lambda: run(tf, raw.Squeeze(input=x[:, None], axis=[1])),
        lambda: run(tf, raw.Split(axis=1, value=x, num_split=2)),
        lambda: run(tf, raw.SplitV(value=x, size_splits=[1, 1], axis=0, num_split=2)),
        lambda: run(tf, raw.Select(condition=x > 1, x=x, y=-x)),
        lambda: run(tf, raw.Where(condition=x)),
        lambda: raw.Where(input=x),
        lambda: raw.Sum(input=x, reduction_indices=0),
        lambda: raw.Select(condition=x, t=x, e=x),
    )


def _seen_while_building(tf):
    raw, x = tf.raw_ops, tf.constant([1.0, 2.0, 3.0, 4.0])
    p = tf.placeholder(tf.float32, [4])
    return attempt(
        lambda: raw.MirrorPadGrad(input=p, paddings=[[-1, 0]], mode="SYMMETRIC"),
        lambda: raw.MirrorPadGrad(input=p, paddings=[[3, 2]], mode="SYMMETRIC"),
        lambda: raw.MirrorPadGrad(input=p, paddings=[[3, 0]], mode="REFLECT").shape,
        lambda: raw.MirrorPadGrad(input=p, paddings=[[1, 0], [0, 0]], mode="REFLECT"),
        lambda: raw.Reverse(tensor=x, dims=[True, False]),
        lambda: raw.Bitcast(input=x, type=tf.int64),
        lambda: raw.DynamicStitch(indices=[[0, 1]], data=[[1.0]]),
        lambda: raw.InTopK(predictions=[[1.0, 2.0]], targets=[0, 1], k=1),
    )


def _seen_in_the_run(tf):
    raw = tf.raw_ops
    x, n = tf.placeholder(tf.float32), tf.placeholder(tf.int32)

    def of(tensor, value):
        feeds = {x: np.asarray(value, np.float32), n: np.asarray(value, np.int32)}
        return run(tf, tensor, feeds)

    return attempt(
        lambda: of(raw.Where(condition=x), 1.0),
        lambda: of(raw.Where(condition=x), np.ones([1] * 9)),
        lambda: of(raw.Where(condition=x), np.ones([1] * 8)),
        lambda: of(raw.Reverse(tensor=x, dims=[True]), 5.0),
        lambda: of(raw.ConcatOffset(concat_dim=0, shape=[n, [2, 3]]), [2, 4]),
        lambda: of(raw.ConcatOffset(concat_dim=0, shape=[n, [2, 3]]), [5, 3]),
        lambda: of(raw.ConcatOffset(concat_dim=n, shape=[[2], [2]]), [0]),
        lambda: of(raw.ConcatOffset(concat_dim=0, shape=[[[2]], n]), [[2]]),
        lambda: of(raw.InTopKV2(predictions=[[1.0, 2.0]], targets=n, k=1), [0, 1]),
        lambda: of(raw.InTopKV2(predictions=[[1.0, 2.0]], targets=[0], k=n), [1]),
        lambda: of(raw.BroadcastGradientArgs(s0=n, s1=[3]), [[3]]),
        lambda: of(raw.LowerBound(sorted_inputs=x, values=[[1.0]]), [[1.0], [2.0]]),
    )


def _of_other_ranks(tf):
    """Vectors in place of scalars, and scalars in place of vectors: some operations accept them."""

    def of(function, *values):
        feeds = {tf.placeholder(np.asarray(value).dtype): value for value in values}
        return lambda: run(tf, function(*feeds), feeds)

    one, two = np.int32(1), np.array([1.0, 2.0], np.float32)
    vector, pair = np.array([1], np.int32), np.array([0, 1], np.int32)
    return attempt(
        of(tf.fill, np.int32(2), 3.0),
        of(tf.fill, vector, two[:1]),
        of(tf.fill, vector, two),
        of(tf.range, vector, one + 3, one),
        of(tf.range, pair, one + 3, one),
        of(tf.reshape, two, one),
        of(tf.reshape, two[:1], one),
        of(tf.slice, two, one, one),
        of(tf.slice, two, vector, vector),
        of(tf.strided_slice, two, one, one),
        of(tf.tile, two, one),
        of(tf.tile, two, vector + 1),
        of(tf.argmax, two, vector - 1),
        of(tf.cumsum, two, vector - 1),
        of(tf.reverse, two, one - 1),
        of(tf.transpose, two, one - 1),
        of(tf.nn.top_k, two, vector),
        of(tf.nn.top_k, two, one),
        of(tf.math.unsorted_segment_sum, two, pair, vector + 1),
        of(tf.linspace, two[:1], two[1], one),
        of(tf.matrix_band_part, np.ones([2, 2]), vector, one),
        of(tf.pad, two, pair),
        of(lambda a, b: tf.concat([a, b], 0), two, two[0]),
        of(tf.zeros, one),
        of(lambda a, b: tf.dynamic_partition(a, b, 1), two, pair),
        of(lambda a, b: tf.dynamic_partition(a, b, 1), two, one),
    )


def _newer_functions(tf):
    x, u = tf.constant([[1.0, 0.0], [2.0, 3.0]]), tf.placeholder(tf.int32)
    p = tf.placeholder(tf.float32, [2, None])
    big = tf.constant([1e300 + 1j, 1 - 1e300j], tf.complex128)
    return attempt(
        lambda: tf.where_v2(x > 1),
        lambda: run(tf, tf.where_v2(x)),
        lambda: tf.where_v2([True], x, 5.0),
        lambda: tf.where_v2(x > 1, x),
        lambda: tf.where_v2([True, False], x, p).shape,
        lambda: tf.pad(p, [[1, 2], u]).shape,
        lambda: tf.pad(p, [[u, 2], [1, 1]]).shape,
        lambda: tf.pad(x, [[1, u], [1, 1]], "REFLECT").shape,
        lambda: tf.pad(x, [u, [1, 1]]).shape,
        lambda: run(tf, tf.saturate_cast(big, tf.complex64)),
        lambda: tf.pad(x, u, "weird"),
        lambda: tf.reshape(p, tf.cast(tf.shape(p), tf.int64)).shape,
        lambda: tf.reshape(p, tf.cast(tf.cast(tf.shape(p), tf.float32), tf.int32)).shape,
        lambda: run(tf, tf.raw_ops.ParallelConcat(values=[[1], [2]], shape=[1])),
        lambda: tf.raw_ops.ParallelConcat(values=[1], shape=[1]),
        lambda: tf.tile([1], [2**62]).shape,
    )


BEHAVIOURS = {
    "of other ranks": _of_other_ranks,
    "newer functions": _newer_functions,
    "the names of Python": _names_of_python,
    "seen while building": _seen_while_building,
    "seen in the run": _seen_in_the_run,
}
