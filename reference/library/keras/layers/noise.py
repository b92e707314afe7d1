"""Noise layers, spatial dropout and activity regularization.

Source: tf_keras 2.21 in graph mode, whose graphs they make node for node.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, Unpack

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import regularizers
from sessrun.reference.library.keras.engine.base_layer import Layer, RandomLayer
from sessrun.reference.library.keras.engine.input_spec import InputSpec
from sessrun.reference.library.keras.engine.layer_options import LayerOptions
from sessrun.reference.library.keras.layers.core import Dropout
from sessrun.reference.library.keras.layers.window_arguments import normalized_format
from sessrun.reference.library.keras.learning_phases import in_train_phase

__all__ = [
    "ActivityRegularization",
    "AlphaDropout",
    "GaussianDropout",
    "GaussianNoise",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
]

#: The value and the slope of SELU where x is very small.
_SELU_ALPHA: Final = 1.6732632423543772848170429916717
_SELU_SCALE: Final = 1.0507009873554804934193349852946


class Noise(RandomLayer):
    """Base class of noise layers; outputs have the inputs' shape."""

    def __init__(self, seed: int | None = None, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(seed=seed, **kwargs)
        self.seed = seed
        self.supports_masking = True

    def _normal(self, inputs: Tensor, mean: float, deviation: float) -> Tensor:
        return tf.random_normal(
            shape=tf.shape(inputs),
            mean=mean,
            stddev=deviation,
            dtype=inputs.dtype,
            seed=self._seed_of_operation(),
        )

    def _while_training(
        self, disturb: Callable[[], Tensor], inputs: Tensor, training: bool | Tensor | None
    ) -> Structure:
        return in_train_phase(disturb, inputs, training=training)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The inputs' shape, as a TensorShape."""
        return tf.TensorShape(input_shape)


class GaussianNoise(Noise):
    """In training, adds normal noise.

    Args:
      stddev: their deviation.
      seed: the operation's seed.
      **kwargs: as for Layer.

    """

    _options = ("stddev", "seed")

    def __init__(
        self, stddev: float, seed: int | None = None, **kwargs: Unpack[LayerOptions]
    ) -> None:
        super().__init__(seed=seed, **kwargs)
        self.stddev = stddev

    def call(self, inputs: Tensor, training: bool | Tensor | None = None) -> Structure:
        """The inputs, with noise if `training`."""
        return self._while_training(
            lambda: inputs + self._normal(inputs, 0.0, self.stddev), inputs, training
        )


class GaussianDropout(Noise):
    """In training, multiplies by normal noise of mean 1.

    Args:
      rate: the share of Dropout that has this variance.
      seed: the operation's seed.
      **kwargs: as for Layer.

    """

    _options = ("rate", "seed")

    def __init__(
        self, rate: float | Tensor, seed: int | None = None, **kwargs: Unpack[LayerOptions]
    ) -> None:
        super().__init__(seed=seed, **kwargs)
        self.rate = rate

    def call(self, inputs: Tensor, training: bool | Tensor | None = None) -> Structure:
        """The inputs, with noise if `training`."""
        if not 0 < self.rate < 1:
            return inputs
        deviation = math.sqrt(self.rate / (1.0 - self.rate))
        return self._while_training(
            lambda: inputs * self._normal(inputs, 1.0, deviation), inputs, training
        )


class AlphaDropout(Noise):
    """In training, sets a share of elements to SELU's minimum; mean and variance are preserved.

    Args:
      rate: the share.
      noise_shape: the shape of the random mask; None for the shape of the inputs.
      seed: the operation's seed.
      **kwargs: as for Layer.

    """

    _options = ("rate", "seed")

    def __init__(
        self,
        rate: float | Tensor,
        noise_shape: ShapeLike | None = None,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(seed=seed, **kwargs)
        self.rate = rate
        self.noise_shape = noise_shape

    def call(self, inputs: Tensor, training: bool | Tensor | None = None) -> Structure:
        """The inputs, with noise if `training`."""
        if not 0.0 < self.rate < 1.0:
            return inputs
        shape = self.noise_shape or tf.shape(inputs)
        least, rate = -_SELU_ALPHA * _SELU_SCALE, self.rate

        def dropped() -> Tensor:
            drawn = tf.random_uniform(shape, minval=0.0, seed=self._seed_of_operation())
            kept = tf.cast(tf.greater_equal(drawn, rate), inputs.dtype)
            scale = ((1 - rate) * (1 + rate * least**2)) ** -0.5
            value = inputs * kept + least * (1 - kept)
            return scale * value + -scale * least * rate

        return self._while_training(dropped, inputs, training)


class SpatialDropout1D(Dropout):
    """Dropout of whole channels of sequences.

    Args:
      rate: the share of channels.
      **kwargs: as for Layer.

    """

    def __init__(self, rate: float | Tensor, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(rate, **kwargs)
        self.input_spec = InputSpec(ndim=3)

    def _get_noise_shape(self, inputs: Tensor) -> tuple[Tensor | int, ...]:
        sizes = tf.shape(inputs)
        return (sizes[0], 1, sizes[2])


class SpatialDropout2D(Dropout):
    """Dropout of whole channels of images.

    Args:
      rate: the share of channels.
      data_format: `channels_last` or `channels_first`.
      **kwargs: as for Layer.

    """

    _rank = 2

    def __init__(
        self, rate: float | Tensor, data_format: str | None = None, **kwargs: Unpack[LayerOptions]
    ) -> None:
        super().__init__(rate, **kwargs)
        self.data_format = normalized_format(data_format)
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def _get_noise_shape(self, inputs: Tensor) -> tuple[Tensor | int, ...]:
        sizes = tf.shape(inputs)
        ones = (1,) * self._rank
        if self.data_format == "channels_first":
            return (sizes[0], sizes[1], *ones)
        return (sizes[0], *ones, sizes[self._rank + 1])


class SpatialDropout3D(SpatialDropout2D):
    """Dropout of whole channels of volumes; the arguments are those of SpatialDropout2D."""

    _rank = 3


class ActivityRegularization(Layer):
    """Returns the inputs, and adds their L1 and L2 penalties to the losses.

    Args:
      l1: the factor of the sum of absolute values.
      l2: the factor of the sum of squares.
      **kwargs: as for Layer.

    """

    _options = ("l1", "l2")

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.supports_masking = True
        self.l1 = l1
        self.l2 = l2

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        """The inputs' shape."""
        return input_shape
