"""`tf.layers`: layers whose variables are those of variable scopes; as classes and functions.

Source: tf_keras 2.21 (`legacy_tf_layers`), which is `tf.layers` of `tensorflow.compat.v1`.
"""

from __future__ import annotations

from sessrun.reference.keras.engine.input_spec import InputSpec
from sessrun.reference.layers import experimental
from sessrun.reference.layers.base import Layer
from sessrun.reference.layers.core import Dense, Dropout, Flatten, dense, dropout, flatten
from sessrun.reference.layers.normalization import BatchNormalization, batch_normalization

__all__ = [
    "BatchNormalization", "Dense", "Dropout", "Flatten", "InputSpec", "Layer",
    "batch_normalization", "dense", "dropout", "experimental", "flatten",
]  # fmt: skip
