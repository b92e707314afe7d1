"""Programs of the Keras backend: resizing, focal cross entropies, names of arguments."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.queues.pipeline import built
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]


def _enlarged(tf):
    backend = tf.keras.backend

    def enlarged() -> list[Tensor]:
        x = tf.constant(np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4))
        fed = tf.placeholder_with_default(x, [1, None, None, 4])
        return [
            backend.repeat_elements(x, 2, 2),
            backend.repeat_elements(fed, 2, 2),
            backend.resize_images(x, 2, 3, "channels_last"),
            backend.resize_images(fed, 2, 2, "channels_first", "bilinear"),
            backend.resize_volumes(tf.ones([1, 1, 2, 1, 1]), 2, 1, 3, "channels_last"),
            backend.local_conv1d(tf.ones([2, 4, 3]), tf.ones([3, 6, 5]), (2,), (1,)),
            backend.local_conv2d(
                tf.ones([2, 3, 4, 4]),
                tf.ones([9, 12, 5]),
                (2, 2),
                (1, 1),
                (3, 3),
                "channels_first",
            ),
        ]

    return [built(tf, enlarged), run(tf, enlarged())]


def _weighted(tf):
    backend = tf.keras.backend

    def losses() -> list[Tensor]:
        right, predicted = (
            tf.constant([[0.0, 1.0], [1.0, 0.0]]),
            tf.constant([[0.2, 0.8], [0.6, 0.4]]),
        )
        return [
            backend.binary_focal_crossentropy(right, predicted),
            backend.binary_focal_crossentropy(right, predicted, True, from_logits=True),
            backend.categorical_focal_crossentropy(right, tf.nn.softmax(predicted)),
            backend.sparse_categorical_crossentropy(tf.constant([1, 0]), predicted, ignore_class=0),
        ]

    return [
        built(tf, losses),
        np.round(np.concatenate([np.ravel(x) for x in run(tf, losses())]), 5),
    ]


def _named(tf):
    backend, x = tf.keras.backend, tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return [
        run(
            tf,
            [
                backend.pow(x=x, a=2),
                backend.reshape(x, shape=[4]),
                backend.greater(y=x, x=2 * x),
                backend.random_normal([2], mean=1.0, seed=3),
                backend.random_uniform((2,), 0.0, maxval=5.0, seed=3),
                backend.truncated_normal([2], stddev=2.0, seed=1),
                backend.zeros_like(x, dtype="int32"),
                backend.ones_like(x, name="n"),
            ],
        ),
        attempt(
            lambda: backend.abs(y=x),
            lambda: backend.resize_images(x, 1, 1, "sideways"),
            lambda: backend.resize_images(tf.ones([1, 2, 2, 1]), 1, 1, "channels_last", "none"),
        ),
    ]


def _like(tf):
    """`zeros_like` of sparse tensors, and the backend's `ones_like`."""
    known = tf.SparseTensor([[0, 0]], [1.5], [2, 3])
    unknown = tf.sparse_placeholder(tf.float32)
    return [
        built(tf, lambda: tf.zeros_like(tf.SparseTensor([[0, 0]], [1.5], [2, 3]))),
        built(tf, lambda: tf.zeros_like(tf.sparse_placeholder(tf.float32), tf.int32)),
        run(tf, tf.zeros_like(known, tf.int64)),
        attempt(lambda: tf.zeros_like(unknown), lambda: tf.ones_like(known)),
        built(tf, lambda: tf.keras.backend.ones_like(tf.placeholder(tf.float32))),
        built(tf, lambda: tf.keras.backend.ones_like(tf.constant([1.0]), "int32")),
    ]


def _by_name(tf):
    """Arguments that have two names, or that are rarely passed by name."""
    return [
        run(
            tf,
            [
                tf.string_to_number(input=["1", "2.5"]),
                tf.zeros([2], layout=None),
                tf.strings.to_number(["3"], tf.int64),
                tf.fill([2], 1.5, layout=None),
            ],
        ),
        run(tf, tf.tensor_scatter_update([1, 2, 3], [[1]], [9], "named")),
        attempt(
            lambda: tf.string_to_number(["1"], input=["2"]),
            lambda: tf.math.reduce_euclidean_norm([1.0], keep_dims=True),
            lambda: tf.gfile.Exists(filename="nowhere"),
            lambda: tf.gfile.Exists(path="nowhere"),
        ),
    ]


BEHAVIOURS = {
    "enlarged": _enlarged,
    "weighted": _weighted,
    "named": _named,
    "like": _like,
    "by-name": _by_name,
}
