"""Kernels of quantized pictures whose channels have ranges of their own."""

from __future__ import annotations

from typing import Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.quantized_ranges import integer_dtype, integers, single_number
from sessrun.reference.kernels.registry import kernel

_CPU: Final = ("CPU",)
#: The integer of 32 bits that stands for the end of a range: the levels on one side of zero.
_END: Final = 1 << 31


def _pictures(x: Array) -> Array:
    """The integers, [batch, height, width, channels]."""
    require_rank(4, x=x)
    return integers(x)


def _reach(low: Array, high: Array) -> Array:
    """The larger absolute end of the range of each channel: float32."""
    if low.size != high.size:
        raise InvalidArgument(f"min and max must be as many: {low.shape}, {high.shape}")
    return HOST.maximum(HOST.abs(low), HOST.abs(high)).reshape(-1)


@kernel("RequantizationRangePerChannel", devices=_CPU)
def requantization_range_per_channel(
    _: object,
    x: Array,
    low: Array,
    high: Array,
    *,
    T: str,
    clip_value_max: float,
) -> tuple[Array, Array]:
    """The range that the values of all channels need, clipped to `clip_value_max`."""
    del T
    numbers, reach = _pictures(x), _reach(low, high)
    if low.shape[:1] != (numbers.shape[3],):
        raise InvalidArgument(
            f"min and max must have the size of the last dimension: "
            f"{low.shape}, {high.shape}, {numbers.shape}"
        )
    least, most = numbers.min(axis=(0, 1, 2)), numbers.max(axis=(0, 1, 2))
    largest = HOST.maximum(HOST.abs(least.astype("int64")), HOST.abs(most.astype("int64")))
    ends = reach * largest.astype("float32") / HOST.float32(_END)
    end = HOST.minimum(ends.max(), HOST.float32(clip_value_max))
    return HOST.asarray(-end if (least < 0).any() else HOST.float32(0)), HOST.asarray(end)


@kernel("RequantizePerChannel", devices=_CPU)
def requantize_per_channel(
    _: object,
    x: Array,
    low: Array,
    high: Array,
    new_low: Array,
    new_high: Array,
    *,
    T: str,
    out_type: str,
) -> tuple[Array, ...]:
    """Integers of 32 bits requantized to 8 bits in the requested range."""
    del T
    numbers, reach = _pictures(x), _reach(low, high)
    ends = (
        single_number(new_low, "requested_output_min"),
        single_number(new_high, "requested_output_max"),
    )
    if out_type == "qint8" and ends[0] >= 0:
        raise InvalidArgument(f"requested_output_min must be negative for qint8, got {ends[0]}")
    info = HOST.iinfo(integer_dtype(out_type))
    scale = HOST.float32(info.max) * (reach / max(abs(end) for end in ends) / HOST.float32(_END))
    rounded = HOST.rint(numbers.astype("float32") * scale)
    narrowed = HOST.clip(rounded, info.min, info.max).astype(info.dtype)
    return narrowed, *(HOST.asarray(end) for end in ends)
