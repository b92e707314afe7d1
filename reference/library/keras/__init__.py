"""`tf.keras` in graph mode: layers and the functions and objects that they use; no models.

Source: tf_keras 2.21 beside `tensorflow.compat.v1`.
"""

from __future__ import annotations

from sessrun.reference.library.keras import (
    activations,
    backend,
    constraints,
    initializers,
    layers,
    metrics,
    regularizers,
)

__all__ = [
    "activations",
    "backend",
    "constraints",
    "initializers",
    "layers",
    "metrics",
    "regularizers",
]
