"""Programs of rare values: large logits, high mel bands, and the like."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _softmax_of_large_numbers(tf):
    places = [[0, 0], [0, 2], [1, 1], [2, 0], [2, 1], [2, 2]]
    values = [1000.0, 1001.0, -800.0, 700.0, 0.0, -700.0]
    sparse = tf.SparseTensor(places, tf.placeholder_with_default(values, [6]), [3, 3])
    return run(tf, [tf.sparse_softmax(sparse), tf.nn.softmax([values]), tf.nn.log_softmax(values)])


def _bands_up_to_the_last(tf):
    spectrum = tf.reshape(tf.range(1.0, 18.0), [1, 1, 17])
    return attempt(
        *(
            lambda upper=upper: run(
                tf,
                tf.raw_ops.Mfcc(
                    spectrogram=spectrum,
                    sample_rate=tf.constant(16000),
                    upper_frequency_limit=upper,
                    lower_frequency_limit=20.0,
                    filterbank_channel_count=6,
                    dct_coefficient_count=4,
                ),
            )
            for upper in (4000.0, 7990.0, 8000.0, 12000.0)
        )
    )


def _parts_beside_one_another(tf):
    parts = [tf.constant([[1, 2, 3]]), tf.constant([[4, 5, 6]])]
    return attempt(
        lambda: run(tf, tf.parallel_stack([[1, 2, 3], [4, 5, 6]])),
        lambda: run(tf, tf.raw_ops.ParallelConcat(values=parts, shape=[2, 3])),
        lambda: run(tf, tf.raw_ops.ParallelConcat(values=[*parts, parts[0]], shape=[3, 3])),
    )


def _levels_in_other_dtypes(tf):
    levels = tf.bitcast(tf.constant([0, 1, 127, 255], tf.uint8), tf.quint8)
    return attempt(
        *(
            lambda dtype=dtype, mode=mode: run(
                tf, tf.dequantize(levels, -1.0, 3.0, mode=mode, dtype=dtype)
            )
            for dtype in (tf.float32, tf.bfloat16)
            for mode in ("MIN_COMBINED", "SCALED")
        )
    )


def _many_trials(tf):
    def mean(counts: float, probability: float):
        drawn = tf.random.stateless_binomial([2000], [3, 4], counts, probability)
        return tf.reduce_mean(tf.cast(drawn, tf.float64)), drawn[:8]

    return run(tf, [mean(100.0, 0.3), mean(1000.0, 0.5), mean(5.0, 0.9), mean(40.0, 0.26)])


def _shapes_of_blocks_and_lookups(tf):
    pictures = tf.placeholder(tf.float32)
    parts = [tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [3, 4])]
    ids = tf.placeholder(tf.int64, [2, None])
    return [
        tf.batch_to_space(pictures, [[0, 0], [0, 0]], 2),
        tf.space_to_batch(pictures, [[0, 0], [0, 0]], 2),
        tf.nn.embedding_lookup(parts, ids),
        tf.nn.embedding_lookup(parts, ids, max_norm=1.0),
        tf.nn.embedding_lookup(tf.placeholder(tf.float32, [None, 2, 3]), ids),
    ]


BEHAVIOURS = {
    function.__name__.strip("_").replace("_", " "): function
    for function in (
        _softmax_of_large_numbers,
        _bands_up_to_the_last,
        _parts_beside_one_another,
        _levels_in_other_dtypes,
        _many_trials,
        _shapes_of_blocks_and_lookups,
    )
}
