"""`tf.keras.initializers`: initializers of variables, with Keras' names and defaults.

Source: tf_keras 2.21 in graph mode.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Final

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.variables import init_ops
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType
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

__all__ = [
    "Constant",
    "HeNormal",
    "HeUniform",
    "Identity",
    "Initializer",
    "LecunNormal",
    "LecunUniform",
    "Ones",
    "Orthogonal",
    "RandomNormal",
    "RandomUniform",
    "TruncatedNormal",
    "VarianceScaling",
    "Zeros",
    "constant",
    "deserialize",
    "get",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "random_normal",
    "random_uniform",
    "serialize",
    "truncated_normal",
    "uniform",
    "zeros",
]

Initializer = init_ops.Initializer
Zeros = zeros = init_ops.Zeros
Ones = ones = init_ops.Ones
Constant = constant = init_ops.Constant
VarianceScaling = init_ops.VarianceScaling
Orthogonal = orthogonal = tf.orthogonal_initializer
Identity = identity = tf.initializers.identity
glorot_uniform = init_ops.GlorotUniform
glorot_normal = init_ops.GlorotNormal


class RandomNormal(init_ops.RandomNormal):
    """Normal numbers, by default of deviation 0.05."""

    def __init__(
        self,
        mean: TensorLike = 0.0,
        stddev: float = 0.05,
        seed: int | None = None,
        dtype: DType = dtypes.float32,
    ) -> None:
        super().__init__(mean=mean, stddev=stddev, seed=seed, dtype=dtype)


class RandomUniform(init_ops.RandomUniform):
    """Uniform numbers, by default between -0.05 and 0.05."""

    def __init__(
        self,
        minval: float = -0.05,
        maxval: float = 0.05,
        seed: int | None = None,
        dtype: DType = dtypes.float32,
    ) -> None:
        super().__init__(minval=minval, maxval=maxval, seed=seed, dtype=dtype)


class TruncatedNormal(init_ops.TruncatedNormal):
    """Normal numbers within two deviations, by default of deviation 0.05."""

    def __init__(
        self,
        mean: TensorLike = 0.0,
        stddev: float = 0.05,
        seed: int | None = None,
        dtype: DType = dtypes.float32,
    ) -> None:
        super().__init__(mean=mean, stddev=stddev, seed=seed, dtype=dtype)


class _OfFanIn(init_ops.VarianceScaling):
    """Random numbers of variance scale / fan_in."""

    _kind: tuple[float, str]

    def __init__(self, seed: int | None = None) -> None:
        scale, distribution = self._kind
        super().__init__(scale=scale, mode="fan_in", distribution=distribution, seed=seed)

    def get_config(self) -> Config:
        """The seed; the other arguments are fixed by the class."""
        return {"seed": self.seed}


class LecunNormal(_OfFanIn):
    """Normal numbers of variance 1 / inputs."""

    _kind = (1.0, "truncated_normal")


class LecunUniform(_OfFanIn):
    """Uniform numbers of variance 1 / inputs."""

    _kind = (1.0, "uniform")


class HeNormal(_OfFanIn):
    """Normal numbers of variance 2 / inputs."""

    _kind = (2.0, "truncated_normal")


class HeUniform(_OfFanIn):
    """Uniform numbers of variance 2 / inputs."""

    _kind = (2.0, "uniform")


normal = random_normal = RandomNormal
uniform = random_uniform = RandomUniform
truncated_normal = TruncatedNormal
lecun_normal, lecun_uniform = LecunNormal, LecunUniform
he_normal, he_uniform = HeNormal, HeUniform

_CLASSES: Final[Mapping[str, object]] = {
    "Constant": Constant,
    "GlorotNormal": glorot_normal,
    "GlorotUniform": glorot_uniform,
    "HeNormal": HeNormal,
    "HeUniform": HeUniform,
    "Identity": Identity,
    "LecunNormal": LecunNormal,
    "LecunUniform": LecunUniform,
    "Ones": Ones,
    "Orthogonal": Orthogonal,
    "RandomNormal": RandomNormal,
    "RandomUniform": RandomUniform,
    "TruncatedNormal": TruncatedNormal,
    "VarianceScaling": VarianceScaling,
    "Zeros": Zeros,
}
_NAMES: Final[Mapping[str, object]] = {
    "constant": Constant,
    "glorot_normal": glorot_normal,
    "glorot_uniform": glorot_uniform,
    "he_normal": HeNormal,
    "he_uniform": HeUniform,
    "identity": Identity,
    "lecun_normal": LecunNormal,
    "lecun_uniform": LecunUniform,
    "normal": RandomNormal,
    "one": Ones,
    "ones": Ones,
    "orthogonal": Orthogonal,
    "random_normal": RandomNormal,
    "random_uniform": RandomUniform,
    "truncated_normal": TruncatedNormal,
    "uniform": RandomUniform,
    "variance_scaling": VarianceScaling,
    "zero": Zeros,
    "zeros": Zeros,
}


def serialize(initializer: Identifier, use_legacy_format: bool = False) -> Serialized:  # noqa: ARG001 - as there
    """The config of an initializer."""
    return serialized(initializer)


def deserialize(
    config: Mapping[str, object],
    custom_objects: CustomObjects = None,
    use_legacy_format: bool = False,  # noqa: ARG001 - both formats are read
) -> TensorFunction:
    """The initializer of a name or a config; raises ValueError for one that is not known."""
    return deserialized(config, {**_CLASSES, **_NAMES}, "initializer", custom_objects)


def get(identifier: Identifier) -> Any:
    """An initializer by name, config or class; a callable itself; None for None.

    Raises:
      ValueError: the identifier is neither a name, a config nor callable, or is not known.

    """
    initializer = interpreted(identifier, deserialize, "initializer")
    return initializer() if inspect.isclass(initializer) else initializer
