"""Programs of `RandomIndexShuffle`: the index of an element after a shuffle, and errors."""

from __future__ import annotations

import functools

import numpy as np

from sessrun.conformance.subjects.programs.refusals import hidden, outcomes_of

__all__ = ["BEHAVIOURS"]


def _refused(tf):
    raw, of = tf.raw_ops, functools.partial(hidden, tf)
    key = [1, 2, 3]
    given = [(-1, 5), (5, -1), (-1, -1), (-5, -3), (-3, -5), (6, 5), (5, 5), (0, 0), ([1, 7], 5),
             ([1, 2], [5, -7]), ([1, -2], [5, 7]), ([4, 8], [5, 7]), (3, [5, 2]), ([6, -1], 5),
             ([1, 2], [9, 9, 9]), ([1, 2, 3], [9, 8]), ([[1]], 5), (1, [[5]])]  # fmt: skip
    seeds = (key, [key], [key, [4, 5, 6]], [1, 2], [[1, 2]], 7, [key] * 3, [[key]])
    return outcomes_of(
        tf,
        *(
            lambda pair=pair, dtype=dtype: raw.RandomIndexShuffle(
                index=of(pair[0], dtype), seed=of(key), max_index=of(pair[1], dtype)
            )
            for pair in given
            for dtype in (tf.int32, tf.int64)
        ),
        *(
            lambda seed=seed, index=index: raw.RandomIndexShuffle(
                index=of(index), seed=of(seed), max_index=of(9)
            )
            for seed in seeds
            for index in (3, [3, 4])
        ),
    )


def _places(tf):
    """The indices of all elements, for several sizes, rounds, seeds and dtypes."""
    raw = tf.raw_ops
    sizes = (1, 3, 16, 256, 70000)
    return outcomes_of(
        tf,
        *(
            lambda size=size, rounds=rounds: raw.RandomIndexShuffle(
                index=np.unique([0, size // 3, size // 2, size - 1, size]).astype(np.int64),
                seed=[7, -8, 2**31 - 1],
                max_index=np.int64(size),
                rounds=rounds,
            )
            for size in sizes
            for rounds in (4, 8)
        ),
        *(
            lambda dtype=dtype: raw.RandomIndexShuffle(
                index=tf.range(tf.cast(9, tf.int32)), seed=tf.cast([1, 2, 3], dtype), max_index=8
            )
            for dtype in (tf.int32, tf.int64, tf.uint32, tf.uint64)
        ),
        lambda: raw.RandomIndexShuffle(
            index=np.arange(4, dtype=np.int64),
            max_index=np.int64(9),
            seed=[[1, 2, 3], [4, 5, 6], [-7, 8, 9], [0, 0, 0]],
        ),
        lambda: raw.RandomIndexShuffle(index=[1, 2, 3], seed=[4, 5, 6], max_index=[3, 100, 70000]),
        lambda: raw.RandomIndexShuffle(index=2, seed=[4, 5, 6], max_index=[3, 100, 70000]),
    )


BEHAVIOURS = {"refused": _refused, "places": _places}
