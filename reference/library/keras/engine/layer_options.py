"""The keyword arguments that layers hand on to `Layer.__init__`, as types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.library.keras.object_configs import Identifier

__all__ = ["CommonOptions", "LayerOptions", "NamedOptions"]


class CommonOptions(TypedDict, total=False):
    """What every layer takes; classes that take `name` themselves leave it out."""

    autocast: bool
    batch_input_shape: Sequence[int | None]
    batch_size: int | None
    dtype: DTypeLike | None
    dynamic: bool
    input_dim: int | None
    input_shape: Sequence[int | None]
    trainable: bool
    weights: Sequence[np.ndarray] | None


class NamedOptions(CommonOptions, total=False):
    """The same with the layer's name, for classes that take `activity_regularizer` themselves."""

    name: str | None


class LayerOptions(NamedOptions, total=False):
    """Every keyword argument of a layer."""

    activity_regularizer: Identifier
