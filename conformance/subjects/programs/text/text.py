"""Programs of Unicode, fingerprints, n-grams, crossed features and sparse counts."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]

_WRONG = [b"a\xf0\x90(b", b"\x00\xff\n", b"\xed\xa0\x80", b"\xe2\x82", b"\xef\xbf\xbd", b""]


def _decoded(tf):
    def decode(text, encoding: str = "UTF-8", **options):
        decoded = tf.raw_ops.UnicodeDecodeWithOffsets(
            input=text, input_encoding=encoding, **options
        )
        return [[str(part.shape) for part in decoded], run(tf, list(decoded))]

    return attempt(
        lambda: decode(_WRONG),
        lambda: decode(_WRONG, errors="ignore"),
        lambda: decode(_WRONG, errors="strict"),
        lambda: decode([b"a\n"], replacement_char=-1),
        lambda: decode([b"a\n\x7f"], replace_control_characters=True, replacement_char=63),
        lambda: decode([b"\xfe\xff\x00*", b"\xff\xfe*\x00", b"\x00*"], "UTF-16"),
        lambda: decode([b"\xd8\x01\x00*", b"\x00*\x01"], "UTF-16-BE"),
        lambda: decode("", "none"),
        lambda: decode([[b"a\xe9"]], "US-ASCII"),
        lambda: decode(b"\x83\x4f\x5c", "shift_jis"),
        lambda: run(
            tf,
            tf.raw_ops.UnicodeDecode(input=[b"ab", b"c"], input_encoding="UTF-8", Tsplits=tf.int32),
        ),
        lambda: run(
            tf,
            tf.strings.unicode_transcode(
                [b"\xef\xbf\xbd\xff"], "UTF-8", "UTF-8", replacement_char=63
            ),
        ),
        lambda: run(tf, tf.strings.unicode_transcode([b"\x00*"], "UTF-16", "UTF-16-BE")),
    )


def _fingerprints(tf):
    def of(data, **options):
        prints = tf.fingerprint(data, **options)
        return [prints.op.name, str(prints.shape), run(tf, prints)]

    return attempt(
        lambda: of([[1, 2], [3, 4]]),
        lambda: of([b"a", b"bc"], name="print"),
        lambda: of([[b"a", b"bc"], [b"abc", b""]]),
        lambda: of(np.zeros((0, 3))),
        lambda: of(3),
        lambda: of([1], method="md5"),
        lambda: of([1], method=["farmhash64"]),
    )


def _encoded(tf):
    points = [72, 0x1F600, 0xD83D, -1, 0x110000, 0xFDD0]

    def encode(splits, values=points, target: str = "UTF-8", **options):
        encoded = tf.raw_ops.UnicodeEncode(
            input_values=values, input_splits=splits, output_encoding=target, **options
        )
        return [str(encoded.shape), run(tf, encoded)]

    return attempt(
        lambda: encode([0, 1, 1, 6]),
        lambda: encode([0, 6], target="UTF-16-BE"),
        lambda: encode([0, 6], errors="ignore"),
        lambda: encode([0, 6], errors="strict"),
        lambda: encode([0, 6], replacement_char=0x110000),
        lambda: encode([1, 6]),
        lambda: encode([0, 7]),
        lambda: encode([0, 5, 4, 6]),
        lambda: encode([], []),
        lambda: encode([0], []),
        lambda: encode([0, 1], [[1]]),
        lambda: run(tf, tf.strings.unicode_script([65, 0x41F, 0x4E00, -1, 0x110000, 0x378])),
    )


def _runs_of_strings(tf):
    def runs(splits, widths, most: int = -1, short: bool = False):
        ngrams = tf.raw_ops.StringNGrams(
            data=[b"a", b"b", b"c", b"d", b"e"],
            data_splits=np.array(splits, np.int64),
            separator="|",
            ngram_widths=widths,
            left_pad="<",
            right_pad=">",
            pad_width=most,
            preserve_short_sequences=short,
        )
        return [[str(part.shape) for part in ngrams], run(tf, list(ngrams))]

    return attempt(
        lambda: runs([0, 4, 4, 5], [2]),
        lambda: runs([0, 4, 5], [3, 2], 0),
        lambda: runs([0, 4, 4, 5], [5], 1, short=True),
        lambda: runs([0, 1, 5], [6, 7], 2, True),
        lambda: runs([0, 6], [2]),
        lambda: runs([0, 3, 2, 5], [2]),
        lambda: runs([1, 5], [2]),
        lambda: runs([0, 4], [2]),
        lambda: runs([], [2]),
        lambda: runs([0, 5], [0]),
        lambda: runs([0, 5], []),
        lambda: run(tf, tf.reduce_join([["a", "b"]], tf.placeholder_with_default([2], [None]))),
    )


def _crossed(tf):
    texts = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [b"red", b"", b"blue"], [2, 2])
    numbers = tf.constant([[3, -4], [5, 6]])
    few = tf.SparseTensor([[0, 1]], [b"x"], [2, 3])
    outcomes = attempt(
        lambda: run(tf, tf.sparse.cross([texts, numbers, few])),
        lambda: run(tf, tf.sparse.cross([numbers, texts], separator="-")),
        lambda: run(tf, tf.sparse.cross_hashed([texts, numbers])),
        lambda: run(tf, tf.sparse.cross_hashed([texts, few], 100, 7)),
        lambda: tf.sparse.cross(texts),
        lambda: tf.sparse.cross([texts, [["a"]]]),
        lambda: run(tf, tf.sparse.cross([texts, tf.constant([["a"]])])),
    )
    return [
        outcomes,
        [[n.name, n.op, *n.input] for n in tf.get_default_graph().as_graph_def().node],
    ]


def _counted(tf):
    matrix = tf.constant([[3, 1, 1], [5, 0, 5]])
    sparse = tf.SparseTensor([[0, 0], [2, 1], [2, 3]], [3, 3, 1], [3, 4])
    weights = tf.SparseTensor(sparse.indices, [0.5, 2.0, 4.0], sparse.dense_shape)
    others = tf.SparseTensor([[0, 0], [2, 1], [2, 2]], [0.5, 2.0, 4.0], [3, 4])
    fed = tf.sparse_placeholder(tf.float32)

    def count(*args, **options):
        return lambda: run(tf, tf.sparse.bincount(*args, **options))

    def bins(shape, size: int, given, **options):
        return lambda: run(
            tf,
            tf.raw_ops.SparseBincount(
                indices=sparse.indices,
                values=sparse.values,
                dense_shape=shape,
                size=size,
                weights=given,
                **options,
            ),
        )

    none = np.zeros(0, np.float32)
    outcomes = attempt(
        count(matrix),
        count(matrix, axis=-1),
        count(matrix, axis=-1, minlength=8),
        count(matrix, axis=-1, maxlength=4),
        count(matrix, axis=1),
        count([-1, 2]),
        count(matrix, [[1.0, 2, 3], [4, 5, 6]], axis=-1),
        count(matrix, binary_output=True),
        count(matrix, [1.0], binary_output=True),
        count(sparse),
        count(sparse, axis=-1),
        count(sparse, weights, axis=-1),
        count(sparse, others, axis=-1),
        count(sparse, [1.0], -1),
        count(matrix, weights, -1),
        lambda: run(
            tf,
            tf.sparse.bincount(sparse, fed, -1),
            {fed: ([[0, 0], [2, 1], [2, 3]], [1.0, 2.0, 3.0], [3, 4])},
        ),
        lambda: run(
            tf,
            tf.sparse.bincount(sparse, fed, -1),
            {fed: ([[0, 0], [2, 1], [2, 2]], [1.0, 2.0, 3.0], [3, 4])},
        ),
        bins([3, 4], 4, none),
        bins([3, 4], 3, [1.0, 2, 4]),
        bins([3, 4], 4, none, binary_output=True),
        bins([2, 4], 4, none),
        bins([3, 4], -1, none),
        bins([3], 4, none),
    )
    return [
        outcomes,
        [[n.name, n.op, *n.input] for n in tf.get_default_graph().as_graph_def().node],
    ]


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (_decoded, _encoded, _fingerprints, _runs_of_strings, _crossed, _counted)
}
