"""Programs of functions of networks with missing or mismatched arguments."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]


def _missing(tf):
    """Cross entropies without labels or logits, or with positional arguments."""
    nn, x, y = tf.nn, tf.constant([[1.0, 2.0]]), tf.constant([[0.0, 1.0]])
    kinds = (
        nn.sigmoid_cross_entropy_with_logits,
        nn.softmax_cross_entropy_with_logits,
        nn.softmax_cross_entropy_with_logits_v2,
        nn.sparse_softmax_cross_entropy_with_logits,
    )
    return attempt(
        *(lambda k=kind: k(labels=y, logits=None) for kind in kinds),
        *(lambda k=kind: k(labels=None, logits=x) for kind in kinds),
        *(lambda k=kind: k(labels=None, logits=None) for kind in kinds),
        *(lambda k=kind: k(y, x) for kind in kinds),
        *(lambda k=kind: k() for kind in kinds),
        *(lambda k=kind: k(labels=tf.constant([[1.0]]), logits=x) for kind in kinds),
        *(lambda k=kind: k(labels=tf.constant([1]), logits=tf.constant(1.0)) for kind in kinds),
        lambda: nn.weighted_cross_entropy_with_logits(labels=y, logits=None, pos_weight=2.0),
        lambda: nn.weighted_cross_entropy_with_logits(labels=y, logits=x, pos_weight=None),
        lambda: nn.weighted_cross_entropy_with_logits(
            labels=tf.zeros([2, 3]), logits=x, pos_weight=2.0
        ),
        lambda: run(
            tf, nn.weighted_cross_entropy_with_logits(labels=y, logits=x, pos_weight=[[2.0, 3.0]])
        ),
        lambda: nn.log_poisson_loss(tf.zeros([2]), tf.zeros([3])),
        lambda: tf.metrics.accuracy(tf.zeros([2]), tf.zeros([3])),
        lambda: tf.metrics.accuracy(tf.zeros([2]), tf.zeros([2]), weights=tf.zeros([3])),
        lambda: tf.losses.cosine_distance(tf.zeros([2, 2]), tf.zeros([2, 3]), axis=1),
    )


def _accumulated(tf):
    """Sums of tensors whose shapes are partly known, or do not match."""
    p = tf.placeholder
    groups = (
        [p(tf.float32, [2, None]), p(tf.float32, [None, 3])],
        [p(tf.float32, None)],
        [p(tf.float32, [2]), p(tf.float32, [3])],
        [p(tf.float32, [2]), p(tf.float32, [2, 1])],
        [p(tf.float32, [2]), p(tf.float64, [2])],
        [],
        [p(tf.float32, [2])] * 3,
    )
    options = (
        {},
        {"shape": [2, 3]},
        {"shape": [2]},
        {"tensor_dtype": tf.float32},
        {"tensor_dtype": tf.float64},
        {"name": "named"},
    )
    return attempt(
        *(
            lambda g=group, o=option: tf.accumulate_n(g, **o)
            for group in groups
            for option in options
        ),
        *(lambda g=group: tf.add_n(g) for group in groups),
        lambda: run(tf, tf.accumulate_n([tf.constant([1, 2]), tf.constant([3, 4])])),
    )


def _padded(tf):
    """Static shapes of `tf.pad` with partly known paddings."""
    x, n = tf.placeholder(tf.float32, [2, None, 4]), tf.placeholder(tf.int32, [])
    amounts = (
        [[0, 0], [1, 2], [3, 4]],
        tf.stack([[0, 0], [1, 2], [3, 4]]),
        tf.stack([tf.stack([n, 1]), tf.constant([0, 0]), tf.constant([2, 2])]),
        tf.stack([tf.constant([1, 1]), tf.stack([0, n]), tf.stack([n, n])]),
        tf.placeholder(tf.int32, [3, 2]),
        tf.placeholder(tf.int32, None),
        [[0, 0], [1, 2]],
        [[0, -1], [0, 0], [0, 0]],
        tf.constant([[1, 0], [0, 0], [0, 1]], tf.int64),
    )
    return attempt(
        *(
            lambda a=amount, m=mode, y=given: tf.pad(y, a, m)
            for amount in amounts
            for mode in ("CONSTANT", "reflect", "SYMMETRIC")
            for given in (x, tf.placeholder(tf.float32, None), tf.zeros([2, 3, 4]))
        ),
        lambda: tf.pad(x, [[0, 0], [0, 0], [0, 0]], "OTHER"),
    )


def _norms(tf):
    """Norms of vectors and matrices along several axes, with `keepdims` and without."""
    x = (np.arange(2 * 3 * 4 * 2) * 7 % 11 - 5.0).reshape(2, 3, 4, 2)
    axes = (None, 0, -1, (0, 1), (1, 0), (1, 2), (-1, 0), (3, 1), [2], (0, 1, 2), (1, 1), 7)
    orders = ("euclidean", "fro", 1, 2, np.inf, 0.5, 3, 0, "other", -1)
    return attempt(
        *(
            lambda a=axis, o=order, k=keep: run(tf, tf.norm(x, o, a, keepdims=k))
            for axis in axes
            for order in orders
            for keep in (False, True)
        )
    )


def _formats(tf):
    """Pooling and convolutions of one to three dimensions with every data format."""
    nn, formats = tf.nn, (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW", "other")

    def shape_and_strides(make):
        first = len(tf.get_default_graph().get_operations())
        output = make()
        added = tf.get_default_graph().get_operations()[first:]
        return output.shape, [(op.type, str(op.node_def.attr["strides"])) for op in added]

    def pools(count: int, form) -> list[Action]:
        x = tf.placeholder(tf.float32, [2, *range(4, 4 + count), 3])
        window, transposed = (
            [2] * count,
            {1: nn.conv1d_transpose, 2: nn.conv2d_transpose, 3: nn.conv3d_transpose}[count],
        )
        kernel = tf.placeholder(tf.float32, [*window, 3, 5])
        back = tf.placeholder(tf.float32, [*window, 6, 3])
        sizes = [2, *(2 * n for n in range(4, 4 + count)), 6]
        given = {} if form is None else {"data_format": form}
        return [
            lambda: nn.pool(x, window, "MAX", "SAME", **given),
            lambda: nn.pool(x, window, "AVG", "VALID", strides=window, **given),
            lambda: nn.max_pool_v2(x, window, 1, "SAME", **given),
            lambda: nn.avg_pool_v2(x, window, 1, "SAME", **given),
            lambda: nn.convolution(x, kernel, "SAME", **given),
            lambda: transposed(x, back, sizes, strides=2, padding="SAME", **given),
            lambda: transposed(x, kernel, sizes, strides=2, padding="SAME", **given),
        ]

    return [
        [
            count,
            form,
            *attempt(*(lambda m=make: shape_and_strides(m) for make in pools(count, form))),
        ]
        for count in (1, 2, 3)
        for form in formats
    ]


BEHAVIOURS = {
    "missing": _missing,
    "accumulated": _accumulated,
    "padded": _padded,
    "norms": _norms,
    "formats": _formats,
}
