"""Cross entropies of `tf.keras.backend`, of probabilities or of logits. Source: tf_keras 2.21."""

from __future__ import annotations

from typing import Any

import sessrun.reference as tf
from sessrun.reference.errors import bad_value
from sessrun.reference.keras.settings import epsilon

__all__ = ["binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy"]


def _logits(output: Any, from_logits: bool, maker: str) -> tuple[Any, bool]:
    """What is to be compared, and whether it is logits: those that made it, if it shows them."""
    if not from_logits and tf.is_tensor(output) and output.op.type == maker:
        return output.op.inputs[0], True
    return output, from_logits


def _cut(output: Any) -> Any:
    """Probabilities, a little away from 0 and 1."""
    least = tf.constant(epsilon(), dtype=output.dtype.base_dtype)
    return tf.clip_by_value(output, least, 1.0 - least)


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """That of each element.

    Args:
      target: what is true, 0 to 1.
      output: probabilities, or logits.
      from_logits: whether it is logits; a sigmoid's result is taken as its logits anyhow.

    """
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    output, from_logits = _logits(output, from_logits, "Sigmoid")
    if from_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=output)
    output = _cut(output)
    likely = target * tf.math.log(output + epsilon())
    likely += (1 - target) * tf.math.log(1 - output + epsilon())
    return -likely


def categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """That of each distribution along an axis.

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
    output, from_logits = _logits(output, from_logits, "Softmax")
    if from_logits:
        return tf.nn.softmax_cross_entropy_with_logits_v2(labels=target, logits=output, axis=axis)
    output = _cut(output / tf.reduce_sum(output, axis, True))
    return -tf.reduce_sum(target * tf.math.log(output), axis)


def sparse_categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """As `categorical_crossentropy`, of the numbers of the true classes.

    Args:
      target: the numbers, of the outputs' shape without the axis, or with it of size 1.
      output: probabilities, or logits.
      from_logits: whether it is logits; a softmax's result is taken as its logits anyhow.
      axis: the axis of the classes.

    Raises:
      ValueError: the rank is not known, and the axis is not the last.

    """
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    target = tf.cast(target, "int64")
    output, from_logits = _logits(output, from_logits, "Softmax")
    if not from_logits:
        output = tf.math.log(_cut(output))
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
    found = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=output)
    return tf.reshape(found, shape[:-1]) if is_flat and rank >= 3 else found
