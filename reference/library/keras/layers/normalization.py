"""`LayerNormalization`, and checks of arguments shared by normalization layers.

Source: tf_keras 2.21 in graph mode, whose graphs they make node for node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import sessrun.reference as tf
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.layer_options import LayerOptions
from sessrun.reference.library.keras.object_configs import Identifier

__all__ = ["LayerNormalization", "axes_argument", "filled_like", "known_axes"]


def axes_argument(axis: int | Sequence[int]) -> Any:
    """The axis argument: an int, or a copied list of ints.

    Raises:
      TypeError: `axis` is neither an int nor a list or tuple.

    """
    if isinstance(axis, list | tuple):
        return list(axis)
    if isinstance(axis, int):
        return axis
    raise bad_type(
        f"Expected an int or a list/tuple of ints for the argument 'axis', but received: {axis!r}"
    )


def known_axes(axis: int | Sequence[int], shape: ShapeLike) -> list[int]:
    """The validated axes, counted from 0.

    Raises:
      ValueError: the rank is not known, an axis is beyond it, or one stands there twice.

    """
    rank = tf.TensorShape(shape).rank
    if not rank:
        raise bad_value(f"Input has undefined rank. Received: input_shape={shape}")
    axes = [n + rank if n < 0 else n for n in ([axis] if isinstance(axis, int) else axis)]
    if any(not 0 <= n < rank for n in axes):
        raise bad_value(
            "Invalid value for `axis` argument. Expected 0 <= axis < inputs.rank (with "
            f"inputs.rank={rank}). Received: axis={tuple(axes)}"
        )
    if len(set(axes)) != len(axes):
        raise bad_value(f"Duplicate axis: {tuple(axes)}")
    return axes


def filled_like(x: Tensor, value: int) -> Tensor:
    """A tensor's shape filled with a value; a constant if the shape is known."""
    name = "ones_like" if value else "zeros_like"
    if x.shape.is_fully_defined():
        make = tf.ones if value else tf.zeros
        return make(x.shape.as_list(), dtype=x.dtype, name=name)
    return (tf.raw_ops.OnesLike if value else tf.raw_ops.ZerosLike)(x=x, name=name)


class LayerNormalization(Layer):
    """Each example normalized over axes, then scaled and shifted.

    Args:
      axis: an axis, or several.
      epsilon: is added to the variance.
      center: whether `beta` is added.
      scale: whether it is multiplied by `gamma`.
      beta_initializer: makes the first values of `beta`.
      gamma_initializer: the initializer of `gamma`.
      beta_regularizer: a loss of `beta`.
      gamma_regularizer: a loss of `gamma`.
      beta_constraint: what becomes of `beta` after an update.
      gamma_constraint: what becomes of `gamma`.
      **kwargs: as for Layer.

    Raises:
      TypeError: `axis` is neither an int nor a list.

    """

    _options: tuple[str, ...] = (
        "axis",
        "epsilon",
        "center",
        "scale",
        "beta_initializer",
        "gamma_initializer",
        "beta_regularizer",
        "gamma_regularizer",
        "beta_constraint",
        "gamma_constraint",
    )

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Identifier = "zeros",
        gamma_initializer: Identifier = "ones",
        beta_regularizer: Identifier = None,
        gamma_regularizer: Identifier = None,
        beta_constraint: Identifier = None,
        gamma_constraint: Identifier = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.axis = axes_argument(axis)
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self._set_rules("beta", beta_initializer, beta_regularizer, beta_constraint)
        self._set_rules("gamma", gamma_initializer, gamma_regularizer, gamma_constraint)
        self.supports_masking = True
        self._fused = False

    def build(self, input_shape: ShapeLike) -> None:
        """Make `gamma` and `beta`, of the sizes of the axes."""
        shape = tf.TensorShape(input_shape)
        self.axis = known_axes(self.axis, shape)
        sizes = [shape[axis] for axis in self.axis]
        self.gamma = self._add_by_rules("gamma", sizes) if self.scale else None
        self.beta = self._add_by_rules("beta", sizes) if self.center else None
        self._fused = self._fused_can_be_used(shape.rank)
        super().build(input_shape)

    def _fused_can_be_used(self, rank: int) -> bool:
        """Whether the axes are the last ones, and the operation for batches is exact enough."""
        axes = sorted(self.axis)
        are_last = axes == list(range(rank - len(axes), rank))
        return are_last and self.epsilon >= 1.001e-5 and self.dtype == "float32"

    def call(self, inputs: Tensor) -> Tensor:
        """The inputs, normalized."""
        inputs = tf.cast(inputs, self.compute_dtype)
        outputs = self._by_fused(inputs) if self._fused else self._by_moments(inputs)
        outputs.set_shape(inputs.shape)
        return outputs

    def _along_axes(self, vector: Variable | None, shape: Any) -> Any:
        """Reshape a variable so that it broadcasts over the inputs."""
        rank = shape.rank
        if vector is None or len(vector.shape) == rank or self.axis == [rank - 1]:
            return vector
        sizes = [shape.as_list()[axis] if axis in self.axis else 1 for axis in range(rank)]
        return tf.reshape(vector, sizes)

    def _by_moments(self, inputs: Tensor) -> Tensor:
        mean, variance = tf.nn.moments(inputs, self.axis, keep_dims=True)
        scale, offset = (self._along_axes(v, inputs.shape) for v in (self.gamma, self.beta))
        outputs = tf.nn.batch_normalization(
            inputs, mean, variance, offset=offset, scale=scale, variance_epsilon=self.epsilon
        )
        return tf.cast(outputs, inputs.dtype)

    def _by_fused(self, inputs: Tensor) -> Tensor:
        """Normalize by FusedBatchNorm, with the examples as channels of one image."""
        first = min(self.axis)
        sizes = tf.shape(inputs)
        before, inside = tf.reduce_prod(sizes[:first]), tf.reduce_prod(sizes[first:])
        image = tf.reshape(inputs, [1, before, inside, 1])
        scale = tf.ones([before], dtype=self.dtype)
        offset = tf.zeros([before], dtype=self.dtype)
        outputs, _, _ = tf.nn.fused_batch_norm(
            image, scale=scale, offset=offset, epsilon=self.epsilon, data_format="NCHW"
        )
        outputs = tf.reshape(outputs, sizes)
        gamma, beta = (self._along_axes(v, inputs.shape) for v in (self.gamma, self.beta))
        if gamma is not None:
            outputs = outputs * tf.cast(gamma, outputs.dtype)
        if beta is not None:
            outputs = outputs + tf.cast(beta, outputs.dtype)
        return outputs

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        """The inputs' shape."""
        return input_shape
