"""Programs that import the newer forms of `nn_ops`, `nn_impl` and `embedding_ops` by path."""

from __future__ import annotations

from typing import Any

import numpy as np
from value_path_behaviours import _framework

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.queues.pipeline import built

__all__ = ["BEHAVIOURS"]

_X = np.random.RandomState(7).randn(2, 6, 6, 3).astype(np.float32)
_ROWS = _X[:, 0]
_VOLUMES = _X[:, :, :, :, None]


def _windows(tf: Any) -> Any:
    nn = _framework(tf, "nn_ops", "ops")
    kernels, deep = np.ones([3, 3, 3, 2], np.float32), np.ones([2, 2, 2, 1, 2], np.float32)
    flat = np.ones([2, 2, 3], np.float32)
    return built(
        tf, lambda: nn.conv2d_v2(_X, kernels, 2, "SAME", name="plane"),
        lambda: nn.conv1d_v2(_ROWS, kernels[0], 1, "VALID", dilations=1),
        lambda: nn.conv3d_v2(_VOLUMES, deep, [1] * 5, "SAME"),
        lambda: nn.convolution_v2(_X, kernels, dilations=2),
        lambda: nn.conv2d_transpose_v2(_X, kernels.transpose(0, 1, 3, 2), [2, 12, 12, 2], 2),
        lambda: nn.conv3d_transpose_v2(_VOLUMES, deep[..., :1], [2, 12, 12, 6, 1], 2),
        lambda: nn.dilation2d_v2(_X, flat, [1] * 4, "SAME", "NHWC", [1] * 4),
        lambda: nn.erosion2d_v2(_X, flat, [1] * 4, "VALID", "NHWC", [1] * 4),
        lambda: nn.dilation2d_v2(_X, flat, [1] * 4, "SAME", "NCHW", [1] * 4),
        lambda: nn.pool_v2(_X, [2, 2], "MAX", strides=[2, 2]),
        lambda: nn.max_pool_with_argmax_v2(_X, 2, 2, "SAME").argmax,
        lambda: nn.max_pool_with_argmax_v2(_X, 2, 2, "SAME", "NCHW"),
    )  # fmt: skip


def _fractional(tf: Any) -> Any:
    nn = _framework(tf, "nn_ops", "ops")
    return built(
        tf, lambda: nn.fractional_max_pool_v2(_X, 1.5, seed=3).output,
        lambda: nn.fractional_max_pool_v2(_X, [1, 1.5, 1.2, 1], True, True).output,
        lambda: nn.fractional_avg_pool_v2(_X, [1, 1.5, 1.2, 1], seed=2).output,
    ), attempt(
        lambda: nn.fractional_max_pool_v2(_X, 0.5), lambda: nn.fractional_max_pool_v2(_X, "a"),
        lambda: nn.fractional_max_pool_v2(_X, [1.5, 1.5, 1.5, 1]),
        lambda: nn.fractional_max_pool_v2(_X, [1, 0.5, 1.5, 1]),
    )  # fmt: skip


def _rows(tf: Any) -> Any:
    nn, impl = _framework(tf, "nn_ops", "ops"), _framework(tf, "nn_impl", "ops")
    values = [
        nn.softmax_v2(_X, axis=1), nn.log_softmax_v2(_ROWS), nn.crelu_v2(_ROWS, 1),
        nn.gelu(_ROWS), nn.gelu(_ROWS, approximate=True),
        nn.in_top_k_v2([0, 1], _ROWS[:, 0], 2),
        nn.sparse_softmax_cross_entropy_with_logits_v2([0, 1], _ROWS[:, 0]),
        impl.sigmoid_cross_entropy_with_logits_v2(_ROWS, _ROWS),
        impl.weighted_cross_entropy_with_logits_v2(_ROWS, _ROWS, 2.0),
        impl.moments_v2(_X, [0, 1]), impl.weighted_moments_v2(_X, [0, 1], 2.0, keepdims=True),
        impl.sufficient_statistics_v2(_X, [0, 1])[:3],
        impl.depthwise_conv2d_v2(_X, np.ones([2, 2, 3, 1], np.float32), [1] * 4, "SAME"),
    ]  # fmt: skip
    flat = [each for value in values for each in (value if isinstance(value, tuple) else [value])]
    graph = [[each.op.type, each.name, each.shape.as_list()] for each in flat]
    return (
        graph,
        [np.round(1.0 * each, 3) for each in run(tf, flat)],
        attempt(
            lambda: nn.gelu([1, 2]),
            lambda: nn.softmax_v2(),
            lambda: nn.softmax_v2(_ROWS, dim=1),
            lambda: nn.softmax_v2(_ROWS, 1, "name", 3),
        ),
    )


def _left_out(tf: Any) -> Any:
    nn = _framework(tf, "nn_ops", "ops")
    x = tf.constant(_ROWS)
    drawn = [
        nn.dropout_v2(x, 0.5, seed=3),
        tf.nn.experimental.stateless_dropout(x, 0.3, [1, 2]),
        tf.nn.experimental.general_dropout(x, 0.5, lambda shape, dtype: tf.ones(shape, dtype) / 3),
    ]
    kept = nn.dropout_v2(x, 0) is x, tf.nn.experimental.stateless_dropout(x, 0, [1, 2]) is x
    return (
        [each.name for each in drawn],
        run(tf, drawn[1:]),
        kept,
        attempt(
            lambda: nn.dropout_v2(x, 1.0),
            lambda: nn.dropout_v2(x),
            lambda: tf.nn.experimental.stateless_dropout([1], 0.5, [1, 2]),
        ),
    )


def _lookups(tf: Any) -> Any:
    ops = _framework(tf, "embedding_ops", "ops")
    parts = [tf.constant(_ROWS[0, :3]), tf.constant(_ROWS[1, :2])]
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([0, 4, 2], tf.int64), [2, 2])
    made = [
        ops.embedding_lookup_v2(parts, [0, 4, 2]),
        ops.embedding_lookup_v2(parts, [1], 0.5),
        ops.embedding_lookup_sparse_v2(parts, ids, None, "sum"),
        ops.safe_embedding_lookup_sparse_v2(parts, ids),
    ]
    return [each.name for each in made], [np.round(each, 4) for each in run(tf, made)]


def _averages(tf: Any) -> Any:
    nn = tf.nn
    fed = lambda shape=None: tf.placeholder(tf.float32, shape)  # noqa: E731
    losses, weights = [1.0, 2.0, 4.0], [0.5, 1.0, 2.0]
    values = [
        nn.compute_average_loss(losses), nn.compute_average_loss(losses, weights),
        nn.compute_average_loss(losses, [[0.5], [1.0], [2.0]], 10),
        nn.compute_average_loss([losses] * 2, weights[:2], 4), nn.compute_average_loss([]),
        nn.compute_average_loss(np.array(losses), 2.0), nn.scale_regularization_loss(losses),
    ]  # fmt: skip
    return [each.dtype for each in values], run(tf, values), built(
        tf, lambda: nn.compute_average_loss(fed([None])),
        lambda: nn.compute_average_loss(fed([None]), fed([None, 1]), 3),
        lambda: nn.compute_average_loss(fed(), fed()),
        lambda: nn.scale_regularization_loss(fed()),
    ), attempt(
        lambda: nn.compute_average_loss(1.0),
        lambda: nn.compute_average_loss(losses, [[1.0, 2.0]]),
        lambda: nn.compute_average_loss(losses, None, -1),
        lambda: nn.compute_average_loss(losses, None, 1.5),
        lambda: nn.compute_average_loss(losses, None, [1, 2]),
    )  # fmt: skip


def _regressions(tf: Any) -> Any:
    nn = _framework(tf, "nn_ops", "ops")
    rows = tf.constant([[3.0, 1.0, 2.0, 2.0, 5.0], [1.0, 1.0, 0.0, -2.0, 4.0]])
    found = [
        each
        for x in (rows, tf.cast(rows, tf.int32), tf.cast(rows, tf.int8))
        for way in (True, False)
        for axis in (-1, 0)
        for each in nn.isotonic_regression(x, way, axis)
    ]
    slopes = tf.gradients(nn.isotonic_regression(rows)[0] * rows, rows)
    return (
        [each.dtype for each in found],
        run(tf, [*found, *slopes]),
        built(tf, lambda: nn.isotonic_regression(np.ones([2, 3], np.float32), False, 0)[0]),
        attempt(lambda: nn.isotonic_regression(rows, axis=2)),
    )


def _second_gradients(tf: Any) -> Any:
    found = []
    for shape, form, training in (
        (_X.shape, "NHWC", True),
        (_X.shape, "NHWC", False),
        ((2, 3, 2, 2, 3), "NDHWC", True),
    ):
        x = tf.constant(_X.ravel()[: int(np.prod(shape))].reshape(shape))
        scale, offset = tf.constant([0.5, 2.0, 1.0]), tf.constant([1.0, 0.0, -1.0])
        moments = {} if training else {"mean": [0.5, 0.0, 1.0], "variance": [1.0, 2.0, 0.5]}
        y, *_ = tf.nn.fused_batch_norm(
            x, scale, offset, is_training=training, data_format=form, **moments
        )
        above = tf.square(x) + 1.0
        firsts = tf.gradients(y, [x, scale, offset], above)
        loss = tf.reduce_sum(firsts[0] ** 2) + tf.reduce_sum(firsts[1] * firsts[2])
        found += [tf.reduce_mean(each) for each in tf.gradients(loss / 1000.0, [x, scale])]
    return np.round(run(tf, found), 3)


def _batches(tf: Any) -> Any:
    nn = _framework(tf, "nn_ops", "ops")
    kernels = np.ones([3, 3, 3, 2], np.float32)
    made = nn.Convolution(_X[None].shape, kernels.shape, "VALID", data_format="NHWC")
    back = tf.raw_ops.Conv2DBackpropInput(
        input_sizes=[2, 6, 6, 3], filter=kernels, out_backprop=np.ones([2, 6, 5, 2], np.float32),
        strides=[1] * 4, padding="EXPLICIT", explicit_paddings=[0, 0, 1, 1, -1, 2, 0, 0],
    )  # fmt: skip
    parts = tf.split(tf.ones([4, 2]), tf.TensorShape([4])[0])
    counts = made.num_batch_dims, made.num_spatial_dims, len(parts)
    return counts, attempt(lambda: run(tf, back))


def _elements_that_are_not_there(tf: Any) -> Any:
    found, cases = [], (
        (5, 0, "at least rank 1 but is rank 0"), ([5], -1, "must be non-negative but is -1"),
        ([5, 6], [1], "must be scalar but has rank 1"),
        ([5, 6], 2, "must have last dimension > n = 2"),
    )  # fmt: skip
    for values, n, words in cases:
        for is_fed in (False, True):
            fed = {tf.placeholder(tf.int32): each for each in (values, n)} if is_fed else {}
            given = list(fed) or [values, n]
            try:
                with tf.Session() as session:
                    session.run(tf.raw_ops.NthElement(input=given[0], n=given[1]), fed)
            except (ValueError, tf.errors.InvalidArgumentError) as error:
                found.append((words in str(error), isinstance(error, ValueError)))
    return found


BEHAVIOURS = {
    "elements_that_are_not_there": _elements_that_are_not_there,
    "averages": _averages,
    "batches": _batches,
    "fractional": _fractional,
    "left-out": _left_out,
    "lookups": _lookups,
    "regressions": _regressions,
    "rows": _rows,
    "second-gradients": _second_gradients,
    "windows": _windows,
}
