"""Programs of connectionist temporal classification: losses, gradients, decoders, errors."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.queues.pipeline import built

__all__ = ["BEHAVIOURS"]

_LOGITS = np.random.RandomState(3).randn(7, 3, 5).astype(np.float32)
_LENGTHS = [7, 3, 5]


def _labels(tf, rows=((0, 1, 1), (2,), (3, 3))):
    places = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = np.array([label for row in rows for label in row], np.int32)
    return tf.SparseTensor(places, values, [len(rows), max(map(len, rows))])


def _rounded(values):
    return [np.round(value, 3) for value in values]


def _losses(tf):
    options = (
        {},
        {"preprocess_collapse_repeated": True},
        {"ctc_merge_repeated": False},
        {"ignore_longer_outputs_than_inputs": True},
    )
    results = []
    for option in options:
        x = tf.constant(_LOGITS)
        loss = tf.nn.ctc_loss(_labels(tf), x, _LENGTHS, **option)
        (gradient,) = tf.gradients(loss, x)
        results.append([loss, gradient, _rounded(run(tf, [loss, gradient]))])
    impossible = _labels(tf, ((0, 0, 0, 0, 0), (1, 2), (3, 4)))
    both = tf.raw_ops.CTCLoss(
        inputs=_LOGITS,
        labels_indices=impossible.indices,
        labels_values=impossible.values,
        sequence_length=[6, 1, 2],
        ignore_longer_outputs_than_inputs=True,
    )
    return [results, _rounded(run(tf, list(both)))]


def _decoders(tf):
    nn = tf.nn
    decoded = [
        nn.ctc_greedy_decoder(_LOGITS, _LENGTHS),
        nn.ctc_greedy_decoder(_LOGITS, _LENGTHS, False),
        nn.ctc_greedy_decoder(_LOGITS, _LENGTHS, blank_index=0),
        nn.ctc_beam_search_decoder(_LOGITS, _LENGTHS, 20, 3),
        nn.ctc_beam_search_decoder(_LOGITS, _LENGTHS, 4, 2, merge_repeated=False),
        nn.ctc_beam_search_decoder_v2(_LOGITS, _LENGTHS),
    ]
    with tf.Session() as session:
        return [[session.run(paths), np.round(session.run(scores), 3)] for paths, scores in decoded]


def _graphs(tf):
    fed = lambda: tf.placeholder(tf.float32, [None, 2, 5])  # noqa: E731
    return built(
        tf,
        lambda: tf.nn.ctc_loss(_labels(tf), fed(), [1, 2], time_major=True),
        lambda: tf.nn.ctc_loss(
            _labels(tf), logits=tf.placeholder(tf.float16), sequence_length=[1, 2], time_major=False
        ),
        lambda: tf.nn.ctc_greedy_decoder(fed(), [1, 2]),
        lambda: tf.nn.ctc_beam_search_decoder(fed(), [1, 2], top_paths=2),
    )


def _twice(tf, labels):
    x = tf.constant(_LOGITS)
    (gradient,) = tf.gradients(tf.nn.ctc_loss(labels, x, _LENGTHS), x)
    return tf.gradients(gradient, x)


def _refusals(tf):
    nn, labels = tf.nn, _labels(tf)
    return attempt(
        lambda: nn.ctc_loss([[1]], _LOGITS, _LENGTHS),
        lambda: nn.ctc_loss(labels, _LOGITS, [1]),
        lambda: nn.ctc_loss(labels, _LOGITS[0], _LENGTHS),
        lambda: nn.ctc_loss(labels, _LOGITS, _LENGTHS, logits=_LOGITS),
        lambda: run(tf, nn.ctc_loss(labels, _LOGITS, [2, 3, 5])),
        lambda: run(tf, nn.ctc_loss(labels, _LOGITS, [9, 3, 5])),
        lambda: run(tf, nn.ctc_loss(_labels(tf, ((0,), (-1,), (2,))), _LOGITS, _LENGTHS)),
        lambda: run(tf, nn.ctc_loss(_labels(tf, ((0,), (4, 1), (2,))), _LOGITS, _LENGTHS)),
        lambda: run(tf, nn.ctc_loss(_labels(tf, ((0,), (), (2,))), _LOGITS, _LENGTHS)),
        lambda: run(tf, nn.ctc_greedy_decoder(_LOGITS, [9, 1, 1])[1]),
        lambda: run(tf, nn.ctc_greedy_decoder(_LOGITS, _LENGTHS, blank_index=7)[1]),
        lambda: nn.ctc_greedy_decoder(_LOGITS, [1]),
        lambda: run(tf, nn.ctc_beam_search_decoder(_LOGITS, _LENGTHS, 2, 3)[1]),
        lambda: _twice(tf, labels),
    )


_ROWS = [[1, 3, 3, 3, 0], [1, 4, 4, 4, 0], [4, 2, 2, 0, 4]]


def _sparse_labels(tf):
    ops = module_of(tf, "ops.ctc_ops")
    sparse = ops.dense_labels_to_sparse(_ROWS, [4, 5, 3])
    tensors = [
        *tf.nn.collapse_repeated(_ROWS, [4, 5, 5]),
        *tf.nn.ctc_unique_labels(_ROWS),
        sparse.indices,
        sparse.values,
        sparse.dense_shape,
    ]
    fed = tf.placeholder(tf.int64, [None, 5])
    return (
        [[tensor.name, tensor.dtype, tensor.shape] for tensor in tensors],
        run(tf, tensors),
        built(
            tf,
            lambda: tf.nn.collapse_repeated(tf.constant(_ROWS), tf.constant([1, 2, 3]))[0],
            lambda: ops.dense_labels_to_sparse(fed, [4, 5, 3]).values,
        ),
    )


def _newer_losses(tf):
    ops = module_of(tf, "ops.ctc_ops")
    x = tf.constant(_LOGITS)
    rows, counts = np.array(_ROWS) % 4, [4, 5, 3]
    steps = [7, 7, 7]
    losses = [
        tf.nn.ctc_loss_v2(rows, x, counts, steps),
        tf.nn.ctc_loss_v2(rows, x, counts, steps, name="n"),
        tf.nn.ctc_loss_v2(rows, x, counts, steps, blank_index=-1),
        ops.ctc_loss_dense(rows, x, counts, steps, unique=tf.nn.ctc_unique_labels(rows)),
        ops.ctc_loss_dense(
            rows, x, counts, steps, blank_index=2, unique=tf.nn.ctc_unique_labels(rows)
        ),
        tf.nn.ctc_loss_v2(_labels(tf), x, None, _LENGTHS, blank_index=4),
        tf.nn.ctc_loss_v2(_labels(tf), x, None, _LENGTHS, blank_index=-1),
        # TensorFlow computes it in a function, whose call determines its name.
        tf.identity(ops.ctc_loss_v3(_labels(tf), x, None, _LENGTHS, blank_index=4), name="third"),
    ]
    gradients = [tf.gradients(loss, x)[0] for loss in losses]
    gradients[-1] = tf.identity(gradients[-1], name="of_third")
    return (
        [loss.shape for loss in losses],
        _rounded(run(tf, losses + gradients)),
        attempt(
            lambda: tf.nn.ctc_loss_v2(_labels(tf), x, None, _LENGTHS),
        ),
    )


def _newer_graphs(tf):
    fed = tf.placeholder(tf.float32, [None, 3, 5])
    rows = tf.placeholder(tf.int64, [3, None])
    return built(tf, lambda: tf.nn.ctc_loss_v2(rows, fed, [1, 2, 2], [3, 4, 2]))


BEHAVIOURS = {
    "decoders": _decoders,
    "graphs": _graphs,
    "losses": _losses,
    "made-labels": _sparse_labels,
    "newer-graphs": _newer_graphs,
    "newer-losses": _newer_losses,
    "refusals": _refusals,
}
