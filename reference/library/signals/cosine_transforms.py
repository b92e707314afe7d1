"""Discrete cosine transforms of types I to IV, computed by real Fourier transforms."""

from __future__ import annotations

import math
from typing import Any, Final

from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.ops.array_ops import concat, expand_dims, pad
from sessrun.reference.api.ops.cast_ops import cast, complex_, real
from sessrun.reference.api.ops.fourier_ops import irfft, rfft
from sessrun.reference.api.ops.math_ops import range_
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.base.tensor_shape import dimension_value
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import exp, rsqrt, sqrt
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["dct"]

#: The type of the inverse of each type of transform.
_INVERSE: Final = {1: 1, 2: 3, 3: 2, 4: 4}


def _check(value: Tensor, kind: int, n: int | None, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise bad_value("n should be a positive integer or None")
    if kind not in _INVERSE:
        raise bad_value("Types I, II, III and IV (I)DCT are supported.")
    if kind == 1:
        if norm == "ortho":
            raise bad_value("Normalization is not supported for the Type-I DCT.")
        if value.shape[-1] is not None and value.shape[-1] < 2:
            raise bad_value("Type-I DCT requires the dimension to be greater than one.")
    if norm not in {None, "ortho"}:
        raise bad_value(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


@public("signal.dct", "spectral.dct")
def dct(
    input: Tensor,  # noqa: A002 - TensorFlow's name
    type: int = 2,  # noqa: A002 - TensorFlow's name
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The discrete cosine transform of the last dimension.

    Args:
      input: a tensor [..., samples], float32 or float64.
      type: the type of the transform: 1, 2, 3 or 4.
      n: the number of samples that are transformed: the input is truncated or padded with zeros.
      axis: -1, the only axis that is supported.
      norm: None, or `ortho` for an orthonormal transform.
      name: the operations' scope.

    Returns:
      A tensor [..., samples], or [..., n], of the input's dtype.

    Raises:
      NotImplementedError: the axis is not -1.
      ValueError: `n` is not positive, the type or norm is unknown, or they do not go together.

    """
    _check(input, type, n, axis, norm)
    return _transformed(input, type, n, norm, name)


@public("signal.idct", "spectral.idct")
def idct(
    input: Tensor,  # noqa: A002 - TensorFlow's name
    type: int = 2,  # noqa: A002 - TensorFlow's name
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `dct`, up to a factor without `ortho`; arguments and errors as for `dct`."""
    _check(input, type, n, axis, norm)
    return _transformed(input, _INVERSE[type], n, norm, name)


def _last(value: Tensor) -> Any:
    """The size of the last dimension: an int, or a tensor if it is not known statically."""
    return dimension_value(value.shape[-1]) or shape(value)[-1]


def _of_length(value: Tensor, n: int) -> Tensor:
    """Truncate or zero-pad the last dimension to `n`."""
    length = _last(value)

    def filled() -> Tensor:
        more = [[0, 0] for _ in range(len(value.shape))]
        more[-1][1] = n - length
        return pad(value, convert_to_tensor(more, dtype="int32"))

    fits = n <= length
    known = constant_value(fits) if isinstance(fits, Tensor) else fits
    if known is None:
        resized: Tensor = cond(fits, lambda: value[..., 0:n], filled)
        return resized
    return value[..., 0:n] if known else filled()


def _transformed(
    given: Tensor, kind: int, n: Any, norm: str | None, name: str | None = None
) -> Tensor:
    """The transform of a type; type IV is the odd coefficients of a type II of twice the length."""
    with name_scope(name, "dct", [given]):
        value = convert_to_tensor(given)
        zero = convert_to_tensor(0.0, dtype=value.dtype)
        if n is None:
            _last(value)
        else:
            value = _of_length(value, n)
        length = _last(value)
        count = cast(length, value.dtype)
        if kind == 1:
            return real(rfft(concat([value, value[..., -2:0:-1]], axis=-1)))
        if kind == 2:
            return _second(value, zero, length, count, norm)
        if kind == 3:
            return _third(value, zero, length, count, norm)
        odd = _transformed(value, 2, 2 * length, None)[..., 1::2]
        return odd * (math.sqrt(0.5) * rsqrt(count)) if norm == "ortho" else odd


def _second(value: Tensor, zero: Tensor, length: int, count: Tensor, norm: str | None) -> Tensor:
    """The transform of type II."""
    factors = 2.0 * exp(complex_(zero, -range_(count) * math.pi * 0.5 / count))
    coefficients = real(rfft(value, fft_length=[2 * length])[..., :length] * factors)
    if norm != "ortho":
        return coefficients
    first = 0.5 * rsqrt(count)
    others = first * math.sqrt(2.0)
    return coefficients * pad(expand_dims(first, 0), [[0, length - 1]], constant_values=others)


def _third(value: Tensor, zero: Tensor, length: int, count: Tensor, norm: str | None) -> Tensor:
    """The transform of type III."""
    if norm == "ortho":
        first = sqrt(count)
        others = first * math.sqrt(0.5)
        value = value * pad(expand_dims(first, 0), [[0, length - 1]], constant_values=others)
    else:
        value = value * count
    factors = 2.0 * exp(complex_(zero, range_(count) * math.pi * 0.5 / count))
    return real(irfft(factors * complex_(value, zero), fft_length=[2 * length]))[..., :length]
