"""What quantized numbers stand for: integers of few bits, and the range that they are spread over.

Kernels take quantized tensors as arrays of integers or of structures of one integer, as they are
fed, and give integers. Constants are computed in the precision that TensorFlow has them in: one
that is off by its last bit rounds another number.
"""

from __future__ import annotations

from typing import Any

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, dtype_of

__all__ = ["Levels", "checked_range", "integers", "scalar", "single_number", "whole"]


def integers(array: Any) -> Any:
    """The integers of a quantized tensor."""
    dtype = array.dtype
    return array if dtype.names is None else array.view(dtype[0])


def whole(name: str) -> Any:
    """The numpy dtype of a quantized dtype's integers."""
    return dtype_of(name)[0]


def scalar(value: Any, name: str) -> Any:
    """The number of a range's end: a float32.

    Raises:
      KernelError: it is no scalar.

    """
    if value.ndim:
        raise InvalidArgument(f"{name} must be a scalar: {value.shape}")
    return HOST.float32(value)


def single_number(value: Any, name: str) -> Any:
    """The number of a range's end that may be a tensor of one element: a float32.

    Raises:
      KernelError: it has no or several elements.

    """
    if value.size != 1:
        raise InvalidArgument(f"{name} must have one element: {value.shape}")
    return HOST.float32(value.reshape(-1)[0])


def checked_range(low: Any, high: Any, name: str) -> tuple[Any, Any]:
    """Both ends of a range, scalars.

    Raises:
      KernelError: they are no scalars, or the first is not the lesser.

    """
    least, most = scalar(low, f"min_{name}"), scalar(high, f"max_{name}")
    if not most > least:
        raise InvalidArgument(f"max_{name} must be larger than min_{name}.")
    return least, most


class Levels:
    """The numbers that the integers of a dtype stand for, evenly spread over a range.

    Args:
      dtype: the quantized dtype.
      least: what the least integer stands for, nearly: zero must be among the numbers.
      most: what the greatest one stands for.

    """

    def __init__(self, dtype: str, least: Any, most: Any) -> None:
        self.kind = whole(dtype)
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

    def one(self) -> Any:
        """How far two neighbours' numbers are apart: a float32."""
        return HOST.float32((self.most - self.least) / HOST.float32(self.highest - self.lowest))

    def unclamped(self, numbers: Any) -> Any:
        """The integers of numbers, of a range too small perhaps beyond the dtype's: float64."""
        if self.is_point:
            return HOST.zeros(HOST.shape(numbers))
        found = _rounded(HOST.asarray(numbers, "float64") * self._scale)
        return found - _rounded(float(self.least) * self._scale) + self.lowest

    def quantized(self, numbers: Any) -> Any:
        """The integers of numbers, those beyond the range its ends."""
        found = HOST.clip(self.unclamped(numbers), self.lowest, self.highest)
        return found.astype(self.kind)

    def numbers(self, quantized: Any) -> Any:
        """What integers stand for: float32."""
        if self.is_point:
            return HOST.full(HOST.shape(quantized), self.least, "float32")
        step = HOST.float32(self._step)
        bottom = float(_whole(self.least / step) * step)
        offset = HOST.asarray(quantized, "float64") - self.lowest
        return (bottom + offset * self._step).astype("float32")

    def roughly(self, quantized: Any) -> Any:
        """As `numbers`, all of it in float32, as TensorFlow computes whole tensors."""
        step = HOST.float32(self._step)
        bottom = self.least if self.is_point else HOST.float32(_whole(self.least / step) * step)
        bottom -= HOST.float32(self.lowest) * step
        return bottom + quantized.astype("float32") * step

    def roughly_quantized(self, numbers: Any) -> Any:
        """As `quantized`, all of it in float32, in which the least integer may not be exact."""
        scale = HOST.float32((self.highest - self.lowest) / float(self.most - self.least))
        offset = float(_whole(self.least * scale) - HOST.float32(self.lowest))
        found = _whole(numbers * scale).astype("float64") - offset
        return HOST.clip(found, self.lowest, self.highest).astype(self.kind)


def _whole(numbers: Any) -> Any:
    """The nearest integers, halves away from zero, in float32."""
    half = HOST.float32(0.5)
    return HOST.copysign(HOST.floor(HOST.abs(numbers) + half), numbers)


def _rounded(numbers: Any) -> Any:
    """The nearest integers, halves away from zero."""
    return HOST.copysign(HOST.floor(HOST.abs(numbers) + 0.5), numbers)
