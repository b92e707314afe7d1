"""Training steps in a GraphDef: built by one side, run by the other, with the same losses.

Each program builds a network, its loss, gradients and an optimizer's step; the graph is written as
bytes, and each side imports what either has written and trains with it from the same seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sessrun.reference as ours

pytestmark = [pytest.mark.tensorflow, pytest.mark.filterwarnings("ignore")]

STEPS = 20
#: Sums of products are rounded in another order; what that does to a loss grows with the steps.
TOLERANCE = 1e-4

_RANDOM = np.random.RandomState(7)
_SEQUENCES = _RANDOM.randn(8, 6, 3).astype(np.float32)
_SUMS = _SEQUENCES.sum(axis=(1, 2), keepdims=True)[:, 0]
_IMAGES = _RANDOM.randn(6, 8, 8, 1).astype(np.float32)
_CLASSES = np.array([0, 1, 2, 0, 1, 2], np.int32)


def _lstm(tf: Any) -> tuple[Any, Any]:
    """An LSTM over sequences of two lengths in a while loop, and gradient descent."""
    x = tf.placeholder(tf.float32, [8, 6, 3], name="x")
    y = tf.placeholder(tf.float32, [8, 1], name="y")
    cell = tf.nn.rnn_cell.LSTMCell(5, use_peepholes=True)
    lengths = [6, 6, 6, 6, 4, 4, 4, 4]
    outputs, _ = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
    weights = tf.get_variable("weights", [5, 1])
    guess = tf.matmul(tf.reduce_sum(outputs, 1), weights)
    loss = tf.losses.mean_squared_error(y, guess)
    return loss, tf.train.GradientDescentOptimizer(0.05).minimize(loss)


def _gru(tf: Any) -> tuple[Any, Any]:
    """Two cells in a row with dropout, clipped gradients, momentum."""
    x = tf.placeholder(tf.float32, [8, 6, 3], name="x")
    y = tf.placeholder(tf.float32, [8, 1], name="y")
    cells = tf.nn.rnn_cell
    first = cells.DropoutWrapper(cells.GRUCell(4), output_keep_prob=0.75, seed=3)
    outputs, _ = tf.nn.static_rnn(
        cells.MultiRNNCell([first, cells.BasicRNNCell(3)]), tf.unstack(x, axis=1), dtype=tf.float32
    )
    guess = tf.nn.xw_plus_b(outputs[-1], tf.get_variable("w", [3, 1]), tf.get_variable("b", [1]))
    loss = tf.losses.huber_loss(y, guess)
    optimizer = tf.train.MomentumOptimizer(0.02, 0.5)
    gradients, variables = zip(*optimizer.compute_gradients(loss), strict=True)
    clipped, _ = tf.clip_by_global_norm(gradients, 1.0)
    return loss, optimizer.apply_gradients(zip(clipped, variables, strict=True))


def _convolutions(tf: Any) -> tuple[Any, Any]:
    """A network of convolutions over images, and Adam."""
    x = tf.placeholder(tf.float32, [6, 8, 8, 1], name="x")
    y = tf.placeholder(tf.int32, [6], name="y")
    kernel = tf.get_variable("kernel", [3, 3, 1, 4])
    bias = tf.get_variable("bias", [4], initializer=tf.zeros_initializer())
    found = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME"), bias))
    pooled = tf.nn.max_pool(found, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    logits = tf.layers.dense(tf.layers.flatten(pooled), 3)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    return loss, tf.train.AdamOptimizer(0.01).minimize(loss)


PROGRAMS = {
    "lstm": (_lstm, _SEQUENCES, _SUMS),
    "gru": (_gru, _SEQUENCES, _SUMS),
    "convolutions": (_convolutions, _IMAGES, _CLASSES),
}


def _written(tf: Any, build: Callable[[Any], tuple[Any, Any]]) -> tuple[bytes, dict[str, str]]:
    """The graph that one side builds, and the names of what is run."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(11)
        loss, step = build(tf)
        start = tf.global_variables_initializer()
        names = {"loss": loss.name, "step": step.name, "start": start.name}
        return graph.as_graph_def().SerializeToString(), names


def _losses(tf: Any, raw: bytes, names: dict[str, str], x: Any, y: Any) -> list[float]:
    """The losses of each step when one side trains."""
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(tf.GraphDef.FromString(raw), name="")
        fed = {"x:0": x, "y:0": y}
        with tf.Session(graph=graph) as session:
            session.run(names["start"])
            return [session.run([names["loss"], names["step"]], fed)[0] for _ in range(STEPS)]


@pytest.mark.parametrize("builder", ["ours", "theirs"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_both_sides_train_alike(theirs: Any, name: str, builder: str) -> None:
    build, x, y = PROGRAMS[name]
    raw, names = _written({"ours": ours, "theirs": theirs}[builder], build)
    want = _losses(theirs, raw, names, x, y)
    found = _losses(ours, raw, names, x, y)
    np.testing.assert_allclose(found, want, rtol=TOLERANCE)
    assert want[-1] < 0.95 * want[0]  # it has learned something
