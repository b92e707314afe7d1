"""`tf.layers`: dense layers, dropout, flattening; as classes, and as functions."""

from __future__ import annotations

from typing import Any

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.layers import core as keras_core
from sessrun.reference.library.keras.layers import reshaping as keras_reshaping
from sessrun.reference.library.layers.base import Layer
from sessrun.reference.library.layers.signatures import function_of, older_constructor

__all__ = ["Dense", "Dropout", "Flatten", "dense", "dropout", "flatten"]


class Dense(keras_core.Dense, Layer):
    """`tf.keras.layers.Dense` with variables of a variable scope.

    The matrix is initialized as the scope says, by default with Glorot's uniform numbers.
    """

    __init__ = older_constructor(
        keras_core.Dense, kernel_initializer=None, bias_initializer=tf.zeros_initializer()
    )


class Dropout(keras_core.Dropout, Layer):
    """`tf.keras.layers.Dropout`, which drops nothing unless the call says `training`.

    Args:
      rate: the share of elements that become 0.
      noise_shape: the shape of the random mask; None for a size of the inputs.
      seed: the operation's seed.
      name: the layer's name.
      **kwargs: as for Layer.

    """

    def __init__(
        self,
        rate: float | Tensor = 0.5,
        noise_shape: ShapeLike | None = None,
        seed: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(rate=rate, noise_shape=noise_shape, seed=seed, name=name, **kwargs)

    def call(self, inputs: Tensor, training: bool | Tensor | None = False) -> Tensor:
        """The inputs, of which a share is 0 if `training`."""
        return super().call(inputs, training=training)


class Flatten(keras_reshaping.Flatten, Layer):
    """`tf.keras.layers.Flatten` with a variable scope, though without variables."""


dense = function_of(Dense)


def dropout(
    inputs: TensorLike,
    rate: float = 0.5,
    noise_shape: ShapeLike | None = None,
    seed: int | None = None,
    training: bool | Tensor = False,
    name: str | None = None,
) -> Tensor:
    """The inputs, of which a share is 0 and the rest scaled up if `training`.

    Args:
      inputs: a tensor.
      rate: the share of elements that become 0.
      noise_shape: the shape of the random mask; None for a size of the inputs.
      seed: the operation's seed.
      training: a bool, or a bool scalar.
      name: the layer's name.

    """
    layer = Dropout(rate, noise_shape=noise_shape, seed=seed, name=name)
    return layer(inputs, training=training)


def flatten(
    inputs: TensorLike, name: str | None = None, data_format: str = "channels_last"
) -> Tensor:
    """The inputs with all axes but the first as one; channels last, wherever they are.

    Args:
      inputs: a tensor of rank 1 at least.
      name: the layer's name.
      data_format: `channels_last` or `channels_first`.

    """
    return Flatten(name=name, data_format=data_format)(inputs)
