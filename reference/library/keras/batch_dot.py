"""`tf.keras.backend.batch_dot`: products of the examples of two batches. Source: tf_keras 2.21."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sessrun.reference as tf
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor

__all__ = ["batch_dot"]


def batch_dot(x: Any, y: Any, axes: int | Sequence[int] | None = None) -> Tensor:
    """The dot products along one axis of `x` and one of `y`, example by example.

    Args:
      x: of shape [batch, ...], of rank 2 or more.
      y: the same.
      axes: the axis of each, or one for both; by default the last of `x`, and the last but one of
        `y`, or its last if its rank is 2.

    Returns:
      The other axes of `x`, then those of `y` but for the batch; at least one.

    Raises:
      ValueError: a rank is too small, the axis is that of the batch, or sizes differ.

    """
    shapes = x.shape.as_list(), y.shape.as_list()
    first, second = _checked(shapes, axes)
    ranks = [len(shape) for shape in shapes]
    if ranks[0] == 2:
        x, first = tf.expand_dims(x, 1), first + 1
    if ranks[1] == 2:
        y = tf.expand_dims(y, 2)
    x, y = _turned(x, first, -1), _turned(y, second, 1)
    middle = trailing = None
    if x.shape.rank > 3:
        sizes = tf.shape(x)
        middle = sizes[1:-1]
        x = tf.reshape(x, tf.stack([sizes[0], -1, sizes[-1]]))
    if y.shape.rank > 3:
        sizes = tf.shape(y)
        trailing = sizes[2:]
        y = tf.reshape(y, tf.stack([sizes[0], sizes[1], -1]))
    result = tf.matmul(x, y)
    sizes = tf.shape(result)
    if middle is not None:
        sizes = tf.concat([sizes[:1], middle, sizes[-1:]], 0)
    if trailing is not None:
        sizes = tf.concat([sizes[:-1], trailing], 0)
    if middle is not None or trailing is not None:
        result = tf.reshape(result, sizes)
    if ranks[0] == 2:
        return tf.squeeze(result, 1)
    return tf.squeeze(result, -1) if ranks[1] == 2 else result


def _turned(value: Any, axis: int, position: int) -> Tensor | Variable:
    """Move an axis to a position; the other axes keep their order."""
    position %= value.shape.rank
    if axis == position:
        return value
    order = [one for one in range(value.shape.rank) if one != axis]
    order.insert(position, axis)
    return tf.transpose(value, order)


def _checked(
    shapes: tuple[list[int | None], list[int | None]], axes: int | Sequence[int] | None
) -> tuple[int, int]:
    """The validated axes of `x` and `y`, counted from the front."""
    ranks = [len(shape) for shape in shapes]
    received = f"Received inputs with shapes {shapes[0]} and {shapes[1]}, axes={axes}."
    if min(ranks) < 2:
        raise bad_value(f"Cannot do batch_dot on inputs with rank < 2. {received}")
    batches = {shape[0] for shape in shapes} - {None}
    if len(batches) > 1:
        raise bad_value(f"Cannot do batch_dot on inputs with different batch sizes. {received}")
    if axes is None:
        axes = [ranks[0] - 1, ranks[1] - (1 if ranks[1] == 2 else 2)]
    chosen = [axes, axes] if isinstance(axes, int) else list(axes)
    if any(isinstance(axis, list | tuple) for axis in chosen):
        raise bad_value(f"Multiple target dimensions are not supported. {received}")
    first, second = (
        axis + rank if axis < 0 else axis for axis, rank in zip(chosen, ranks, strict=True)
    )
    if 0 in {first, second}:
        raise bad_value(f"Cannot perform batch_dot over axis 0. {received}")
    if len({shapes[0][first], shapes[1][second]} - {None}) > 1:
        raise bad_value(f"Cannot do batch_dot on inputs with these sizes. {received}")
    return first, second
