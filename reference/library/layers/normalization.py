"""`tf.layers.BatchNormalization`, and the function that makes and calls one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.layers import batch_normalization as keras_normalization
from sessrun.reference.library.keras.object_configs import Identifier
from sessrun.reference.library.layers.base import Layer
from sessrun.reference.library.layers.signatures import older_constructor

__all__ = ["BatchNormalization", "batch_normalization"]


class BatchNormalization(keras_normalization.BatchNormalization, Layer):
    """`tf.keras.layers.BatchNormalization` with variables of a variable scope.

    It trains if the call's `training` is set, and adds its updates to the collection of updates.
    """

    __init__ = older_constructor(
        keras_normalization.BatchNormalization,
        keep_places=True,
        beta_initializer=tf.zeros_initializer(),
        gamma_initializer=tf.ones_initializer(),
        moving_mean_initializer=tf.zeros_initializer(),
        moving_variance_initializer=tf.ones_initializer(),
    )

    def call(
        self, inputs: Tensor, training: bool | Tensor | None = False, mask: Tensor | None = None
    ) -> Tensor:
        """The inputs, normalized by their own moments if `training`."""
        return super().call(inputs, training=training, mask=mask)


def batch_normalization(
    inputs: TensorLike,
    axis: int = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Identifier = tf.zeros_initializer(),  # noqa: B008 - TensorFlow's signature; it has no state
    gamma_initializer: Identifier = tf.ones_initializer(),  # noqa: B008 - the same
    moving_mean_initializer: Identifier = tf.zeros_initializer(),  # noqa: B008 - the same
    moving_variance_initializer: Identifier = tf.ones_initializer(),  # noqa: B008 - the same
    beta_regularizer: Identifier = None,
    gamma_regularizer: Identifier = None,
    beta_constraint: Identifier = None,
    gamma_constraint: Identifier = None,
    training: bool | Tensor = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: bool | None = None,
    renorm: bool = False,
    renorm_clipping: Mapping[str, object] | None = None,
    renorm_momentum: float | Tensor = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Callable[[Tensor], tuple[Tensor, Tensor]] | None = None,
) -> Tensor:
    """Make a layer, `BatchNormalization`, and call it on `inputs`.

    Args are the constructor's, and `training`, that of the call; `reuse` shares variables.
    """
    given = dict(locals())
    inputs, training, reuse = (given.pop(key) for key in ("inputs", "training", "reuse"))
    layer: Any = BatchNormalization(**given, _reuse=reuse, _scope=name)
    return layer(inputs, training=training)
