"""`tf.keras.layers`: functions of tensors that have variables. Source: tf_keras 2.21."""

from __future__ import annotations

from sessrun.reference.keras.engine.base_layer import Layer
from sessrun.reference.keras.engine.input_spec import InputSpec
from sessrun.reference.keras.layers.batch_normalization import BatchNormalization
from sessrun.reference.keras.layers.core import (
    Activation,
    Dense,
    Dropout,
    Embedding,
    Identity,
    Lambda,
    Masking,
)
from sessrun.reference.keras.layers.normalization import LayerNormalization
from sessrun.reference.keras.layers.reshaping import Flatten, Permute, RepeatVector, Reshape

__all__ = [
    "Activation", "BatchNormalization", "Dense", "Dropout", "Embedding", "Flatten", "Identity",
    "InputSpec", "Lambda", "Layer", "LayerNormalization", "Masking", "Permute", "RepeatVector",
    "Reshape",
]  # fmt: skip
