"""Initializers: objects that compute the initial value of a variable from shape and dtype."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Self

import numpy as np

from sessrun.reference.api.ops import fill_ops, random_ops
from sessrun.reference.api.variables.partition_layout import PartitionInfo
from sessrun.reference.api.variables.variable_lists import (
    global_variables_initializer,
    local_variables_initializer,
    variables_initializer,
)
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.build.constant_op import constant
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "Constant",
    "GlorotNormal",
    "GlorotUniform",
    "Initializer",
    "Ones",
    "RandomNormal",
    "RandomUniform",
    "Seeded",
    "TruncatedNormal",
    "UniformUnitScaling",
    "VarianceScaling",
    "Zeros",
    "fans",
    "float_dtype",
]

#: The standard deviation of a normal distribution of deviation 1 cut at 2.
_TRUNCATED_DEVIATION: Final = 0.87962566103423978
_MODES: Final = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS: Final = ("normal", "uniform", "truncated_normal", "untruncated_normal")


class Initializer:
    """The base of all initializers: `initializer(shape, dtype=None)` gives the value.

    Attributes:
      dtype: the dtype of values where the call names none.

    """

    #: The names of the constructor's arguments besides `dtype`, which are attributes too.
    _options: tuple[str, ...] = ()

    def __init__(self, dtype: DTypeLike = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(
        self,
        shape: ShapeLike,
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        """The initial value.

        Args:
          shape: a list of sizes.
          dtype: its dtype; the initializer's own if None.
          partition_info: the offset of the part, if the variable is a part of a larger one.

        Raises:
          InvalidArgumentTypeError: the value cannot be of this dtype.

        """
        del partition_info
        return self._value(shape, self.dtype if dtype is None else dtypes.as_dtype(dtype))

    def _value(self, shape: ShapeLike, dtype: DType) -> Tensor:
        raise NotImplementedError

    def get_config(self) -> dict[str, object]:
        """The constructor's arguments; the dtype by name."""
        return {**{key: getattr(self, key) for key in self._options}, "dtype": self.dtype.name}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """The initializer of what `get_config` gave."""
        return cls(**config)


@public("initializers.zeros", "zeros_initializer")
class Zeros(Initializer):
    """Zeros; false for bool, empty for string."""

    def _value(self, shape: ShapeLike, dtype: DType) -> Tensor:
        return fill_ops.zeros(shape, dtype)


@public("initializers.ones", "ones_initializer")
class Ones(Initializer):
    """Ones."""

    def _value(self, shape: ShapeLike, dtype: DType) -> Tensor:
        return fill_ops.ones(shape, dtype)


@public("constant_initializer", "initializers.constant")
class Constant(Initializer):
    """A value, the last element of which is repeated to fill the shape.

    Args:
      value: a scalar, list or ndarray.
      dtype: the default dtype.
      verify_shape: whether the value must have exactly the shape.

    Raises:
      TypeError: the value is nothing of this.

    """

    _options = ("value",)

    def __init__(
        self, value: Any = 0, dtype: DTypeLike = dtypes.float32, verify_shape: bool = False
    ) -> None:
        if not (np.isscalar(value) or isinstance(value, list | tuple | np.ndarray)):
            raise TypeError(
                f"Invalid type for initial value={value} of type: {type(value).__name__}. Expected "
                "Python scalar, list or tuple of values, or numpy.ndarray."
            )
        super().__init__(dtype)
        self.value = value
        self._verify_shape = verify_shape

    def __call__(
        self,
        shape: ShapeLike,
        dtype: DTypeLike | None = None,
        partition_info: PartitionInfo | None = None,
        verify_shape: Any = None,
    ) -> Tensor:
        """The initial value, whose shape is verified if `verify_shape` is true."""
        del partition_info
        verify = self._verify_shape if verify_shape is None else verify_shape
        return constant(self.value, dtype or self.dtype, shape=shape, verify_shape=verify)


class Seeded(Initializer):
    """An initializer of random numbers."""

    def __init__(self, seed: int | None, dtype: DTypeLike) -> None:
        super().__init__(dtype)
        self.seed = seed


@public("initializers.random_uniform", "random_uniform_initializer")
class RandomUniform(Seeded):
    """Numbers drawn evenly from [minval, maxval); `maxval` is 1 for floats by default."""

    _options = ("minval", "maxval", "seed")

    def __init__(
        self,
        minval: float = 0.0,
        maxval: float | None = None,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ) -> None:
        super().__init__(seed, dtype)
        self.minval = minval
        self.maxval = maxval

    def _value(self, shape: ShapeLike, dtype: DType) -> Tensor:
        return random_ops.random_uniform(shape, self.minval, self.maxval, dtype, self.seed)


@public("initializers.random_normal", "random_normal_initializer")
class RandomNormal(Seeded):
    """Numbers of a normal distribution.

    Raises:
      ValueError: the default dtype is not a float.

    """

    _options = ("mean", "stddev", "seed")
    _draw: Callable[..., Tensor] = staticmethod(random_ops.random_normal)

    def __init__(
        self,
        mean: Any = 0.0,
        stddev: float = 1.0,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ) -> None:
        super().__init__(seed, float_dtype(dtype))
        self.mean = mean
        self.stddev = stddev

    def _value(self, shape: ShapeLike, dtype: DType) -> Tensor:
        return self._draw(shape, self.mean, self.stddev, dtype, self.seed)


@public("initializers.truncated_normal", "truncated_normal_initializer")
class TruncatedNormal(RandomNormal):
    """Numbers of a normal distribution, none further off than two deviations."""

    _draw = staticmethod(random_ops.truncated_normal)


class _Scaling(Seeded):
    """An initializer whose scale depends on the full shape of the variable."""

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: PartitionInfo | None = None,
    ) -> Tensor:
        """The initial value; that of a part is scaled by the full shape."""
        full_shape = shape if partition_info is None else partition_info.full_shape
        return self._scaled(
            shape, full_shape, self.dtype if dtype is None else dtypes.as_dtype(dtype)
        )

    @abstractmethod
    def _scaled(self, shape: ShapeLike, full_shape: Sequence[object], dtype: DType) -> Tensor:
        """The initial value of a part, scaled by the full shape."""


@public("initializers.uniform_unit_scaling", "uniform_unit_scaling_initializer")
class UniformUnitScaling(_Scaling):
    """Numbers drawn evenly so that a layer keeps the scale of its inputs."""

    _options = ("factor", "seed")

    def __init__(
        self, factor: float = 1.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32
    ) -> None:
        super().__init__(seed, float_dtype(dtype))
        self.factor = factor

    def _scaled(self, shape: ShapeLike, full_shape: Sequence[Any], dtype: DType) -> Tensor:
        inputs = math.prod([float(size) for size in full_shape[:-1]])
        limit = math.sqrt(3 / max(inputs, 1.0)) * self.factor
        return random_ops.random_uniform(shape, -limit, limit, dtype, self.seed)


@public("initializers.variance_scaling", "variance_scaling_initializer")
class VarianceScaling(_Scaling):
    """Numbers whose variance is a scale divided by how many inputs or outputs a unit has.

    Args:
      scale: positive.
      mode: the divisor: `fan_in`, `fan_out` or their mean, `fan_avg`.
      distribution: `truncated_normal` (also called `normal`), `untruncated_normal`, `uniform`.
      seed: the operation's seed.
      dtype: the default dtype, a float.

    Raises:
      ValueError: an argument has another value than those above.

    """

    _options: tuple[str, ...] = ("scale", "mode", "distribution", "seed")

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ) -> None:
        if scale <= 0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in _MODES:
            raise ValueError(f"Argument `mode` should be one of {_MODES}. Received: {mode}")
        distribution = distribution.lower()
        if distribution not in _DISTRIBUTIONS:
            raise ValueError(
                f"Argument `distribution` should be one of {_DISTRIBUTIONS}. "
                f"Received: {distribution}"
            )
        super().__init__(seed, float_dtype(dtype))
        self.scale = scale
        self.mode = mode
        self.distribution = distribution

    def _scaled(self, shape: ShapeLike, full_shape: Sequence[object], dtype: DType) -> Tensor:
        inputs, outputs = fans(full_shape)
        fan = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}[self.mode]
        variance = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return random_ops.random_uniform(shape, -limit, limit, dtype, self.seed)
        deviation = math.sqrt(variance)
        if self.distribution == "untruncated_normal":
            return random_ops.random_normal(shape, 0.0, deviation, dtype, self.seed)
        deviation /= _TRUNCATED_DEVIATION
        return random_ops.truncated_normal(shape, 0.0, deviation, dtype, self.seed)


@public("glorot_uniform_initializer", "initializers.glorot_uniform")
class GlorotUniform(VarianceScaling):
    """Glorot's (or Xavier's) scheme with even numbers."""

    _options = ("seed",)

    def __init__(self, seed: int | None = None, dtype: DTypeLike | None = None) -> None:
        del dtype  # accepted and not used, as TensorFlow 2.21 was seen to do
        super().__init__(1.0, "fan_avg", "uniform", seed)


@public("glorot_normal_initializer", "initializers.glorot_normal")
class GlorotNormal(VarianceScaling):
    """Glorot's (or Xavier's) scheme with truncated normal numbers."""

    _options = ("seed",)

    def __init__(self, seed: int | None = None, dtype: DTypeLike | None = None) -> None:
        del dtype  # accepted and not used, as TensorFlow 2.21 was seen to do
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)


@public("initializers.he_normal")
def he_normal(seed: int | None = None) -> VarianceScaling:
    """He's scheme with truncated normal numbers."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


@public("initializers.he_uniform")
def he_uniform(seed: int | None = None) -> VarianceScaling:
    """He's scheme with even numbers."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


@public("initializers.lecun_normal")
def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """LeCun's scheme with truncated normal numbers."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


@public("initializers.lecun_uniform")
def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """LeCun's scheme with even numbers."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


def float_dtype(dtype: DTypeLike) -> DType:
    """The dtype.

    Raises:
      ValueError: the dtype is not a float dtype.

    """
    wanted = dtypes.as_dtype(dtype)
    if not wanted.is_floating:
        raise bad_value(f"Argument `dtype` is expected to be floating point. Received: {wanted}.")
    return wanted


def fans(shape: Sequence[Any]) -> tuple[int, int]:
    """How many inputs and outputs a unit of weights of this shape has."""
    sizes = [int(size) for size in shape]
    if not sizes:
        return 1, 1
    if len(sizes) == 1:
        return sizes[0], sizes[0]
    field = math.prod(sizes[:-2])  # of a convolution
    return sizes[-2] * field, sizes[-1] * field


_INITIALIZERS: Final[Mapping[str, type]] = {
    "constant": Constant,
    "glorot_normal": GlorotNormal,
    "glorot_uniform": GlorotUniform,
    "ones": Ones,
    "random_normal": RandomNormal,
    "random_uniform": RandomUniform,
    "truncated_normal": TruncatedNormal,
    "uniform_unit_scaling": UniformUnitScaling,
    "variance_scaling": VarianceScaling,
    "zeros": Zeros,
}


public("initializers.global_variables")(global_variables_initializer)
public("initializers.local_variables")(local_variables_initializer)
public("initializers.variables")(variables_initializer)
