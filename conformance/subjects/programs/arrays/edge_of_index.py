"""Programs of indices, sizes and bounds that are just valid, or just out of range."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Action, Plain

__all__ = ["BEHAVIOURS"]


def _fed(tf, value, dtype=None):
    """A placeholder of unknown shape that has this value by default."""
    return tf.placeholder_with_default(np.asarray(value, dtype), None)


def _reshaped(tf):
    """Reshapes to shapes with one size of -1, with several, with zeros, and of another size."""
    values = (np.zeros((0, 3)), np.arange(6.0), np.arange(6.0).reshape(2, 3), np.float64(5))
    shapes = (
        [-1], [0, -1], [-1, 0], [-1, 3], [3, -1], [2, -1, 3], [-1, -1], [-2, 3], [], [1], [6], [7],
        [0], [0, 5], [2, 3, 1], [-1, 4], [1, -1, 1], [-1, 0, 2],
    )  # fmt: skip
    return attempt(
        *(
            lambda v=value, s=shape, f=fed: run(
                tf, tf.reshape(_fed(tf, v), _fed(tf, s, np.int32) if f else np.array(s, np.int32))
            )
            for value in values
            for shape in shapes
            for fed in (False, True)
            if fed or shape != [-1, -1]  # TensorFlow's optimizer replaces it by the input's shape
        )
    )


def _indexed(tf):
    """Indices that are just valid and just out of range."""
    raw, x = tf.raw_ops, np.arange(12.0).reshape(4, 3)
    places = (0, 3, 4, -1, -2, -4, 100)

    def of(index: int) -> list[Action]:
        row, scalar = _fed(tf, [index], np.int32), _fed(tf, index, np.int32)
        return [
            lambda: raw.GatherV2(params=x, indices=row, axis=0),
            lambda: raw.Gather(params=x, indices=row),
            lambda: raw.Gather(params=5.0, indices=row),
            lambda: raw.GatherNd(params=x, indices=_fed(tf, [[index, 1]], np.int32)),
            lambda: raw.ScatterNd(indices=_fed(tf, [[index]], np.int32), updates=[7.0], shape=[4]),
            lambda: raw.TensorScatterUpdate(
                tensor=x[:, 0], updates=[7.0], indices=_fed(tf, [[index]], np.int32)
            ),
            lambda: raw.TensorScatterAdd(
                tensor=x[:, 0], updates=[7.0], indices=_fed(tf, [[index]], np.int32)
            ),
            lambda: raw.SegmentSum(data=x[:1], segment_ids=row),
            lambda: raw.UnsortedSegmentSum(data=x[:1], segment_ids=row, num_segments=4),
            lambda: raw.OneHot(indices=row, depth=4, on_value=1.0, off_value=0.0),
            lambda: raw.InvertPermutation(x=_fed(tf, [index, 0, 1, 2], np.int32)),
            lambda: raw.DynamicPartition(data=x[:1], partitions=row, num_partitions=4),
            lambda: raw.DynamicStitch(indices=[row], data=[x[:1]]),
            lambda: raw.SparseToDense(
                sparse_indices=row, output_shape=[4], sparse_values=1.0, default_value=0.0
            ),
            lambda: raw.ArgMax(input=x, dimension=scalar),
            lambda: raw.Sum(input=x, axis=scalar),
            lambda: raw.ExpandDims(input=x, axis=scalar),
            lambda: raw.ReverseV2(tensor=x, axis=row),
            lambda: raw.ConcatV2(values=[x, x], axis=scalar),
            lambda: raw.Split(axis=scalar, value=x, num_split=3),
            lambda: raw.Cumsum(x=x, axis=scalar),
            lambda: raw.Roll(input=x, shift=1, axis=scalar),
            lambda: raw.InTopKV2(predictions=x[:1].astype(np.float32), targets=row, k=2),
            lambda: raw.SparseSoftmaxCrossEntropyWithLogits(features=x[:1], labels=row),
            lambda: raw.Slice(input=x[:, 0], begin=row, size=[1]),
            lambda: raw.StridedSlice(
                input=x, begin=row, end=[index + 1], strides=[1], shrink_axis_mask=1
            ),
            lambda: raw.MatrixDiagPartV3(input=x, k=scalar, padding_value=0.0),
            lambda: raw.Bincount(arr=row, size=3, weights=[2.0]),
            lambda: raw.LinSpace(start=0.0, stop=1.0, num=scalar),
            lambda: raw.Range(start=0, limit=scalar, delta=1),
            lambda: raw.Fill(dims=row, value=1.0),
            lambda: raw.BroadcastTo(input=1.0, shape=row),
            lambda: raw.Tile(input=x[:, 0], multiples=row),
            lambda: raw.TopKV2(input=x, k=scalar),
            lambda: raw.Pad(input=x[:, 0], paddings=_fed(tf, [[index, 1]], np.int32)),
        ]

    with tf.device("/cpu:0"):  # a GPU cannot report an index out of range
        return [
            [index, *attempt(*(lambda m=make: run(tf, m()) for make in of(index)))]
            for index in places
        ]


def _filled(tf):
    """Fills and ranges whose scalars are vectors, and whose sizes are scalars or matrices."""
    raw, values = tf.raw_ops, (5.0, [5.0], [[5.0]], [5.0, 6.0], [], [[5.0, 6.0]])
    sizes = ([2], [], [0, 3], [-1], [[2]], 3, [2, 2])
    return attempt(
        *(
            lambda v=value, s=size: run(tf, raw.Fill(dims=_fed(tf, s, np.int32), value=_fed(tf, v)))
            for value in values
            for size in sizes
        ),
        *(
            lambda a=start, b=limit, c=delta: run(
                tf,
                raw.Range(
                    start=_fed(tf, a, np.int32),
                    limit=_fed(tf, b, np.int32),
                    delta=_fed(tf, c, np.int32),
                ),
            )
            for start in (0, 5, [1])
            for limit in (5, 0, [3], [[3]])
            for delta in (1, -2, 0, [1])
        ),
        *(
            lambda a=start, n=number: run(
                tf,
                raw.LinSpace(
                    start=_fed(tf, a, np.float32),
                    stop=_fed(tf, 3.0, np.float32),
                    num=_fed(tf, n, np.int32),
                ),
            )
            for start in (1.0, [1.0], 3.0)
            for number in (1, 2, 3, 0, -1, [2])
        ),
        *(
            lambda k=kind, x=matrix: run(tf, getattr(raw, k)(input=_fed(tf, x)))
            for kind in (
                "SelfAdjointEigV2",
                "MatrixInverse",
                "Qr",
                "MatrixDeterminant",
                "LogMatrixDeterminant",
            )
            for matrix in (
                np.full((2, 2), np.inf),
                np.zeros((0, 0)),
                np.zeros((0, 2, 2)),
                np.zeros(2),
                np.zeros((2, 2)),
                np.ones((2, 3)),
            )
            if kind != "Qr" or np.isfinite(matrix).all()  # for infinities it depends on the release
        ),
    )


def _sparse_places(tf):
    """Operations on sparse tensors whose indices are out of range, repeated, or not in order."""
    raw, shape = tf.raw_ops, np.array([2, 3], np.int64)
    places = (
        [[0, 0], [1, 2]], [[1, 2], [0, 0]], [[0, 0], [0, 0]], [[0, 3], [1, 2]], [[-1, 0], [1, 2]],
        [[0, 0], [2, 0]], [[0], [1]], [[0, 0]],
    )  # fmt: skip

    def of(indices) -> list[Action]:
        at, values = _fed(tf, indices, np.int64), _fed(tf, [2.0, 3.0], np.float32)
        dense = np.arange(6, dtype=np.float32).reshape(2, 3) + 1
        given = {"sp_indices": at, "sp_values": values, "sp_shape": shape}
        summed = {"input_indices": at, "input_values": values, "input_shape": shape}
        checked = [
            lambda: raw.SparseDenseCwiseMul(**given, dense=dense),
            lambda: raw.SparseDenseCwiseAdd(**given, dense=dense),
            lambda: raw.SparseDenseCwiseDiv(**given, dense=dense),
            lambda: raw.SparseTensorDenseMatMul(
                a_indices=at, a_values=values, a_shape=shape, b=dense.T.copy()
            ),
            lambda: raw.SparseToDense(
                sparse_indices=at, output_shape=shape, sparse_values=values, default_value=0.0
            ),
            lambda: raw.SparseTensorDenseAdd(a_indices=at, a_values=values, a_shape=shape, b=dense),
        ]
        sizes = zip(*indices, strict=True)
        if any(min(line) < 0 or max(line) >= n for line, n in zip(sizes, (2, 3), strict=False)):
            return checked  # the others do not check that indices are within the shape
        return [
            *checked,
            lambda: raw.SparseReduceSum(**summed, reduction_axes=[1]),
            lambda: raw.SparseReduceMax(**summed, reduction_axes=[0], keep_dims=True),
            lambda: raw.SparseReorder(**summed),
            lambda: raw.SparseSoftmax(**given),
            lambda: raw.SparseSlice(
                indices=at, values=values, shape=shape, start=[0, 1], size=[2, 2]
            ),
            lambda: raw.SparseReshape(input_indices=at, input_shape=shape, new_shape=[3, 2]),
            lambda: raw.SparseFillEmptyRows(
                indices=at, values=values, dense_shape=shape, default_value=7.0
            ),
        ]

    return [attempt(*(lambda m=make: run(tf, m()) for make in of(indices))) for indices in places]


def _shuffled(tf):
    """Shuffled indices of several sizes: each result is a permutation."""

    def of(limit: int, seed):
        places = tf.raw_ops.RandomIndexShuffle(
            index=np.arange(limit + 1, dtype=np.int64),
            seed=seed,
            max_index=np.int64(limit),
            rounds=4,
        )
        return run(tf, places)

    return attempt(
        *(
            lambda n=limit, s=seed: of(n, np.array(s, np.uint32))
            for limit in (0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 100)
            for seed in ([1, 2, 3], [4, 5, 6])
        )
    )


def _cast(tf):
    """Casts of 0 and 1 from every dtype to every other one."""
    dtypes = (
        "bool",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "float8_e5m2",
        "float8_e4m3fn",
        "int4",
        "uint4",
        "string",
        "qint8",
        "quint8",
        "qint32",
    )

    def cast(source: str, target: str, *, truncate: bool):
        with tf.Graph().as_default():  # in one graph every run would send all the casts
            x = tf.constant([0, 1, 1], tf.int32)
            given = x if source == "int32" else tf.raw_ops.Cast(x=x, DstT=getattr(tf, source))
            there = tf.raw_ops.Cast(x=given, DstT=getattr(tf, target), Truncate=truncate)
            return there.dtype, run(tf, tf.raw_ops.Cast(x=there, DstT=tf.float64, Truncate=False))

    def cast_to_all(source: str) -> list[Plain]:
        # Truncating casts to complex dtypes give wrong numbers in TensorFlow.
        kept = [target for target in dtypes if not target.startswith("complex")]
        return attempt(
            *(lambda t=target: cast(source, t, truncate=False) for target in dtypes),
            *(lambda t=target: cast(source, t, truncate=True) for target in kept),
        )

    return [[source, *cast_to_all(source)] for source in dtypes if hasattr(tf, source)]


BEHAVIOURS = {
    "reshaped": _reshaped,
    "indexed": _indexed,
    "shuffled": _shuffled,
    "cast": _cast,
    "filled": _filled,
    "sparse places": _sparse_places,
}
