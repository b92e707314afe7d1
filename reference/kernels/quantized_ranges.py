"""The numbers that quantized integers stand for: evenly spaced levels of a range.

Kernels take quantized tensors as arrays of integers, or of structures of one integer, as they are
fed, and return integers. Constants are computed in TensorFlow's precision: one
that differs in its last bit would round some numbers differently.
"""

from __future__ import annotations

from sessrun.reference.base.arrays import Array, DType
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, dtype_of
from sessrun.reference.kernels.input_shapes import require_rank

__all__ = ["Levels", "checked_range", "integer_dtype", "integers", "scalar", "single_number"]


def integers(array: Array) -> Array:
    """The integers of a quantized tensor."""
    dtype = array.dtype
    return array if dtype.names is None else array.view(dtype[0])


def integer_dtype(name: str) -> DType:
    """The numpy dtype of a quantized dtype's integers."""
    dtype: DType = dtype_of(name)[0]
    return dtype


def scalar(value: Array, name: str) -> Array:
    """The number of a range's end: a float32.

    Raises:
      KernelError: the tensor is not a scalar.

    """
    require_rank(0, **{name: value})
    return HOST.float32(value)


def single_number(value: Array, name: str) -> Array:
    """The number of a range's end that may be a tensor of one element: a float32.

    Raises:
      KernelError: the tensor does not have exactly one element.

    """
    if value.size != 1:
        raise InvalidArgument(f"{name} must have one element: {value.shape}")
    return HOST.float32(value.reshape(-1)[0])


def checked_range(low: Array, high: Array, name: str) -> tuple[Array, Array]:
    """Both ends of a range, scalars.

    Raises:
      KernelError: the ends are not scalars, or `low` is not less than `high`.

    """
    least, most = scalar(low, f"min_{name}"), scalar(high, f"max_{name}")
    if not most > least:
        raise InvalidArgument(f"max_{name} must be larger than min_{name}.")
    return least, most


class Levels:
    """The numbers that the integers of a dtype stand for, evenly spread over a range.

    Args:
      dtype: the quantized dtype.
      least: the number of the least integer, approximately: zero must be one of the levels.
      most: the number of the greatest integer.

    """

    def __init__(self, dtype: str, least: Array, most: Array) -> None:
        self.kind = integer_dtype(dtype)
        info = HOST.iinfo(self.kind)
        self.lowest, self.highest = int(info.min), int(info.max)
        steps = float(1 << info.bits)
        self.least, self.most = HOST.float32(least), HOST.float32(most)
        spread = float(self.most - self.least) * (steps / (steps - 1.0))
        self._step = spread / steps
        self._scale = 0.0 if spread == 0 else steps / spread

    @property
    def is_point(self) -> bool:
        """Whether all integers stand for one number."""
        return bool(self.least == self.most)

    def one(self) -> Array:
        """The distance between two levels: a float32."""
        return HOST.float32((self.most - self.least) / HOST.float32(self.highest - self.lowest))

    def unclamped(self, numbers: Array | float) -> Array:
        """The integers of numbers, which may exceed those of the dtype: float64."""
        if self.is_point:
            return HOST.zeros(HOST.shape(numbers))
        steps = _rounded(HOST.asarray(numbers, "float64") * self._scale)
        return steps - _rounded(float(self.least) * self._scale) + self.lowest

    def quantized(self, numbers: Array | float) -> Array:
        """The integers of numbers, clamped to those of the dtype."""
        clamped = HOST.clip(self.unclamped(numbers), self.lowest, self.highest)
        return clamped.astype(self.kind)

    def numbers(self, quantized: Array) -> Array:
        """The numbers that integers stand for: float32."""
        if self.is_point:
            return HOST.full(HOST.shape(quantized), self.least, "float32")
        step = HOST.float32(self._step)
        bottom = float(_rounded_single(self.least / step) * step)
        offset = HOST.asarray(quantized, "float64") - self.lowest
        return (bottom + offset * self._step).astype("float32")

    def roughly(self, quantized: Array) -> Array:
        """As `numbers`, but computed in float32, as TensorFlow does for entire tensors."""
        step = HOST.float32(self._step)
        bottom = (
            self.least if self.is_point else HOST.float32(_rounded_single(self.least / step) * step)
        )
        bottom -= HOST.float32(self.lowest) * step
        return bottom + quantized.astype("float32") * step

    def roughly_quantized(self, numbers: Array) -> Array:
        """As `quantized`, but computed in float32, where the least integer may not be exact."""
        scale = HOST.float32((self.highest - self.lowest) / float(self.most - self.least))
        offset = float(_rounded_single(self.least * scale) - HOST.float32(self.lowest))
        steps = _rounded_single(numbers * scale).astype("float64") - offset
        return HOST.clip(steps, self.lowest, self.highest).astype(self.kind)


def _rounded_single(numbers: Array) -> Array:
    """The nearest integers, halves away from zero, in float32."""
    half = HOST.float32(0.5)
    return HOST.copysign(HOST.floor(HOST.abs(numbers) + half), numbers)


def _rounded(numbers: Array | float) -> Array:
    """The nearest integers, halves away from zero."""
    return HOST.copysign(HOST.floor(HOST.abs(numbers) + 0.5), numbers)
