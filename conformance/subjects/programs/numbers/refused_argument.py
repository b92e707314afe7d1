"""Programs of operations with arguments that are just valid, and with those a run refuses."""

from __future__ import annotations

import functools
import itertools

import numpy as np

from sessrun.conformance.subjects.programs.refusals import hidden, outcomes_of

__all__ = ["BEHAVIOURS"]


def _buckets(tf):
    """`Bucketize` of several dtypes: its boundaries are float32."""
    of, tenths = functools.partial(hidden, tf), [0.1, 0.3, 0.7, 0.9]
    kinds = (tf.float32, tf.float64, tf.int32, tf.int64)
    lists = (tenths, [-1.5, 0.0, 0.0, 16777217.0], [], [2.0], [0.5, 0.25])
    return outcomes_of(
        tf,
        *(
            lambda dtype=dtype, boundaries=boundaries: tf.raw_ops.Bucketize(
                input=tf.cast(of([*tenths, -1.5, -0.0, 2.0, 16777216.0, 1e9], tf.float64), dtype),
                boundaries=boundaries,
            )
            for dtype in kinds
            for boundaries in lists
        ),
        lambda: tf.raw_ops.Bucketize(input=of([float("nan"), float("inf")]), boundaries=[1.0]),
        lambda: tf.raw_ops.Bucketize(input=of(0.7), boundaries=tenths),
    )


def _counts(tf):
    raw, of = tf.raw_ops, functools.partial(hidden, tf)
    numbers = np.array([[3, 1, 0], [1, 1, 5]], np.int32)

    def dense(x, size, weights, binary: bool = False):
        return raw.DenseBincount(
            input=of(np.array(x, np.int32)),
            size=of(np.array(size, np.int32)),
            weights=of(np.array(weights, np.float32)),
            binary_output=binary,
        )

    def ragged(splits, values, size, weights, binary: bool = False):
        return raw.RaggedBincount(
            splits=of(np.array(splits, np.int64)),
            values=of(np.array(values, np.int32)),
            size=of(np.array(size, np.int32)),
            weights=of(np.array(weights, np.float32)),
            binary_output=binary,
        )

    halves = np.arange(6).reshape(2, 3) + 0.5
    return outcomes_of(
        tf,
        lambda: dense(numbers, 4, []),
        lambda: dense(numbers, 4, halves),
        lambda: dense(numbers, 4, [], True),
        lambda: dense(numbers[0], 2, [1, 2, 4]),
        lambda: dense(numbers, 0, []),
        lambda: dense(numbers, -1, []),
        lambda: dense(numbers, [4], []),
        lambda: dense(numbers, 4, halves[0]),
        lambda: dense([numbers], 4, []),
        lambda: dense([-1, 2], 4, []),
        lambda: dense(3, 5, []),
        lambda: dense(np.zeros((2, 0)), 3, []),
        lambda: ragged([0, 2, 2, 5], [1, 0, 3, 3, 7], 4, []),
        lambda: ragged([0, 2, 2, 5], [1, 0, 3, 3, 7], 4, [1, 2, 4, 8, 16]),
        lambda: ragged([0, 2, 5], [1, 0, 3, 3, 7], 8, [], True),
        lambda: ragged([1, 2, 5], [1, 0, 3, 3, 7], 4, []),
        lambda: ragged([], [], 4, []),
        lambda: ragged([0, 2, 4], [1, 0, 3, 3, 7], 4, []),
        lambda: ragged([0], [], 4, []),
        lambda: ragged([0, 2, 6], [1, 0, 3, 3, 7], 4, []),
        lambda: ragged([0, 1], [1], -1, []),
        lambda: ragged([0, 1], [-1], 4, []),
        lambda: ragged([0, 1], [1], [4], []),
        lambda: ragged([0, 2], [1, 1], 0, []),
    )


def _bins(tf):
    raw, of = tf.raw_ops, functools.partial(hidden, tf)
    values = np.array([[-7.0, -1.0, 0.0], [0.5, 2.0, 9.0]])
    ranges = ([0.0, 2.0], [-1.0, 1.0], [2.0, 2.0], [2.0, 0.0], [0.0], [0.0, 1.0, 2.0])
    places = (0, 1, 2, 3, -1, [1])
    return outcomes_of(
        tf,
        *(
            lambda ends=ends, dtype=dtype, count=count: raw.HistogramFixedWidth(
                values=tf.cast(of(values), dtype),
                value_range=tf.cast(of(ends), dtype),
                nbins=of(count),
                dtype=tf.int64 if count == 4 else tf.int32,
            )
            for ends in ranges
            for dtype in (tf.float32, tf.int32)
            for count in (4, 1)
        ),
        *(
            lambda count=count: raw.HistogramFixedWidth(
                values=of(values), value_range=of(np.array([0.0, 2.0])), nbins=of(count)
            )
            for count in (0, -1, [3])
        ),
        *(
            lambda n=n, reverse=reverse: raw.NthElement(
                input=of([[5.0, 2.0, 7.0], [0.0, -1.0, 0.0]]), n=of(n), reverse=reverse
            )
            for n in places
            for reverse in (False, True)
        ),
        lambda: raw.NthElement(input=of(3.0), n=of(0)),
        lambda: raw.NthElement(input=of(np.zeros((0, 2))), n=of(1)),
    )


def _mixed_products(tf):
    of, kinds = functools.partial(hidden, tf), ("int8", "uint8", "bfloat16", "int32", "float32")

    def product(left: str, right: str, out: str):
        large = 20 if out == "bfloat16" else 100  # sums of bfloat16 are exact up to 256
        x = tf.cast(of([[1, 2, 3], [4, 5, large]]), left)
        y = tf.cast(of([[1, 7], [2, 8], [large // 2 + 2, 9]]), right)
        return tf.cast(tf.raw_ops.BatchMatMulV3(x=x, y=y, Tout=getattr(tf, out)), tf.float64)

    def refused(left: str, right: str, out: str) -> bool:
        """Whether there is no kernel for these dtypes, by an error before the run or in it."""
        try:
            with tf.Graph().as_default(), tf.Session() as session:
                session.run(product(left, right, out))
        except (tf.errors.InvalidArgumentError, tf.errors.NotFoundError):
            return True
        return False

    is_byte = {"int8", "uint8"}
    known = [
        (a, b, "bfloat16" if "bfloat16" in {a, b} else "int32")
        for a, b in itertools.product(kinds[:3], repeat=2)
    ]
    known += [("int32", "int32", "int32"), ("float32", "float32", "float32")]
    other = [
        (a, b, out)
        for a, b in itertools.product(kinds, repeat=2)
        for out in ("bfloat16", "int32", "float32")
        if (a, b, out) not in known and not {a, b, out} <= is_byte
    ]
    return [
        outcomes_of(tf, *(lambda arguments=arguments: product(*arguments) for arguments in known)),
        [[*arguments, refused(*arguments)] for arguments in other],
    ]


def _bands(tf):
    of = functools.partial(hidden, tf)

    def cepstra(
        spectra,
        upper: float,
        lower: float = 20.0,
        channels: int = 6,
        count: int = 4,
        rate=16000,
    ):
        return tf.raw_ops.Mfcc(
            spectrogram=of(spectra),
            sample_rate=of(rate),
            upper_frequency_limit=upper,
            lower_frequency_limit=lower,
            filterbank_channel_count=channels,
            dct_coefficient_count=count,
        )

    spectra = np.arange(1, 35, dtype=np.float32).reshape(1, 2, 17)
    return outcomes_of(
        tf,
        *(
            lambda upper=upper: cepstra(spectra, upper)
            for upper in (
                20.0,
                21.0,
                499.0,
                500.0,
                501.0,
                4000.0,
                7999.0,
                8000.0,
                8499.0,
                8500.0,
                8501.0,
                9000.0,
            )
        ),
        *(
            lambda lower=lower: cepstra(spectra, 4000.0, lower)
            for lower in (0.0, -1.0, 250.0, 3999.0, 4000.0)
        ),
        *(
            lambda channels=channels, count=count: cepstra(spectra, 4000.0, 20.0, channels, count)
            for channels, count in ((1, 1), (3, 3), (3, 5), (20, 7), (0, 1), (1, 0), (-1, 2))
        ),
        lambda: cepstra(spectra, 4000.0, rate=0),
        lambda: cepstra(spectra, 4000.0, rate=-8000),
        lambda: cepstra(spectra, 4000.0, rate=[16000]),
        lambda: cepstra(spectra, 2000.0, rate=8000),
        lambda: cepstra(spectra[0], 4000.0),
        lambda: cepstra(spectra[:, :, :1], 4000.0),
        lambda: cepstra(spectra[:, :, :2], 4000.0),
        lambda: cepstra(spectra[:, :0], 4000.0),
        lambda: cepstra(np.zeros((1, 1, 17), np.float32), 4000.0),
    )


def _formats(tf):
    raw, of = tf.raw_ops, functools.partial(hidden, tf)
    pairs = (
        ("NHWC", "NCHW"),
        ("NCHW", "NHWC"),
        ("NDHWC", "NCDHW"),
        ("NCDHW", "NDHWC"),
        ("HWNC", "CNWH"),
        ("NHWC", "NHWD"),
        ("NHW", "NWH"),
        ("NHWC", "NCDHW"),
    )
    vectors = ([1, 2, 3, 4], [5, 6], [7, 8, 9], [1, 2, 3, 4, 5], [[1, 2], [3, 4]],
               [[1, 2], [3, 4], [5, 6], [7, 8]], [[1], [2], [3], [4]], 3,
               [[1, 2], [3, 4], [5, 6]], [[[1]]])  # fmt: skip
    return outcomes_of(
        tf,
        *(
            lambda pair=pair, places=places, dtype=dtype: raw.DataFormatDimMap(
                x=of(places, dtype), src_format=pair[0], dst_format=pair[1]
            )
            for pair in pairs
            for dtype in (tf.int32, tf.int64)
            for places in ([-1, -2, -3, -4, 0, 1, 2, 3], [[4, 5], [9, 11]], -1)
        ),
        *(
            lambda pair=pair, vector=vector: raw.DataFormatVecPermute(
                x=of(vector), src_format=pair[0], dst_format=pair[1]
            )
            for pair in pairs
            for vector in vectors
        ),
    )


BEHAVIOURS = {
    "buckets": _buckets,
    "counts": _counts,
    "bins": _bins,
    "mixed products": _mixed_products,
    "bands": _bands,
    "formats": _formats,
}
