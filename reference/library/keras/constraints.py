"""`tf.keras.constraints`: projections applied to a variable after an update (tf_keras 2.21)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Self

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
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
from sessrun.reference.library.keras.settings import epsilon, floatx

__all__ = [
    "Constraint",
    "MaxNorm",
    "MinMaxNorm",
    "NonNeg",
    "UnitNorm",
    "deserialize",
    "get",
    "max_norm",
    "min_max_norm",
    "non_neg",
    "serialize",
    "unit_norm",
]


class Constraint:
    """Base class of constraints: functions from weights to weights of the same shape."""

    _options: tuple[str, ...] = ()

    def __call__(self, w: Tensor) -> Tensor:
        """The projected weights."""
        return w

    def get_config(self) -> Config:
        """The arguments of the constructor."""
        return {name: getattr(self, name) for name in self._options}

    @classmethod
    def from_config(cls, config: Mapping[str, object]) -> Self:
        """The constraint with this config."""
        return cls(**config)


def _norms(w: Tensor, axis: int | Sequence[int]) -> Tensor:
    """The Euclidean norms along the axis; the sums of squares are clipped at 0 before the root."""
    squares = tf.reduce_sum(tf.square(w), axis=axis, keepdims=True)
    return tf.sqrt(tf.maximum(squares, tf.constant(0.0, dtype=squares.dtype.base_dtype)))


class MaxNorm(Constraint):
    """Weights whose norm along an axis is at most `max_value`."""

    _options = ("max_value", "axis")

    def __init__(self, max_value: TensorLike = 2, axis: int | Sequence[int] = 0) -> None:
        self.max_value = max_value
        self.axis = axis

    def __call__(self, w: Tensor) -> Tensor:
        """The projected weights."""
        norms = _norms(w, self.axis)
        return w * (tf.clip_by_value(norms, 0, self.max_value) / (epsilon() + norms))


class NonNeg(Constraint):
    """Negative weights become 0."""

    def __call__(self, w: Tensor) -> Tensor:
        """The projected weights."""
        return w * tf.cast(tf.greater_equal(w, 0.0), floatx())


class UnitNorm(Constraint):
    """Weights whose norm along an axis is 1."""

    _options = ("axis",)

    def __init__(self, axis: int | Sequence[int] = 0) -> None:
        self.axis = axis

    def __call__(self, w: Tensor) -> Tensor:
        """The projected weights."""
        return w / (epsilon() + _norms(w, self.axis))


class MinMaxNorm(Constraint):
    """Norms along an axis move towards [min_value, max_value], by `rate` of the way."""

    _options = ("min_value", "max_value", "rate", "axis")

    def __init__(
        self,
        min_value: float = 0.0,
        max_value: TensorLike = 1.0,
        rate: float | Tensor = 1.0,
        axis: int | Sequence[int] = 0,
    ) -> None:
        self.min_value = min_value
        self.max_value = max_value
        self.rate = rate
        self.axis = axis

    def __call__(self, w: Tensor) -> Tensor:
        """The projected weights."""
        norms = _norms(w, self.axis)
        inside = tf.clip_by_value(norms, self.min_value, self.max_value)
        desired = self.rate * inside + (1 - self.rate) * norms
        return w * (desired / (epsilon() + norms))


max_norm = MaxNorm
min_max_norm = MinMaxNorm
non_neg = NonNeg
unit_norm = UnitNorm

_KNOWN: Final[Mapping[str, object]] = {
    "MaxNorm": MaxNorm,
    "MinMaxNorm": MinMaxNorm,
    "NonNeg": NonNeg,
    "UnitNorm": UnitNorm,
    "max_norm": MaxNorm,
    "maxnorm": MaxNorm,
    "min_max_norm": MinMaxNorm,
    "non_neg": NonNeg,
    "nonneg": NonNeg,
    "unit_norm": UnitNorm,
    "unitnorm": UnitNorm,
}


def serialize(constraint: Identifier, use_legacy_format: bool = False) -> Serialized:  # noqa: ARG001 - as there
    """The config of a constraint."""
    return serialized(constraint)


def deserialize(
    config: Mapping[str, object],
    custom_objects: CustomObjects = None,
    use_legacy_format: bool = False,  # noqa: ARG001 - both formats are read
) -> TensorFunction:
    """The constraint of a name or a config; raises ValueError for one that is not known."""
    return deserialized(config, _KNOWN, "constraint", custom_objects)


def get(identifier: Identifier) -> TensorFunction | None:
    """A constraint by name or config; a callable itself; None for None.

    Raises:
      ValueError: the identifier is neither a name, a config nor callable, or is not known.

    """
    return interpreted(identifier, deserialize, "constraint function")
