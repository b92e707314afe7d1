"""Programs that call operations of arrays by their own names: arguments, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from described import attempt, run

__all__ = ["BEHAVIOURS"]


def _names_of_python(tf: Any) -> Any:
    """Python calls some inputs and attributes otherwise than the operations do."""
    x, raw = tf.constant([[1.0, 0.0], [2.0, 3.0]]), tf.raw_ops
    return attempt(
        lambda: run(tf, raw.Sum(input=x, axis=0)), lambda: run(tf, raw.Max(input=x, axis=[1])),
        lambda: run(tf, raw.All(input=x > 0, axis=1, keep_dims=True)),
        lambda: run(tf, raw.ExpandDims(input=x, axis=1)),
        lambda: run(tf, raw.Squeeze(input=x[:, None], axis=[1])),
        lambda: run(tf, raw.Split(axis=1, value=x, num_split=2)),
        lambda: run(tf, raw.SplitV(value=x, size_splits=[1, 1], axis=0, num_split=2)),
        lambda: run(tf, raw.Select(condition=x > 1, x=x, y=-x)),
        lambda: run(tf, raw.Where(condition=x)), lambda: raw.Where(input=x),
        lambda: raw.Sum(input=x, reduction_indices=0), lambda: raw.Select(condition=x, t=x, e=x),
    )  # fmt: skip


def _seen_while_building(tf: Any) -> Any:
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
    )  # fmt: skip


def _seen_in_the_run(tf: Any) -> Any:
    raw = tf.raw_ops
    x, n = tf.placeholder(tf.float32), tf.placeholder(tf.int32)

    def of(tensor: Any, value: Any) -> Any:
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
    )  # fmt: skip


BEHAVIOURS = {
    "the names of Python": _names_of_python,
    "seen while building": _seen_while_building,
    "seen in the run": _seen_in_the_run,
}
