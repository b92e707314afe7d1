"""Programs of indices that are out of range when they run, and of those that are just valid."""

from __future__ import annotations

import functools

import numpy as np

from sessrun.conformance.subjects.programs.refusals import hidden, outcomes_of

__all__ = ["BEHAVIOURS"]

_ROWS = np.arange(12, dtype=np.float32).reshape(4, 3)
#: On a CPU, since a GPU cannot report an index out of range.
_outcomes_on_cpu = functools.partial(outcomes_of, device="/cpu:0")


def _slices(tf):
    raw, of = tf.raw_ops, functools.partial(hidden, tf)
    indices = (-1, 4, [-1], [4], [0, 3, 4, -1], [[0, 1], [2, -1]], [[[0], [4]]], [], 3)
    chosen = [np.array(index, dtype) for index in indices for dtype in (np.int32, np.int64)]
    return _outcomes_on_cpu(
        tf,
        *(lambda index=index: raw.Gather(params=of(_ROWS), indices=of(index)) for index in chosen),
        *(
            lambda index=index, axis=axis: raw.GatherV2(
                params=of(_ROWS), indices=of(index), axis=axis
            )
            for index in chosen
            for axis in (0, -1)
        ),
        *(
            lambda index=index: raw.GatherV2(
                params=of(_ROWS), indices=of(index), axis=1, batch_dims=1
            )
            for index in ([0, 1, 2, 0], [[0], [1], [2], [3]], [[0], [-1], [2], [0]], [0, 1])
        ),
        lambda: raw.Gather(params=of(3.0), indices=of([0])),
        lambda: raw.GatherV2(params=of(3.0), indices=of([0]), axis=0),
        lambda: raw.GatherV2(params=of(_ROWS), indices=of([0]), axis=of(2)),
        lambda: raw.GatherV2(params=of(_ROWS), indices=of([0]), axis=of(-3)),
        lambda: raw.GatherV2(params=of(_ROWS), indices=of([0]), axis=of(0), batch_dims=1),
        lambda: raw.Gather(params=of(np.zeros((0, 3))), indices=of([0])),
        lambda: raw.Gather(params=of(np.zeros((0, 3))), indices=of(np.zeros(0, np.int32))),
    )


def _vectors(tf):
    raw, of = tf.raw_ops, functools.partial(hidden, tf)
    indices = (
        [[-1, 0]], [[0, 3]], [[4, 0], [0, 0]], [[0, 0], [3, -1]], [[[0], [3]], [[4], [0]]],
        [[0, 1, 2]], [2, 1], [4], 3, [[3, 2], [0, 1]],
    )  # fmt: skip
    given = [np.array(index, np.int32) for index in indices]
    scattering = (
        "TensorScatterUpdate",
        "TensorScatterAdd",
        "TensorScatterSub",
        "TensorScatterMax",
        "TensorScatterMin",
    )
    return _outcomes_on_cpu(
        tf,
        *(lambda index=index: raw.GatherNd(params=of(_ROWS), indices=of(index)) for index in given),
        lambda: raw.GatherNd(params=of(np.zeros((0, 3))), indices=of([[0, 0]])),
        *(
            lambda index=index: raw.ScatterNd(
                indices=of(index), updates=of(np.ones(index.shape[:-1])), shape=of([4, 3])
            )
            for index in given
        ),
        *(
            lambda index=index, name=name: getattr(raw, name)(
                tensor=of(_ROWS),
                indices=of(index),
                updates=of(np.ones(index.shape[:-1], np.float32)),
            )
            for name in scattering
            for index in given[:4]
        ),
        *(
            lambda shape=shape: raw.TensorScatterAdd(
                tensor=of(_ROWS), indices=of([[3], [1]]), updates=of(np.ones(shape, np.float32))
            )
            for shape in ((2, 3), (3, 3), (2, 2), (2,), (1, 3), ())
        ),
        lambda: raw.ScatterNd(indices=of([[0]]), updates=of([1.0]), shape=of([0])),
        lambda: raw.ScatterNd(indices=of([[0]]), updates=of([1.0]), shape=of([-2])),
        lambda: raw.ScatterNd(indices=of([[0]]), updates=of([1.0]), shape=of([[2]])),
        lambda: raw.ScatterNd(indices=of([[1], [1]]), updates=of(["a", "b"]), shape=of([3])),
    )


def _partitions(tf):
    raw, of = tf.raw_ops, functools.partial(hidden, tf)
    return _outcomes_on_cpu(
        tf,
        *(
            lambda partitions=partitions: raw.DynamicPartition(
                data=of(_ROWS), partitions=of(np.array(partitions, np.int32)), num_partitions=3
            )
            for partitions in (
                [0, 2, 1, 0],
                [0, 3, 1, 0],
                [0, 2, -1, 4],
                [0, 1],
                [[0, 1, 2]] * 4,
                [[0, 1, 2], [0, 1, 3], [0, 0, 0], [-1, 0, 0]],
            )
        ),
        lambda: raw.DynamicPartition(data=of(3.0), partitions=of(2), num_partitions=2),
        lambda: raw.DynamicPartition(data=of(3.0), partitions=of(0), num_partitions=1),
        *(
            lambda first=first, second=second: raw.DynamicStitch(
                indices=[of(first), of(second)], data=[of(_ROWS[:2]), of(_ROWS[2:3])]
            )
            for first, second in (
                ([0, 2], [1]),
                ([3, 0], [0]),
                ([0, -1], [1]),
                ([0, 1], [-2]),
                ([0], [1]),
                ([0, 1], [1, 2]),
                ([[0, 1]], [1]),
                ([0, 1], 5),
            )
        ),
        lambda: raw.DynamicStitch(indices=[of([0]), of([1])], data=[of([[1.0]]), of([[1.0, 2.0]])]),
    )


def _places(tf):
    raw, of = tf.raw_ops, functools.partial(hidden, tf)
    return _outcomes_on_cpu(
        tf,
        *(
            lambda index=index: raw.UnravelIndex(indices=of(index), dims=of([2, 5]))
            for index in (9, [0, 7, 3], 10, -1, [3, -1, -7, -10, -14], [[1]], np.zeros(0, np.int32))
        ),
        *(
            lambda dims=dims: raw.UnravelIndex(indices=of(1), dims=of(dims))
            for dims in (7, [3, 0], [1 << 16, 1 << 16], [[2, 5]])
        ),
        *(
            lambda depth=depth, axis=axis: raw.OneHot(
                indices=of([0, 2, -1]), depth=of(depth), on_value=of(5), off_value=of(-5), axis=axis
            )
            for depth, axis in ((3, -1), (2, 0), (0, 1), (-1, -1), ([2], 0), (2, 2), (2, -2))
        ),
        *(lambda k=k: raw.TopKV2(input=of(_ROWS), k=of(k)) for k in (0, 2, 3, 4, -1, [1])),
        lambda: raw.TopKV2(input=of(3.0), k=of(0)),
        lambda: raw.TopKV2(input=of(3.0), k=of(1)),
        *(
            lambda targets=targets, k=k: raw.InTopKV2(
                predictions=of(_ROWS), targets=of(targets), k=of(k)
            )
            for targets, k in (
                ([2, 1, 0, 3], 1),
                ([2, 1, 0, -1], 2),
                ([2, 1], 1),
                ([[1]] * 4, 1),
                ([2, 1, 0, 0], [1]),
                ([2, 1, 0, 2], -1),
            )
        ),
        lambda: raw.InTopK(predictions=of([1.0]), targets=of([0]), k=1),
        lambda: raw.Where(condition=of(1)),
        lambda: raw.Where(condition=of(_ROWS)),
        *(
            lambda rows=rows, values=values, name=name: getattr(raw, name)(
                sorted_inputs=of(rows), values=of(values)
            )
            for name in ("LowerBound", "UpperBound")
            for rows, values in (
                ([[1, 3, 3, 7]], [[3, 0, 8, 7]]),
                ([[1, 3], [2, 2]], [[3], [2]]),
                ([[1]], [[1], [2]]),
                ([1], [[1]]),
                ([[1]], [1]),
            )
        ),
        lambda: raw.ListDiff(x=of([[1]]), y=of([1])),
        lambda: raw.ListDiff(x=of([1]), y=of([[1]])),
        lambda: raw.ListDiff(x=of([3, 1, 3, 2]), y=of([1, 5])),
    )


BEHAVIOURS = {
    "slices": _slices,
    "vectors": _vectors,
    "partitions": _partitions,
    "places": _places,
}
