"""Jobs of networks for images: operations one by one, and a step of training without the update.

Each fetches sums of all that was computed, known beforehand: the inputs are made so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import FeedDict, Fetches, Operation, Value

__all__ = ["SHAPES", "STEP_BATCH", "cnn_step", "convolution", "outputs", "pooling"]

#: Shapes of the small network's weights.
SHAPES: Final = (
    (5, 5, 1, 32),
    (32,),
    (5, 5, 32, 64),
    (64,),
    (7 * 7 * 64, 128),
    (128,),
    (128, 10),
    (10,),
)
#: Images in a batch of the training step.
STEP_BATCH: Final = 32

#: What `jobs` runs: the fetch, the feeds, the value wanted, an initializer.
Built = tuple[Fetches, FeedDict, Value, Operation | None]


def convolution(
    size: int, depth: int, window: int, out: int, batch: int
) -> Callable[[Namespace], Built]:
    """A convolution without padding, of ones by ones, forward and both gradients.

    Args:
      size: rows and columns of the images.
      depth: their channels.
      window: rows and columns of the filters.
      out: how many filters.
      batch: how many images.

    """

    def build(tf: Namespace) -> Built:
        x = tf.placeholder(tf.float32, [batch, size, size, depth])
        filters = tf.placeholder(tf.float32, [window, window, depth, out])
        output = tf.nn.conv2d(x, filters, [1, 1, 1, 1], "VALID")
        by_x, by_filters = tf.gradients(output, [x, filters])
        fetch = tf.stack([tf.reduce_mean(tensor) for tensor in (output, by_x, by_filters)])
        positions = (size - window + 1) ** 2
        products = window * window * depth
        want = [products, positions * window * window * out / size**2, batch * positions]
        feeds = {
            x: np.ones(x.shape.as_list(), np.float32),
            filters: np.ones(filters.shape.as_list(), np.float32),
        }
        return fetch, feeds, np.array(want, np.float32), None

    return build


def pooling(kind: str, size: int, depth: int, batch: int) -> Callable[[Namespace], Built]:
    """A pooling of pairs, `max` or `avg`, and its gradient, of rising numbers."""

    def build(tf: Namespace) -> Built:
        x = tf.placeholder(tf.float32, [batch, size, size, depth])
        function = tf.nn.max_pool if kind == "max" else tf.nn.avg_pool
        output = function(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        (back,) = tf.gradients(output, [x])
        fetch = tf.stack([tf.reduce_max(output), tf.reduce_sum(back)])
        rising = np.arange(size, dtype=np.float32).reshape(1, size, 1, 1)
        images = np.ascontiguousarray(np.broadcast_to(rising, x.shape.as_list()))
        most = size - 1 if kind == "max" else size - 1.5
        want = np.array([most, batch * depth * size * size / 4], np.float32)
        return fetch, {x: images}, want, None

    return build


def outputs(tf: Namespace, images: Any, weights: Sequence[Any]) -> Any:
    """The outputs (batch, 10) of a small network for images (batch, 28, 28, 1).

    Two convolutions of 5 by 5, each with bias, relu and pooling, then a dense layer of 128 and one
    of 10. The weights are of `SHAPES`.
    """
    x = images
    for filters, bias in (weights[:2], weights[2:4]):
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, filters, [1, 1, 1, 1], "SAME"), bias))
        x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    x = tf.reshape(x, [images.shape.as_list()[0], -1])
    x = tf.nn.relu(tf.matmul(x, weights[4]) + weights[5])
    return tf.matmul(x, weights[6]) + weights[7]


def cnn_step(tf: Namespace) -> Built:
    """The loss of a small network and all its gradients, from fed weights.

    The last layer's weights are 0, so that every class has the probability 0.1.
    """
    images = tf.placeholder(tf.float32, [STEP_BATCH, 28, 28, 1])
    weights = [tf.placeholder(tf.float32, shape) for shape in SHAPES]
    logits = outputs(tf, images, weights)
    labels = np.arange(STEP_BATCH, dtype=np.int32) % 10
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    gradients = tf.gradients(loss, weights)
    rest = tf.add_n([tf.reduce_sum(gradient) for gradient in gradients[:6]])
    fetch = tf.concat([[loss], gradients[7], [rest]], 0)
    draw = np.random.default_rng(1)
    values = [draw.standard_normal(shape).astype(np.float32) * np.float32(0.05) for shape in SHAPES]
    values[6], values[7] = np.zeros_like(values[6]), np.zeros_like(values[7])
    feeds = {
        images: draw.random(images.shape.as_list(), np.float32),
        **dict(zip(weights, values, strict=True)),
    }
    counts = np.bincount(labels, minlength=10) / STEP_BATCH
    return fetch, feeds, np.array([np.log(10), *(0.1 - counts), 0], np.float32), None
