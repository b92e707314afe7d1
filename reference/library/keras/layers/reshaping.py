"""Flatten, Reshape, Permute and RepeatVector.

Source: tf_keras 2.21 in graph mode, whose graphs they make node for node.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Unpack

import sessrun.reference as tf
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.input_spec import InputSpec
from sessrun.reference.library.keras.engine.layer_options import LayerOptions
from sessrun.reference.library.keras.layers.window_arguments import normalized_format

__all__ = ["Flatten", "Permute", "RepeatVector", "Reshape"]


class Flatten(Layer):
    """Flattens all axes but the batch.

    Args:
      data_format: where channels are; they become the innermost.
      **kwargs: as for Layer.

    """

    _options = ("data_format",)

    def __init__(self, data_format: str | None = None, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.data_format = normalized_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Tensor) -> Tensor:
        """A matrix."""
        rank = inputs.shape.rank
        if self.data_format == "channels_first" and rank and rank > 1:
            inputs = tf.transpose(inputs, perm=[0, *range(2, rank), 1])
        if rank == 1:
            return tf.expand_dims(inputs, axis=1)
        batch, rest = tf.dimension_value(inputs.shape[0]), inputs.shape[1:]
        if rest.is_fully_defined():
            return tf.reshape(inputs, tf.constant([-1, rest.num_elements()]))
        if batch is not None:
            return tf.reshape(inputs, tf.constant([batch, -1]))
        return tf.reshape(inputs, [tf.shape(inputs)[0], -1])

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The batch, and the product of the other sizes."""
        sizes = tf.TensorShape(input_shape).as_list()
        first = [sizes[0]] if sizes else [1]
        rest = None if None in sizes[1:] or 0 in sizes[1:] else math.prod(sizes[1:])
        return tf.TensorShape([*first, rest])


class Reshape(Layer):
    """Reshapes each example.

    Args:
      target_shape: its shape, of which one size may be -1.
      **kwargs: as for Layer.

    """

    _options = ("target_shape",)

    def __init__(self, target_shape: Sequence[int], **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def call(self, inputs: Tensor) -> Tensor:
        """The inputs in the new shape."""
        result = tf.reshape(inputs, (tf.shape(inputs)[0], *self.target_shape))
        result.set_shape(self.compute_output_shape(inputs.shape))
        return result

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The batch and the new shape.

        Raises:
          ValueError: more than one size is free, or the counts of elements differ.

        """
        sizes = tf.TensorShape(input_shape).as_list()
        target = list(self.target_shape)
        if None in sizes[1:]:
            return tf.TensorShape([sizes[0], *(None if n == -1 else n for n in target)])
        free = [axis for axis, size in enumerate(target) if size < 0]
        if len(free) > 1:
            raise bad_value(
                "There must be at most one unknown dimension in output_shape. Received: "
                f"output_shape={target}."
            )
        count, known = math.prod(sizes[1:]), math.prod(n for n in target if n >= 0)
        if known != count and not (free and known and count % known == 0):
            raise bad_value(
                f"total size of new array must be unchanged, input_shape = {sizes[1:]}, "
                f"output_shape = {target}"
            )
        for axis in free:
            target[axis] = count // known
        return tf.TensorShape([sizes[0], *target])


class Permute(Layer):
    """Permutes the axes of each example.

    Args:
      dims: the order, of axes counted from 1.
      **kwargs: as for Layer.

    Raises:
      ValueError: `dims` is not a permutation of 1 to n.

    """

    _options = ("dims",)

    def __init__(self, dims: Sequence[int], **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise bad_value(
                "Invalid permutation argument `dims` for Permute Layer. The set of indices in "
                f"`dims` must be consecutive and start from 1. Received dims={dims}"
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: Tensor) -> Tensor:
        """The inputs with their axes in the new order."""
        return tf.transpose(inputs, perm=(0, *self.dims))

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The sizes in the new order."""
        sizes = tf.TensorShape(input_shape).as_list()
        return tf.TensorShape([sizes[0], *(sizes[axis] for axis in self.dims)])


class RepeatVector(Layer):
    """Repeats each vector `n` times.

    Args:
      n: how often.
      **kwargs: as for Layer.

    Raises:
      TypeError: `n` is not an integer.

    """

    _options = ("n",)

    def __init__(self, n: int, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.n = n
        if not isinstance(n, int):
            raise bad_type(f"Expected an integer value for `n`, got {type(n)}.")
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs: Tensor) -> Tensor:
        """The vectors, `n` times each."""
        return tf.tile(tf.expand_dims(inputs, 1), tf.stack([1, self.n, 1]))

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The batch, `n`, and the size of a vector."""
        sizes = tf.TensorShape(input_shape).as_list()
        return tf.TensorShape([sizes[0], self.n, sizes[1]])
