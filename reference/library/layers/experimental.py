"""`tf.layers.experimental`: how layers manage variables."""

from __future__ import annotations

from sessrun.reference.library.layers.base import keras_style_scope, set_keras_style

__all__ = ["keras_style_scope", "set_keras_style"]
