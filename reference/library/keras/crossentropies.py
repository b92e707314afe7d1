"""Cross entropies of `tf.keras.backend`, of probabilities or of logits. Source: tf_keras 2.21."""

from __future__ import annotations

from typing import Any

import sessrun.reference as tf
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.settings import epsilon

__all__ = [
    "binary_crossentropy",
    "binary_focal_crossentropy",
    "categorical_crossentropy",
    "categorical_focal_crossentropy",
    "cut",
    "logits_of",
    "sparse_categorical_crossentropy",
]


def logits_of(output: Tensor, from_logits: bool, maker: str) -> tuple[Tensor, bool]:
    """The logits below an activation, or the output itself; and whether these are logits."""
    if not from_logits and tf.is_tensor(output) and output.op.type == maker:
        return output.op.inputs[0], True
    return output, from_logits


def cut(output: Tensor) -> Tensor:
    """Probabilities clipped to [epsilon, 1 - epsilon]."""
    least = tf.constant(epsilon(), dtype=output.dtype.base_dtype)
    return tf.clip_by_value(output, least, 1.0 - least)


def binary_crossentropy(target: Tensor, output: Tensor, from_logits: bool = False) -> Tensor:
    """The binary cross entropy of each element.

    Args:
      target: the true values, 0 to 1.
      output: probabilities, or logits.
      from_logits: whether it is logits; a sigmoid's result is taken as its logits anyhow.

    """
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    output, from_logits = logits_of(output, from_logits, "Sigmoid")
    if from_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=output)
    output = cut(output)
    likely = target * tf.math.log(output + epsilon())
    likely += (1 - target) * tf.math.log(1 - output + epsilon())
    return -likely


def categorical_crossentropy(
    target: Tensor, output: Tensor, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """The cross entropy of the distributions along an axis.

    Args:
      target: the true distributions.
      output: probabilities, which are scaled to the sum 1, or logits.
      from_logits: whether it is logits; a softmax's result is taken as its logits anyhow.
      axis: the axis of the classes.

    Raises:
      ValueError: the shapes are not compatible.

    """
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    target.shape.assert_is_compatible_with(output.shape)
    output, from_logits = logits_of(output, from_logits, "Softmax")
    if from_logits:
        return tf.nn.softmax_cross_entropy_with_logits_v2(labels=target, logits=output, axis=axis)
    output = cut(output / tf.reduce_sum(output, axis, True))
    return -tf.reduce_sum(target * tf.math.log(output), axis)


def sparse_categorical_crossentropy(
    target: Tensor,
    output: Any,
    from_logits: bool = False,
    axis: int = -1,
    ignore_class: int | None = None,
) -> Tensor:
    """The cross entropy along an axis, with targets as class indices.

    Args:
      target: the numbers, of the outputs' shape without the axis, or with it of size 1.
      output: probabilities, or logits.
      from_logits: whether it is logits; a softmax's result is taken as its logits anyhow.
      axis: the axis of the classes.
      ignore_class: the number of a class where nothing is compared: the result is 0 there.

    Raises:
      ValueError: the rank is not known, and the axis is not the last.

    """
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    target = tf.cast(target, "int64")
    output, from_logits = logits_of(output, from_logits, "Softmax")
    if not from_logits:
        output = tf.math.log(cut(output))
    rank, labels_rank = output.shape.rank, target.shape.rank
    if rank is None and axis != -1:
        raise bad_value(
            f"Cannot compute sparse categorical crossentropy with `axis={axis}` on an output "
            "tensor with unknown rank"
        )
    if rank is not None and axis % rank != rank - 1:
        others = [one for one in range(rank) if one != axis % rank]
        output = tf.transpose(output, perm=[*others, axis % rank])
    shape = tf.shape(output)
    is_flat = labels_rank is not None and rank is not None and labels_rank != rank - 1
    if is_flat:
        target, output = tf.reshape(target, [-1]), tf.reshape(output, [-1, shape[-1]])
    counts = None
    if ignore_class is not None:
        counts = tf.not_equal(target, tf.cast(ignore_class, target.dtype))
        target, output = target[counts], output[counts]
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=output)
    if counts is not None:
        sizes = tf.cast(shape[:-1], "int64")
        counts = tf.reshape(counts, sizes)
        losses = tf.scatter_nd(tf.where_v2(counts), losses, sizes)
        losses._keras_mask = counts  # noqa: SLF001 - the name by which Keras finds it
        return losses
    return tf.reshape(losses, shape[:-1]) if is_flat and rank >= 3 else losses


def binary_focal_crossentropy(
    target: Tensor,
    output: Tensor,
    apply_class_balancing: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
) -> Tensor:
    """The binary focal cross entropy: well predicted elements weigh less."""
    likely = tf.nn.sigmoid(output) if from_logits else output
    right = target * likely + (1 - target) * (1 - likely)
    factor = tf.pow(1.0 - right, gamma)
    losses = factor * binary_crossentropy(target, output, from_logits)
    if apply_class_balancing:
        losses = (target * alpha + (1 - target) * (1 - alpha)) * losses
    return losses


def categorical_focal_crossentropy(
    target: Tensor,
    output: Tensor,
    alpha: float = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    axis: int = -1,
) -> Tensor:
    """The focal cross entropy along an axis: well predicted classes weigh less."""
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    target.shape.assert_is_compatible_with(output.shape)
    output, from_logits = logits_of(output, from_logits, "Softmax")
    if from_logits:
        output = tf.nn.softmax(output, axis=axis)
    output = cut(output / tf.reduce_sum(output, axis, True))
    losses = -target * tf.math.log(output)
    factor = tf.multiply(tf.pow(1.0 - output, gamma), alpha)
    return tf.reduce_sum(tf.multiply(factor, losses), axis)
