"""Quantization to integers of few bits, dequantization, and fake quantization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.gradient_nodes import node
from sessrun.reference.build.raw_wrappers import wrapper
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


def _axis_number(value: Any, axis: int | None) -> int:
    """The axis as a number that is not negative; -1 if it is None.

    Raises:
      ValueError: the axis is negative and the rank is unknown.

    """
    if axis is None:
        return -1
    if axis < 0:
        if value.shape.ndims is None:
            raise bad_value("input should have known rank to use negative axis.")
        return int(axis % value.shape.ndims)
    return axis


@public("quantize_v2")
def quantize_v2(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,  # noqa: N803 - TensorFlow's name
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    narrow_range: bool = False,
    axis: int | None = None,
    ensure_minimum_range: float = 0.01,
) -> Any:
    """Quantize floats in a range to integers; returns these and the range that they represent.

    Args:
      input: float32 numbers.
      min_range: the least number, or one for each slice along the axis.
      max_range: the greatest number, likewise.
      T: a quantized dtype.
      mode: `MIN_COMBINED`, `MIN_FIRST` or `SCALED`.
      name: the operation's name.
      round_mode: `HALF_AWAY_FROM_ZERO`, or for `SCALED` `HALF_TO_EVEN`.
      narrow_range: whether the least integer is not used.
      axis: the axis whose slices have separate ranges.
      ensure_minimum_range: the least distance of the ends of the range, relative to them.

    Raises:
      ValueError: the axis is negative and the rank is unknown.

    """
    return wrapper("QuantizeV2")(
        input=input,
        min_range=min_range,
        max_range=max_range,
        T=T,
        mode=mode,
        name=name,
        round_mode=round_mode,
        narrow_range=narrow_range,
        axis=_axis_number(input, axis),
        ensure_minimum_range=ensure_minimum_range,
    )


@public("quantization.quantize", "quantize")
def quantize(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,  # noqa: N803 - TensorFlow's name
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
    ensure_minimum_range: float = 0.01,
) -> Any:
    """As `quantize_v2`, with the arguments in another order."""
    return quantize_v2(
        input,
        min_range,
        max_range,
        T,
        mode,
        name,
        round_mode,
        narrow_range,
        axis,
        ensure_minimum_range,
    )


@public("dequantize", "quantization.dequantize")
def dequantize(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    min_range: TensorLike,
    max_range: TensorLike,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    axis: int | None = None,
    narrow_range: bool = False,
    dtype: DTypeLike = dtypes.float32,
) -> Tensor:
    """The floats that quantized integers represent; arguments as for `quantize_v2`.

    Raises:
      ValueError: the axis is negative and the rank is unknown.

    """
    dequantized: Tensor = node(
        "Dequantize",
        input,
        min_range,
        max_range,
        name=name,
        mode=mode,
        axis=_axis_number(input, axis),
        narrow_range=narrow_range,
        dtype=dtype,
    )
    return dequantized


def _both(op_type: str, doc: str) -> Callable[..., Tensor]:
    def both(
        input: TensorLike,  # noqa: A002 - TensorFlow's name
        input_min: TensorLike,
        input_max: TensorLike,
        signed_input: bool = True,
        num_bits: int = 8,
        range_given: bool = False,
        round_mode: str = "HALF_TO_EVEN",
        name: str | None = None,
        narrow_range: bool = False,
        axis: int | None = None,
    ) -> Tensor:
        quantized: Tensor = node(
            op_type,
            input,
            input_min,
            input_max,
            name=name,
            signed_input=signed_input,
            num_bits=num_bits,
            range_given=range_given,
            round_mode=round_mode,
            narrow_range=narrow_range,
            axis=_axis_number(input, axis),
        )
        return quantized

    both.__doc__ = doc
    return both


quantize_and_dequantize = _both(
    "QuantizeAndDequantizeV2", "Quantize numbers and dequantize them again."
)
quantize_and_dequantize_v2 = _both(
    "QuantizeAndDequantizeV4", "As version 2, but its gradient is 0 outside of the range."
)


public("quantization.quantize_and_dequantize")(quantize_and_dequantize)
public("quantization.quantize_and_dequantize_v2")(quantize_and_dequantize_v2)
