"""Train a small convolutional network on handwritten digits, on either backend.

    python docs/examples/digits.py
    python docs/examples/digits.py --backend tensorflow --epochs 20 --plot tensorflow.png

The digits are scikit-learn's (1797 images of 8 by 8, in the package itself); install it by
`pip install 'sessrun[examples]'`. The network is written for TensorFlow 1, and runs unchanged on
the reference and on TensorFlow.
"""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import Progress
from sklearn.datasets import load_digits

BATCH = 32
TESTED = 360


@dataclass(frozen=True)
class Digits:
    """Images `[n, 8, 8, 1]` between 0 and 1, and what digit each shows."""

    images: np.ndarray
    labels: np.ndarray

    def batches(self, chance: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All examples once, in a new order."""
        order = chance.permutation(len(self.labels))
        for first in range(0, len(order), BATCH):
            chosen = order[first : first + BATCH]
            yield self.images[chosen], self.labels[chosen]


@dataclass(frozen=True)
class Network:
    """The tensors and operations that a program feeds and fetches."""

    images: Any
    labels: Any
    training: Any
    loss: Any
    accuracy: Any
    train: Any


def namespace_of(backend: str) -> Any:
    """The namespace that programs of TensorFlow 1 call `tf`."""
    if backend == "reference":
        return importlib.import_module("sessrun.reference")
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # which has tf.layers
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    tf = importlib.import_module("tensorflow").compat.v1
    tf.disable_v2_behavior()
    return tf


def parted(count: int | None, seed: int) -> tuple[Digits, Digits]:
    """Digits to train with, at most `count`, and others to test with."""
    data = load_digits()
    order = np.random.default_rng(seed).permutation(len(data.target))
    images = (data.images[order, :, :, None] / 16.0).astype(np.float32)
    labels = data.target[order].astype(np.int32)
    last = None if count is None else TESTED + count
    known = Digits(images[TESTED:last], labels[TESTED:last])
    return known, Digits(images[:TESTED], labels[:TESTED])


def build(tf: Any) -> Network:
    """Two convolutions with normalization, one dense layer with dropout, and Adam."""
    images = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
    labels = tf.placeholder(tf.int32, [None], name="labels")
    training = tf.placeholder_with_default(False, [], name="training")
    hidden = tf.layers.conv2d(images, 16, 3, padding="same", use_bias=False)
    hidden = tf.nn.relu(tf.layers.batch_normalization(hidden, momentum=0.9, training=training))
    hidden = tf.layers.max_pooling2d(hidden, 2, 2)
    hidden = tf.layers.conv2d(hidden, 32, 3, padding="same", activation=tf.nn.relu)
    hidden = tf.layers.dense(tf.layers.flatten(hidden), 64, activation=tf.nn.relu)
    logits = tf.layers.dense(tf.layers.dropout(hidden, 0.3, training=training), 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    right = tf.equal(tf.argmax(logits, 1, output_type=tf.int32), labels)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.AdamOptimizer(0.002).minimize(loss)
    return Network(images, labels, training, loss, tf.reduce_mean(tf.cast(right, "float")), train)


def trained(
    tf: Any, options: argparse.Namespace, console: Console
) -> tuple[list[float], float]:
    """Train and test.

    Returns:
      The loss of each step, and the share of test images whose digit was found.

    """
    known, tests = parted(options.count, options.seed)
    chance = np.random.default_rng(options.seed)
    losses: list[float] = []
    with tf.Graph().as_default():
        tf.set_random_seed(options.seed)
        network = build(tf)
        tested = {network.images: tests.images, network.labels: tests.labels}
        with tf.Session() as session, Progress(console=console) as progress:
            session.run(tf.global_variables_initializer())
            task = progress.add_task("training", total=options.epochs)
            for epoch in range(options.epochs):
                for images, labels in known.batches(chance):
                    feeds = {network.images: images, network.labels: labels, network.training: True}
                    losses.append(session.run([network.loss, network.train], feeds)[0])
                accuracy = session.run(network.accuracy, tested)
                progress.console.print(
                    f"epoch {epoch + 1}: loss {losses[-1]:.3f}, test accuracy {accuracy:.1%}"
                )
                progress.advance(task)
            return [float(loss) for loss in losses], float(session.run(network.accuracy, tested))


def draw(losses: list[float], accuracy: float, backend: str, path: Path) -> None:
    """Write the curve of the loss as a picture."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(losses, linewidth=0.8)
    axes.set(xlabel="step", ylabel="loss", yscale="log",
             title=f"Digits on {backend}: {accuracy:.1%} of the test images right")  # fmt: skip
    axes.grid(alpha=0.3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Read the options, train, draw."""
    parser = argparse.ArgumentParser(description="Train a small network on handwritten digits.")
    parser.add_argument("--backend", choices=("reference", "tensorflow"), default="reference")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--count", type=int, help="train with so many images only")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", type=Path, default=Path("digits.png"))
    options = parser.parse_args()
    console = Console()
    losses, accuracy = trained(namespace_of(options.backend), options, console)
    draw(losses, accuracy, options.backend, options.plot)
    console.print(f"{accuracy:.1%} of the test images right; the losses are in {options.plot}")


if __name__ == "__main__":
    main()
