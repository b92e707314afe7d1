"""Activations that have arguments or variables, as layers.

Source: tf_keras 2.21 in graph mode, whose graphs they make node for node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import activations
from sessrun.reference.library.keras.engine.base_layer import Layer
from sessrun.reference.library.keras.engine.input_spec import InputSpec
from sessrun.reference.library.keras.engine.layer_options import LayerOptions
from sessrun.reference.library.keras.object_configs import Config, Identifier
from sessrun.reference.library.keras.settings import float_array

__all__ = ["ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax", "ThresholdedReLU"]


class Elementwise(Layer):
    """The base of layers whose outputs have the shape of their inputs."""

    def __init__(self, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The inputs' shape, as a TensorShape."""
        return tf.TensorShape(input_shape)


def _number(value: float | None, name: str, *, is_positive: bool = True) -> Any:
    """A number as an array of the default dtype.

    Raises:
      ValueError: the number is None, or negative where `is_positive`.

    """
    if value is None or (is_positive and value < 0):
        raise bad_value(f"{name} must be a number, of 0 or more. Received: {value}")
    return float_array(value)


class LeakyReLU(Elementwise):
    """X, or alpha * x where x is negative.

    Args:
      alpha: the slope there.
      **kwargs: as for Layer.

    Raises:
      ValueError: `alpha` is None.

    """

    def __init__(self, alpha: float = 0.3, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.alpha = _number(alpha, "alpha", is_positive=False)

    def call(self, inputs: TensorLike) -> Tensor:
        """The function's value."""
        return activations.relu(inputs, alpha=self.alpha)

    def get_config(self) -> Config:
        """The arguments of the constructor."""
        return {**super().get_config(), "alpha": float(self.alpha)}


class ELU(Elementwise):
    """X, or alpha * (exp(x) - 1) where x is negative.

    Args:
      alpha: the factor there.
      **kwargs: as for Layer.

    Raises:
      ValueError: `alpha` is None.

    """

    def __init__(self, alpha: float = 1.0, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.alpha = _number(alpha, "alpha", is_positive=False)

    def call(self, inputs: TensorLike) -> Tensor:
        """The function's value."""
        return activations.elu(inputs, self.alpha)

    def get_config(self) -> Config:
        """The arguments of the constructor."""
        return {**super().get_config(), "alpha": float(self.alpha)}


class ThresholdedReLU(Elementwise):
    """X where it is more than theta, else 0.

    Args:
      theta: the threshold.
      **kwargs: as for Layer.

    Raises:
      ValueError: `theta` is None or negative.

    """

    def __init__(self, theta: float = 1.0, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.theta = _number(theta, "theta")

    def call(self, inputs: TensorLike) -> Tensor:
        """The function's value."""
        return inputs * tf.cast(tf.greater(inputs, self.theta), self.compute_dtype)

    def get_config(self) -> Config:
        """The arguments of the constructor."""
        return {**super().get_config(), "theta": float(self.theta)}


class ReLU(Elementwise):
    """max(x, 0), with a slope below `threshold` and cut off at `max_value`.

    Args:
      max_value: the largest value, if any.
      negative_slope: the slope below the threshold.
      threshold: where x begins to count.
      **kwargs: as for Layer.

    Raises:
      ValueError: an argument is negative, or None where it must not be.

    """

    _options = ("max_value", "negative_slope", "threshold")

    def __init__(
        self,
        max_value: float | None = None,
        negative_slope: float = 0.0,
        threshold: float = 0.0,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.max_value = None if max_value is None else _number(max_value, "max_value")
        self.negative_slope = _number(negative_slope, "negative_slope")
        self.threshold = _number(threshold, "threshold")

    def call(self, inputs: TensorLike) -> Tensor:
        """The function's value."""
        return activations.relu(
            inputs, alpha=self.negative_slope, max_value=self.max_value, threshold=self.threshold
        )


class PReLU(Elementwise):
    """X, or alpha * x where x is negative; `alpha` is trained, one for each element of an example.

    Args:
      alpha_initializer: makes the first slopes.
      alpha_regularizer: a loss of them.
      alpha_constraint: what becomes of them after an update.
      shared_axes: axes along which the slope is the same.
      **kwargs: as for Layer.

    """

    _options = ("alpha_initializer", "alpha_regularizer", "alpha_constraint", "shared_axes")

    def __init__(
        self,
        alpha_initializer: Identifier = "zeros",
        alpha_regularizer: Identifier = None,
        alpha_constraint: Identifier = None,
        shared_axes: int | Sequence[int] | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self._set_rules("alpha", alpha_initializer, alpha_regularizer, alpha_constraint)
        if shared_axes is None or isinstance(shared_axes, list | tuple):
            self.shared_axes = None if shared_axes is None else list(shared_axes)
        else:
            self.shared_axes = [shared_axes]

    def build(self, input_shape: ShapeLike) -> None:
        """Make `alpha`."""
        sizes = tf.TensorShape(input_shape).as_list()
        shared = self.shared_axes or []
        slopes = sizes[1:]
        for axis in shared:
            slopes[axis - 1] = 1
        self.alpha = self._add_by_rules("alpha", slopes)
        own = {n: size for n, size in enumerate(sizes) if n > 0 and n not in shared}
        self.input_spec = InputSpec(ndim=len(sizes), axes=own if shared else {})
        super().build(input_shape)

    def call(self, inputs: Tensor) -> Tensor:
        """The function's value."""
        above = activations.relu(inputs)
        return above + -self.alpha * activations.relu(-inputs)


class Softmax(Elementwise):
    """exp(x) / sum(exp(x)), the sum taken along one axis or several.

    Args:
      axis: the axis, or a list of several.
      robust_masking: whether masked logits are replaced by a large negative number, not lowered.
      **kwargs: as for Layer.

    """

    _options = ("axis",)

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        robust_masking: bool = False,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.axis = axis
        self.robust_masking = robust_masking

    def call(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor:
        """The softmax; masked elements get a weight near 0."""
        if mask is not None:
            least = tf.float16.min / 2.0 if inputs.dtype == tf.float16 else -1e9
            if self.robust_masking:
                seen = mask if mask.dtype == tf.bool else tf.greater(mask, 0.5)
                inputs = tf.where_v2(seen, inputs, least)
            else:
                inputs += (1.0 - tf.cast(mask, inputs.dtype)) * least
        if isinstance(self.axis, list | tuple):
            if len(self.axis) > 1:
                total = tf.reduce_logsumexp(inputs, axis=self.axis, keepdims=True)
                return tf.exp(inputs - total)
            return activations.softmax(inputs, axis=self.axis[0])
        return activations.softmax(inputs, axis=self.axis)

    def get_config(self) -> Config:
        """The arguments of the constructor."""
        rarer = {"robust_masking": True} if self.robust_masking else {}
        return {**super().get_config(), **rarer}
