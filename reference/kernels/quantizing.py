"""Kernels that quantize numbers, dequantize them, or do both at once."""

from __future__ import annotations

from typing import Any, Final

from sessrun.reference.base.arrays import Array, ArrayModule, DType
from sessrun.reference.base.attributes import AttrValues
from sessrun.reference.base.kernel_errors import InvalidArgument, Unimplemented
from sessrun.reference.kernels.host import HOST, scalar_int
from sessrun.reference.kernels.input_shapes import require_same_shape
from sessrun.reference.kernels.quantized_ranges import integer_dtype, integers
from sessrun.reference.kernels.registry import Attrs, Bind, KernelFunction, binder, kernel

_CPU: Final = ("CPU",)
_MOST: Final = HOST.float32(HOST.finfo("float32").max)
#: The greatest number of bits in quantizing and dequantizing at once.
_MOST_BITS: Final = 62


def _away(numbers: Array) -> Array:
    """The nearest integers, halves away from zero."""
    half = numbers.dtype.type(0.5)
    return HOST.copysign(HOST.floor(HOST.abs(numbers) + half), numbers)


def _word(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _ends(value: Array, ndim: int, axis: int, sizes: tuple[int, ...], name: str) -> Array:
    """An end of the range per slice along the axis, shaped to broadcast; a scalar for axis -1."""
    if axis == -1:
        if value.size != 1:
            raise InvalidArgument(
                f"{name} must be a scalar if axis is not specified: {value.shape}"
            )
        return value.reshape(())
    if axis >= ndim or axis < -1:
        raise InvalidArgument(f"Axis must be less than input dimension({ndim}), got {axis}")
    if value.ndim != 1 or value.size != sizes[axis]:
        raise InvalidArgument(f"{name} was given as {value.shape}, axis {axis} has {sizes[axis]}")
    return value.reshape([-1 if dim == axis else 1 for dim in range(ndim)])


@binder("QuantizeV2", devices=_CPU)
def quantize(bind: Bind) -> KernelFunction:
    """The integers of numbers, and the range that they represent."""
    attrs: AttrValues = {
        name: _word(value) if isinstance(value, bytes) else value
        for name, value in bind.attrs.items()
    }
    kind, mode, axis = integer_dtype(attrs["T"]), attrs["mode"], attrs["axis"]
    if attrs["round_mode"] == "HALF_TO_EVEN" and mode != "SCALED":
        raise InvalidArgument("Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED'")
    if axis < -1:
        raise InvalidArgument(f"Axis must be at least -1. Found {axis}")
    if mode == "MIN_FIRST" and axis != -1:
        raise Unimplemented("MIN_FIRST mode is not implemented for Quantize with axis != -1.")
    compute = {"MIN_COMBINED": _combined, "MIN_FIRST": _first, "SCALED": _scaled}[mode]

    def run(x: Array, low: Array, high: Array) -> tuple[Array, Array, Array]:
        least = _ends(low, x.ndim, axis, x.shape, "min_range")
        most = _ends(high, x.ndim, axis, x.shape, "max_range")
        if (least > most).any():
            raise InvalidArgument(f"min_range must be less than max_range: {low}, {high}")
        bottom = HOST.minimum(HOST.float32(0), least)
        size = HOST.maximum(HOST.float32(1), HOST.maximum(HOST.abs(least), HOST.abs(most)))
        apart = size * HOST.float32(attrs["ensure_minimum_range"])
        top = HOST.maximum(HOST.float32(0), HOST.maximum(most, bottom + apart))
        integers_of_x, bottom, top = compute(x, bottom, top, kind, attrs)
        shape = low.shape if axis >= 0 and low.size > 1 else ()
        return integers_of_x, bottom.reshape(shape), top.reshape(shape)

    return run


def _combined(
    x: Array, low: Array, high: Array, kind: DType, _: object
) -> tuple[Array, Array, Array]:
    info = HOST.iinfo(kind)
    spread = float(info.max) - float(info.min)
    scale = (spread / (high - low).astype("float64")).astype("float32")
    inner = (HOST.maximum(HOST.minimum(x, high), low) - low) * scale
    half = HOST.float32(0.5)
    steps = _away(inner - HOST.float32(spread + 1) * half) if info.min else inner + half
    return steps.astype("int64").astype(kind), low, high


def _first(x: Array, low: Array, high: Array, kind: DType, _: object) -> tuple[Array, Array, Array]:
    info = HOST.iinfo(kind)
    steps = float(1 << info.bits)
    spread = (high - low).astype("float64") * (steps / (steps - 1.0))
    scale = (steps / spread).astype("float32")
    numbers = _away(x * scale).astype("float64")
    numbers = numbers - (_away(low * scale).astype("float64") - info.min)
    return HOST.clip(numbers, info.min, info.max).astype(kind), low, high


def _scaled(
    x: Array, low: Array, high: Array, kind: DType, attrs: Attrs
) -> tuple[Array, Array, Array]:
    info = HOST.iinfo(kind)
    least, most = HOST.float32(info.min + bool(attrs["narrow_range"])), HOST.float32(info.max)
    one = HOST.float32(1)
    by_low = HOST.where(least * low > 0, least / HOST.where(low == 0, one, low), _MOST)
    by_high = HOST.where(most * high > 0, most / HOST.where(high == 0, one, high), _MOST)
    scale = HOST.minimum(by_low, by_high)
    low, high = HOST.asarray(least / scale), HOST.asarray(most / scale)
    inner = HOST.maximum(HOST.minimum(x, high), low) * scale
    steps = HOST.rint(inner) if attrs["round_mode"] == "HALF_TO_EVEN" else _away(inner)
    return steps.astype("int64").astype(kind), low, high


@binder("Dequantize", devices=_CPU)
def dequantize(bind: Bind) -> KernelFunction:
    """The numbers that quantized integers represent."""
    attrs = bind.attrs
    kind, mode, axis = integer_dtype(attrs["T"]), _word(attrs["mode"]), attrs["axis"]
    info = HOST.iinfo(kind)
    least, most = float(info.min), float(info.max)
    if attrs["dtype"] == "bfloat16" and mode != "MIN_COMBINED":
        raise InvalidArgument(
            f"When output type is bfloat16, Mode string must be 'MIN_COMBINED', is '{mode}'"
        )
    if mode == "MIN_FIRST" and axis != -1:
        raise Unimplemented("MIN_FIRST mode is not implemented for Dequantize with axis != -1.")

    def run(quantized: Array, low: Array, high: Array) -> Array:
        x = integers(quantized)
        bottom = _ends(low, x.ndim, axis, x.shape, "min_range")
        top = _ends(high, x.ndim, axis, x.shape, "max_range")
        if mode == "MIN_COMBINED":
            half = HOST.float32((most - least + 1) / 2 if least else 0)
            scale = (top - bottom) / HOST.float32(most - least)
            numbers = (x.astype("float32") + half) * scale + bottom
        elif mode == "MIN_FIRST":
            numbers = _from_first(x, bottom, top, info)
        else:
            lowest = HOST.float32(least + bool(attrs["narrow_range"]))
            by_high = top / HOST.float32(most)
            scale = HOST.maximum(bottom / lowest, by_high) if least else by_high
            numbers = x.astype("float32") * scale
        return numbers.astype(attrs["dtype"])

    return run


def _from_first(x: Array, low: Array, high: Array, info: Any) -> Array:
    steps = float(1 << info.bits)
    spread = (high - low).astype("float64") * (steps / (steps - 1.0))
    step = (spread / steps).astype("float32")
    some = HOST.where(step == 0, HOST.float32(1), step)
    bottom = HOST.where(high == low, low, _away(low / some) * step)
    above: Array = (x.astype("float64") - info.min).astype("float32")
    return bottom + above * step


@kernel("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4", devices=_CPU)
def quantize_and_dequantize(
    _: ArrayModule,
    x: Array,
    low: Array,
    high: Array,
    *,
    signed_input: bool,
    num_bits: int,
    range_given: bool,
    round_mode: str,
    narrow_range: bool,
    axis: int,
) -> Array:
    """Numbers quantized and dequantized: rounded to the levels of a range."""
    how = (signed_input, num_bits, range_given, narrow_range, axis)
    return _both(x, low, high, _word(round_mode), how)


@kernel("QuantizeAndDequantize", devices=_CPU)
def quantize_and_dequantize_between(
    _: ArrayModule,
    x: Array,
    *,
    signed_input: bool,
    num_bits: int,
    range_given: bool,
    input_min: float,
    input_max: float,
) -> Array:
    """As `QuantizeAndDequantizeV2`, with the ends of the range as attributes."""
    low, high = (HOST.asarray(end, dtype=x.dtype) for end in (input_min, input_max))
    return _both(x, low, high, "HALF_TO_EVEN", (signed_input, num_bits, range_given, False, -1))


@kernel("QuantizeAndDequantizeV3", devices=_CPU)
def quantize_and_dequantize_v3(
    _: ArrayModule,
    x: Array,
    low: Array,
    high: Array,
    num_bits: Array,
    *,
    signed_input: bool,
    range_given: bool,
    narrow_range: bool,
    axis: int,
) -> Array:
    """As `QuantizeAndDequantizeV2`, with the number of bits as an input."""
    if num_bits.size != 1:
        raise InvalidArgument(f"Invalid shape for num_bits: {num_bits.shape}")
    how = (signed_input, scalar_int(num_bits), range_given, narrow_range, axis)
    return _both(x, low, high, "HALF_TO_EVEN", how, is_checked=axis < 0)


def _both(
    x: Array,
    low: Array,
    high: Array,
    round_mode: str,
    how: tuple[bool, int, bool, bool, int],
    is_checked: bool = True,
) -> Array:
    signed, bits, is_given, narrow, axis = how
    if not 0 < bits <= _MOST_BITS - bool(signed):
        raise InvalidArgument(f"num_bits is out of range: {bits} with signed_input {signed}")
    if is_given:
        least, most = (
            _ends(end, x.ndim, axis, x.shape, name)
            for end, name in ((low, "input_min"), (high, "input_max"))
        )
        if is_checked and (least > most).any():
            raise InvalidArgument(f"Invalid range: input_min {low} > input_max {high}")
    else:
        if axis >= x.ndim:
            raise InvalidArgument(f"Shape must be at least rank {axis + 1}: {x.shape}")
        if not x.size:
            return x
        axes = tuple(dim for dim in range(x.ndim) if dim != axis) if axis >= 0 else None
        least = HOST.asarray(HOST.min(x, axis=axes, keepdims=axis >= 0))
        most = HOST.asarray(HOST.max(x, axis=axes, keepdims=axis >= 0))
    bounds = (-(1 << (bits - 1)) + bool(narrow) if signed else 0, (1 << (bits - int(signed))) - 1)
    least, most, scale, inverse = _scales(least, most, bounds)
    inner = HOST.maximum(HOST.minimum(x, most), least) if is_given else x
    scaled = inner * scale
    half = x.dtype.type(0.5)
    steps = HOST.floor(scaled + half) if round_mode == "HALF_UP" else HOST.rint(scaled)
    return (steps * inverse).astype(x.dtype)


def _scales(low: Array, high: Array, bounds: tuple[int, int]) -> tuple[Array, Array, Array, Array]:
    """The range with zero as a level, and the factors from numbers to integers and back."""
    kind = low.dtype.type
    least, most = kind(bounds[0]), kind(bounds[1])
    info = HOST.finfo(low.dtype) if low.dtype.kind == "f" else None
    greatest = kind(info.max) if info is not None else kind(3.3895313892515355e38)
    one = kind(1)
    by_low = HOST.where(least * low > 0, least / HOST.where(low == 0, one, low), greatest)
    by_high = HOST.where(most * high > 0, most / HOST.where(high == 0, one, high), greatest)
    is_low = by_low < by_high
    inverse = HOST.where(is_low, low / (least or one), high / most)
    results = (
        HOST.where(is_low, low, least * inverse),
        HOST.where(is_low, most * inverse, high),
        HOST.where(is_low, by_low, by_high),
        inverse,
    )
    least, most, scale, inverse = (result.astype(low.dtype) for result in results)
    return least, most, scale, inverse


@kernel("QuantizeAndDequantizeV4Grad", devices=_CPU)
def quantize_and_dequantize_grad(
    _: ArrayModule, grads: Array, x: Array, low: Array, high: Array, *, axis: int
) -> tuple[Array, Array, Array]:
    """The gradient by the numbers, zero outside of the range, and zeros for the ends."""
    require_same_shape(grads=grads, x=x)
    least = _ends(low, x.ndim, axis, x.shape, "input_min")
    most = _ends(high, x.ndim, axis, x.shape, "input_max")
    inside = (x >= least) & (x <= most)
    return (
        grads * inside.astype(grads.dtype),
        HOST.zeros(low.shape, low.dtype),
        HOST.zeros(high.shape, high.dtype),
    )
