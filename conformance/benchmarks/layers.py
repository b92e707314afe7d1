"""Jobs of layers that are no convolutions: normalization, cross entropy, attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from sessrun.conformance.benchmarks.differentiated import Differentiated, job
from sessrun.spec.cases.namespace import Namespace

__all__ = ["LAYER_JOBS"]

#: The shape of the images that are normalized.
_IMAGES: Final = (32, 28, 28, 64)
_EPSILON: Final = 1e-3
#: Rows and classes of the cross entropy.
_ROWS, _CLASSES = 256, 1000
#: Sequences, heads, positions and depth of a head of the attention.
_HEADS: Final = (8, 8, 64, 64)
_DEPTH_SCALE: Final = _HEADS[-1] ** -0.5


def _normalized(tf: Namespace, arrays: Sequence[Any]) -> list[Any]:
    x, scale, offset = arrays
    return [tf.nn.fused_batch_norm(x, scale, offset, epsilon=_EPSILON)[0]]


def _normalized_values(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    x, scale, offset = arrays
    centred = x - x.mean((0, 1, 2))
    return [centred / np.sqrt((centred**2).mean((0, 1, 2)) + _EPSILON) * scale + offset]


def _labels() -> tuple[np.ndarray, np.ndarray]:
    """Class numbers, and rows of probabilities."""
    draw = np.random.default_rng(4)
    weights = draw.random((_ROWS, _CLASSES), np.float32)
    return draw.integers(0, _CLASSES, _ROWS), weights / weights.sum(1, keepdims=True)


def _entropies(tf: Namespace, arrays: Sequence[Any]) -> list[Any]:
    (logits,) = arrays
    numbers, probabilities = _labels()
    return [
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=numbers, logits=logits),
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=probabilities, logits=logits),
    ]


def _entropy_values(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    (logits,) = arrays
    numbers, probabilities = _labels()
    shifted = logits - logits.max(1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return [-logs[np.arange(_ROWS), numbers], -(probabilities * logs).sum(1)]


def _attention(tf: Namespace, arrays: Sequence[Any]) -> list[Any]:
    """Attention of arrays [sequences, heads, positions, depth], by products of matrices."""
    queries, keys, values = arrays
    scores = tf.matmul(queries, keys, transpose_b=True) * _DEPTH_SCALE
    return [tf.matmul(tf.nn.softmax(scores), values)]


def _attention_einsum(tf: Namespace, arrays: Sequence[Any]) -> list[Any]:
    """Attention of arrays [sequences, positions, heads, depth], as sums over named axes."""
    queries, keys, values = arrays
    scores = tf.einsum("bqhd,bkhd->bhqk", queries, keys) * _DEPTH_SCALE
    return [tf.einsum("bhqk,bkhd->bqhd", tf.nn.softmax(scores), values)]


def _attention_values(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    queries, keys, values = arrays
    scores = queries @ keys.swapaxes(2, 3) * _DEPTH_SCALE
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return [powers / powers.sum(-1, keepdims=True) @ values]


def _attention_einsum_values(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    (outputs,) = _attention_values([array.swapaxes(1, 2) for array in arrays])
    return [outputs.swapaxes(1, 2)]


_POSITIONS_FIRST: Final = (_HEADS[0], _HEADS[2], _HEADS[1], _HEADS[3])

LAYER_JOBS: Final = (
    job(
        "batch-norm",
        "batch normalization of 32 images of 28 by 28 by 64, and its gradients",
        Differentiated((_IMAGES, _IMAGES[3:], _IMAGES[3:]), 1.0, _normalized, _normalized_values),
    ),
    job(
        "cross-entropy",
        "softmax cross entropy of 256 rows of 1,000, with class numbers and with probabilities, "
        "and the gradient",
        Differentiated(((_ROWS, _CLASSES),), 1.0, _entropies, _entropy_values),
    ),
    job(
        "attention",
        "attention of 8 sequences of 64 positions, 8 heads of depth 64, and its gradients",
        Differentiated((_HEADS,) * 3, 1.0, _attention, _attention_values),
    ),
    job(
        "attention-einsum",
        "the same with einsum, on arrays whose heads come after the positions",
        Differentiated((_POSITIONS_FIRST,) * 3, 1.0, _attention_einsum, _attention_einsum_values),
    ),
)
