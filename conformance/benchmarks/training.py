"""Training of the small network of `networks`, its weights on the device: steps of Adam.

The learning rate is so small that no weight changes, but no engine can know this beforehand. So the
loss of each step, and Adam's averages of the gradients after any number of steps, follow from
formulas.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from sessrun.adapters.peer import Peer
from sessrun.conformance.benchmarks import networks
from sessrun.conformance.benchmarks.jobs import Job, Prepared
from sessrun.conformance.benchmarks.resident import feed_variable
from sessrun.spec.cases.namespace import Namespace

__all__ = ["training"]

_RATE: Final = 1e-30
#: Adam's beta1: the share of the gradients' average that a step keeps.
_KEPT: Final = 0.9
#: How many images differ; a batch repeats them, so that its mean loss is theirs.
_DIFFERENT: Final = 32
#: Memory of a step for one image, about: values and gradients of all layers, and windows.
_IMAGE_BYTES: Final = 3 * 2**20
_WEIGHT_BYTES: Final = 16 * 2**20
#: Floating-point operations of a step for one image: forward, and twice as many backward, without
#: the gradient of the first convolution with respect to the images.
_IMAGE_FLOPS: Final = (
    3 * 2 * (784 * 25 * 32 + 196 * 800 * 64 + 3136 * 128 + 128 * 10) - 2 * 784 * 25 * 32
)


def training(kind: str) -> Callable[[int, int], Job]:
    """Return a function from a number of images per step to the job of training with it.

    Args:
      kind: `fed`, where each step is fed its images and the loss is fetched; `resident`, where the
        images stay on the device like the weights, and nothing is fetched.

    """

    def make(size: int, sets: int = 1) -> Job:  # noqa: ARG001 - as in `Job.resized`
        how = "fed" if kind == "fed" else "resident, too"
        return Job(
            f"cnn-adam-{kind}-{size}",
            f"a step of Adam of a small network with resident weights; {size:,} images, {how}",
            lambda tf, device: _prepare(tf, device, size, kind),
            flops=_IMAGE_FLOPS * size,
            dtype="float32",
            peer=lambda peer: _prepare_peer(peer, size, kind),
            held_bytes=_WEIGHT_BYTES + 4 * 28 * 28 * size,
            working_bytes=_IMAGE_BYTES * size,
            size=size,
            resized=make,
        )

    return make


@functools.cache
def _values() -> tuple[np.ndarray, list[np.ndarray]]:
    """The images that differ, and the weights."""
    draw = np.random.default_rng(1)
    weights = [
        draw.standard_normal(shape).astype(np.float32) * np.float32(0.05)
        for shape in networks.SHAPES
    ]
    return draw.random((_DIFFERENT, 28, 28, 1), np.float32), weights


def _batch(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels of a batch, which repeats the images that differ."""
    images, _ = _values()
    order = np.arange(size) % _DIFFERENT
    return images[order], order % 10  # int64: constants of int32 are uploaded in each run


def _loss(size: int, factor: float) -> float:
    """The loss of a batch in float64, all weights multiplied by a factor."""
    x, weights = (_batch(min(size, _DIFFERENT))[0].astype(np.float64), _values()[1])
    scaled = [factor * weight.astype(np.float64) for weight in weights]
    for filters, bias in (scaled[:2], scaled[2:4]):
        padded = np.pad(x, ((0, 0), (2, 2), (2, 2), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5), (1, 2))
        x = np.maximum(np.tensordot(windows, filters, ((4, 5, 3), (0, 1, 2))) + bias, 0)
        count, rows, columns, depth = x.shape
        x = x.reshape(count, rows // 2, 2, columns // 2, 2, depth).max((2, 4))
    x = np.maximum(x.reshape(len(x), -1) @ scaled[4] + scaled[5], 0)
    logits = x @ scaled[6] + scaled[7]
    logits -= logits.max(1, keepdims=True)
    chosen = logits[np.arange(len(x)), np.arange(len(x)) % 10]
    return float((np.log(np.exp(logits).sum(1)) - chosen).mean())


@functools.cache
def _expected(size: int) -> tuple[float, float]:
    """The loss, and its slope along the weights: the sum over weights of gradient times weight."""
    step = 1e-6
    slope = (_loss(size, 1 + step) - _loss(size, 1 - step)) / (2 * step)
    return _loss(size, 1.0), slope


def _check(size: int, calls: Sequence[int]) -> Callable[[Any], str | None]:
    """A check of [loss, sum of Adam's averages times the weights] after `calls[0]` steps."""
    loss, slope = _expected(min(size, _DIFFERENT))

    def check(got: Any) -> str | None:
        want = np.array([loss, slope * (1 - _KEPT ** calls[0])])
        if np.allclose(np.asarray(got, np.float64), want, 2e-3, 1e-3):
            return None
        return f"after {calls[0]} steps want loss and slope {want}, got {np.asarray(got)}"

    return check


def _prepare(tf: Namespace, device: str, size: int, kind: str) -> Prepared:
    images, labels = _batch(size)
    graph = tf.Graph()
    feeds: dict[Any, Any] = {}
    fed: dict[Any, Any] = {}
    with graph.as_default(), tf.device(device):
        weights = [
            feed_variable(tf, f"w{index}", value, "float32", feeds)
            for index, value in enumerate(_values()[1])
        ]
        if kind == "fed":
            batch = tf.placeholder(tf.float32, images.shape)
            fed = {batch: images}
        else:
            batch = feed_variable(tf, "images", images, "float32", feeds)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=networks.outputs(tf, batch, weights)
        )
        loss = tf.reduce_mean(losses)
        optimizer = tf.train.AdamOptimizer(_RATE)
        train = optimizer.minimize(loss, var_list=weights)
        slopes = [tf.reduce_sum(weight * optimizer.get_slot(weight, "m")) for weight in weights]
        checked = tf.stack([loss, tf.add_n(slopes)])
        initializer = tf.global_variables_initializer()
    session = tf.Session(graph=graph)
    session.run(initializer, feeds)
    fetch, run, calls = [loss, train] if kind == "fed" else train, session.run, [0]

    def call() -> None:
        calls[0] += 1
        run(fetch, fed)

    return Prepared(call, _check(size, calls), session.close, lambda: run(checked, fed))


def _prepare_peer(peer: Peer, size: int, kind: str) -> Prepared:
    images, labels = _batch(size)
    weights = _values()[1]
    network = peer.training(weights, labels, _RATE)
    batch = images if kind == "fed" else peer.put(images, "float32")
    calls, last = [0], [None]

    def call() -> None:
        calls[0] += 1
        last[0] = network.step(batch)
        if kind == "fed":
            peer.get(last[0])  # the loss is fetched, as by a session

    def checked() -> list[float]:
        averages = zip(network.momenta(), weights, strict=True)
        slope = sum(float((m * w.astype(np.float64)).sum()) for m, w in averages)
        return [float(peer.get(last[0])), slope]

    return Prepared(
        call, _check(size, calls), lambda: None, checked, settle=lambda: peer.settle(last[0])
    )
