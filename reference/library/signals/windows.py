"""Window functions: weights of a frame's samples."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.ops.array_ops import concat
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.fill_ops import ones
from sessrun.reference.api.ops.math_ops import equal, range_
from sessrun.reference.api.ops.reduce_ops import cumsum
from sessrun.reference.api.ops.special_ops import SCOPED
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import cos, exp, relu, sin, sqrt, square
from sessrun.reference.build.generated import pow as power
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["hann_window", "vorbis_window"]

_cumsum: Final = cumsum


def _length(window_length: TensorLike, dtype: DType) -> Tensor:
    """The length as an int32 tensor.

    Raises:
      ValueError: the dtype is not a floating-point dtype, or the length is not a scalar.

    """
    _check(dtype)
    length = convert_to_tensor(window_length, dtype=dtypes.int32)
    length.shape.assert_has_rank(0)
    return length


def _check(dtype: DType) -> None:
    if not dtype.is_floating:
        raise bad_value(f"dtype must be a floating point type. Found {dtype}")


@public("signal.kaiser_window")
def kaiser_window(
    window_length: TensorLike,
    beta: TensorLike = 12.0,
    dtype: DType = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Kaiser's window.

    Args:
      window_length: how many weights there are.
      beta: how narrow it is.
      dtype: of floating point.
      name: the operations' scope.

    Raises:
      ValueError: the dtype is another, or the length no scalar.

    """
    with name_scope(name, "kaiser_window"):
        length = _length(window_length, dtype)
        if constant_value(length) == 1:
            return ones([1], dtype=dtype)
        half = (cast(length, dtypes.float32) - 1.0) / 2.0
        position = cast(range_(-half, half + 0.1, dtype=dtypes.float32), dtype)
        beta = cast(beta, dtype)
        one = cast(1.0, dtype)
        half = cast(half, dtype)
        height = beta * sqrt(relu(one - square(position / half)))
        bessel = SCOPED["bessel_i0e"]
        return exp(height - beta) * (bessel(height) / bessel(beta))


@public("signal.kaiser_bessel_derived_window")
def kaiser_bessel_derived_window(
    window_length: TensorLike,
    beta: TensorLike = 12.0,
    dtype: DType = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The Kaiser-Bessel-derived window; arguments as of `kaiser_window`."""
    with name_scope(name, "kaiser_bessel_derived_window"):
        length = _length(window_length, dtype)
        sums = _cumsum(kaiser_window(length // 2 + 1, beta, dtype=dtype))
        half = sqrt(sums[:-1] / sums[-1])
        return concat((half, half[::-1]), axis=0)


@public("signal.vorbis_window")
def vorbis_window(
    window_length: TensorLike, dtype: DType = dtypes.float32, name: str | None = None
) -> Tensor:
    """Vorbis' window; arguments are those of `kaiser_window`."""
    with name_scope(name, "vorbis_window"):
        length = _length(window_length, dtype)
        position = cast(range_(length), dtype)
        inner = sin(np.pi / cast(length, dtype) * (position + 0.5))
        return sin(np.pi / 2.0 * power(inner, 2.0))


@public("signal.hann_window")
def hann_window(
    window_length: TensorLike,
    periodic: object = True,
    dtype: DType = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Hann's window, a raised cosine.

    Args:
      window_length: how many weights there are.
      periodic: whether the window is part of one that repeats.
      dtype: of floating point.
      name: the operations' scope.

    Raises:
      ValueError: the dtype is another, or the length no scalar.

    """
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, (0.5, 0.5))


@public("signal.hamming_window")
def hamming_window(
    window_length: TensorLike,
    periodic: object = True,
    dtype: DType = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Hamming's window; arguments are those of `hann_window`."""
    return _raised_cosine(name, "hamming_window", window_length, periodic, dtype, (0.54, 0.46))


def _raised_cosine(
    name: str | None,
    default: str,
    window_length: TensorLike,
    periodic: object,
    dtype: DType,
    weights: tuple[float, float],
) -> Tensor:
    _check(dtype)
    with name_scope(name, default, [window_length, periodic]):
        length = convert_to_tensor(window_length, dtype=dtypes.int32, name="window_length")
        length.shape.assert_has_rank(0)
        known = constant_value(length)
        if known == 1:
            return ones([1], dtype=dtype)
        is_periodic = cast(
            convert_to_tensor(periodic, dtype=dtypes.bool_, name="periodic"), dtypes.int32
        )
        is_periodic.shape.assert_has_rank(0)
        is_even = 1 - length % 2
        period = cast(length + is_periodic * is_even - 1, dtype)
        position = cast(range_(length), dtype)
        angle = constant(2 * np.pi, dtype=dtype) * position / period
        first, second = weights

        def window() -> Tensor:
            return cast(first - second * cos(angle), dtype)

        if known is not None:
            return window()
        weights_of_length: Tensor = cond(
            equal(length, 1), lambda: ones([length], dtype=dtype), window
        )
        return weights_of_length
