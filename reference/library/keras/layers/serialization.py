"""`tf.keras.layers.serialize` and `deserialize`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sessrun.reference as tf
from sessrun.reference.errors import bad_value
from sessrun.reference.library.keras.object_configs import (
    CustomObjects,
    Serialized,
    deserialized,
    serialized,
)

__all__ = ["deserialize", "serialize"]


def serialize(layer: Any, use_legacy_format: bool = False) -> Serialized:
    """The config of a layer, `{"class_name": ..., "config": ...}`.

    Args:
      layer: the layer.
      use_legacy_format: not used: graphs know this format only.

    """
    del use_legacy_format
    return serialized(layer)


def deserialize(
    config: Mapping[str, object],
    custom_objects: CustomObjects = None,
    use_legacy_format: bool = False,
) -> Any:
    """The layer with this config.

    Args:
      config: what `serialize` gave.
      custom_objects: classes by name, besides those of `tf.keras.layers`.
      use_legacy_format: not used: graphs know this format only.

    Raises:
      ValueError: `config` is not a config, or its class is not known.

    """
    del use_legacy_format
    if config is None:
        raise bad_value("Cannot deserialize empty config. Received: config=None")
    layers = tf.keras.layers
    known = {name: getattr(layers, name) for name in layers.__all__}
    classes = {name: value for name, value in known.items() if isinstance(value, type)}
    return deserialized(config, classes, "layer", custom_objects)
