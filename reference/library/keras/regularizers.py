"""`tf.keras.regularizers`: penalties on variables or on outputs of layers (tf_keras 2.21)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Self

import numpy as np

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.object_configs import (
    Config,
    CustomObjects,
    Identifier,
    Serialized,
    TensorFunction,
    deserialized,
    interpreted,
    serialized,
)
from sessrun.reference.library.keras.settings import float_array

__all__ = [
    "L1",
    "L1L2",
    "L2",
    "Regularizer",
    "deserialize",
    "get",
    "l1",
    "l1_l2",
    "l2",
    "serialize",
]


def _penalty(value: object) -> np.ndarray:
    """A factor as an array of the default dtype.

    Raises:
      ValueError: the factor is not a finite number.

    """
    if not isinstance(value, float | int):
        raise bad_value(
            f"Value {value} is not a valid regularization penalty number, expected an int or float "
            "value."
        )
    if math.isinf(value) or math.isnan(value):
        raise bad_value(
            f"Value {value} is not a valid regularization penalty number, an infinite number or "
            "NaN are not valid values."
        )
    return float_array(value)


def _of_older(default: float | None, kwargs: dict[str, object]) -> object:
    """The factor; older programs give it as `l`."""
    value = kwargs.pop("l", default)
    if kwargs:
        raise TypeError(f"Argument(s) not recognized: {kwargs}")
    return 0.01 if value is None else value


class Regularizer:
    """Base class of regularizers: functions from a tensor to a scalar loss."""

    def __call__(self, x: Tensor) -> Tensor | float:
        """The loss."""
        del x
        return 0.0

    @classmethod
    def from_config(cls, config: Mapping[str, object]) -> Self:
        """The regularizer with this config."""
        return cls(**config)

    def get_config(self) -> Config:
        """The arguments of the constructor."""
        raise NotImplementedError(f"{self} does not implement get_config()")


class L1L2(Regularizer):
    """l1 * sum|x| + l2 * sum x²."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1 = _penalty(0.0 if l1 is None else l1)
        self.l2 = _penalty(0.0 if l2 is None else l2)

    def __call__(self, x: Tensor) -> Tensor:
        """The loss."""
        loss = tf.constant(0.0, dtype=x.dtype.base_dtype)
        if self.l1:
            loss += self.l1 * tf.reduce_sum(tf.abs(x))
        if self.l2:
            loss += 2.0 * self.l2 * tf.nn.l2_loss(x)
        return loss

    def get_config(self) -> Config:
        """Both factors."""
        return {"l1": float(self.l1), "l2": float(self.l2)}


class L1(Regularizer):
    """l1 * sum|x|."""

    def __init__(self, l1: float = 0.01, **kwargs: Any) -> None:
        self.l1 = _penalty(_of_older(l1, kwargs))

    def __call__(self, x: TensorLike) -> Tensor:
        """The loss."""
        return self.l1 * tf.reduce_sum(tf.abs(x))

    def get_config(self) -> Config:
        """The factor."""
        return {"l1": float(self.l1)}


class L2(Regularizer):
    """l2 * sum x²."""

    def __init__(self, l2: float = 0.01, **kwargs: Any) -> None:
        self.l2 = _penalty(_of_older(l2, kwargs))

    def __call__(self, x: TensorLike) -> Tensor:
        """The loss."""
        return 2.0 * self.l2 * tf.nn.l2_loss(x)

    def get_config(self) -> Config:
        """The factor."""
        return {"l2": float(self.l2)}


def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """l1 * sum|x| + l2 * sum x², both 0.01 by default."""
    return L1L2(l1=l1, l2=l2)


l1, l2 = L1, L2

_KNOWN: Final[Mapping[str, object]] = {
    "L1": L1,
    "L1L2": L1L2,
    "L2": L2,
    "l1": L1,
    "l1_l2": l1_l2,
    "l2": L2,
}


def serialize(regularizer: Identifier, use_legacy_format: bool = False) -> Serialized:  # noqa: ARG001 - as there
    """The config of a regularizer."""
    return serialized(regularizer)


def deserialize(
    config: str | Mapping[str, object],
    custom_objects: CustomObjects = None,
    use_legacy_format: bool = False,  # noqa: ARG001 - both formats are read
) -> TensorFunction:
    """The regularizer of a name or a config; raises ValueError for one that is not known."""
    if config == "l1_l2":
        return l1_l2()
    return deserialized(config, _KNOWN, "regularizer", custom_objects)


def get(identifier: Identifier) -> TensorFunction | None:
    """A regularizer by name or config; a callable itself; None for None.

    Raises:
      ValueError: the identifier is neither a name, a config nor callable, or is not known.

    """
    return interpreted(identifier, deserialize, "regularizer")
