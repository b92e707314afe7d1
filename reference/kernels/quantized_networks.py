"""Kernels of quantized products, sums, activations, concatenation, and of their ranges."""

from __future__ import annotations

from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, ints, scalar_int
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.quantized_ranges import (
    Levels,
    checked_range,
    integers,
    scalar,
    single_number,
)
from sessrun.reference.kernels.registry import kernel

_CPU: Final = ("CPU",)
#: The range of QuantizedBiasAdd's sums is so many times the larger range of its operands.
_HEADROOM: Final = 1 << 17
#: The same for QuantizedAdd.
_ROOM: Final = 1 << 14
#: The fractional bits of the fixed-point numbers by which 32 bits are requantized to 8.
_POINT: Final = 16


def _float(number: Array | float) -> Array:
    return HOST.asarray(number, "float32")


def _of_product(a: Levels, b: Levels) -> tuple[Array, Array]:
    """The range of products, which have 32 bits."""
    info = HOST.iinfo("int32")
    one = a.one() * b.one()
    return _float(one * HOST.float32(info.min)), _float(one * HOST.float32(info.max))


def _centered(quantized: Array, levels: Levels) -> Array:
    """The integers minus that for zero: float64, in which their products are exact."""
    return integers(quantized).astype("float64") - levels.unclamped(0.0)


@kernel("QuantizedMatMul", devices=_CPU)
def quantized_matmul(
    _: ArrayModule,
    a: Array,
    b: Array,
    min_a: Array,
    max_a: Array,
    min_b: Array,
    max_b: Array,
    *,
    transpose_a: bool,
    transpose_b: bool,
    T1: str,
    T2: str,
) -> tuple[Array, Array, Array]:
    """The product of two quantized matrices, in 32 bits."""
    # TensorFlow checks the rank of min_a alone.
    others = [end.reshape(()) if end.size == 1 else end for end in (max_a, min_b, max_b)]
    left = Levels(T1, *checked_range(min_a, others[0], "a"))
    right = Levels(T2, *checked_range(others[1], others[2], "b"))
    require_rank(2, a=a, b=b)
    one, other = _centered(a, left), _centered(b, right)
    one, other = one.T if transpose_a else one, other.T if transpose_b else other
    if one.shape[1] != other.shape[0]:
        raise InvalidArgument(f"Matrix size-compatible: In[0]: {a.shape}, In[1]: {b.shape}")
    product = (one @ other).astype("int64").astype("int32")
    return (product, *_of_product(left, right))


@kernel("QuantizedMul", devices=_CPU)
def quantized_mul(
    _: ArrayModule,
    x: Array,
    y: Array,
    min_x: Array,
    max_x: Array,
    min_y: Array,
    max_y: Array,
    *,
    T1: str,
    T2: str,
) -> tuple[Array, Array, Array]:
    """The products of quantized numbers with broadcasting, in 32 bits."""
    left = Levels(T1, *checked_range(min_x, max_x, "x"))
    right = Levels(T2, *checked_range(min_y, max_y, "y"))
    product = _centered(x, left) * _centered(y, right)
    return (product.astype("int64").astype("int32"), *_of_product(left, right))


def _sum_range(one: Levels, other: Levels) -> Levels:
    """The range of sums: symmetric around zero, with headroom for many summands."""
    most = max(one.most, -one.least, other.most, -other.least) * HOST.float32(_HEADROOM)
    return Levels("qint32", -most, most)


@kernel("QuantizedBiasAdd", devices=_CPU)
def quantized_bias_add(
    _: ArrayModule,
    x: Array,
    bias: Array,
    min_x: Array,
    max_x: Array,
    min_bias: Array,
    max_bias: Array,
    *,
    T1: str,
    T2: str,
) -> tuple[Array, Array, Array]:
    """Quantized numbers with a quantized vector added along the last dimension."""
    if x.ndim < 2 or bias.ndim != 1 or bias.shape[0] != x.shape[-1]:
        raise InvalidArgument(
            f"Must provide as many biases as the last dimension of the "
            f"input tensor: {bias.shape} vs. {x.shape}"
        )
    left = Levels(T1, scalar(min_x, "min_input"), scalar(max_x, "max_input"))
    right = Levels(T2, scalar(min_bias, "min_bias"), scalar(max_bias, "max_bias"))
    total = _sum_range(left, right)
    one, other = (
        total.roughly_quantized(levels.roughly(integers(operand))).astype("int64")
        for levels, operand in ((left, x), (right, bias))
    )
    total_levels = one + other + int(total.quantized(0.0))
    return total_levels.astype("int32"), _float(total.least), _float(total.most)


def _terms(values: Array, levels: Levels, total: Levels) -> Array:
    """Quantized numbers in the range of sums, by linear extrapolation from the levels 0 and 1."""
    first, second = (int(total.unclamped(levels.numbers(HOST.asarray(level)))) for level in (0, 1))
    levels_of_sum = first + integers(values).astype("int64") * (second - first)
    return HOST.clip(levels_of_sum, total.lowest, total.highest)


@kernel("QuantizedAdd", devices=_CPU)
def quantized_add(
    _: ArrayModule,
    x: Array,
    y: Array,
    min_x: Array,
    max_x: Array,
    min_y: Array,
    max_y: Array,
    *,
    T1: str,
    T2: str,
) -> tuple[Array, Array, Array]:
    """The sums of quantized numbers with broadcasting, in 32 bits.

    A single number is requantized exactly, not by linear extrapolation.
    """
    left = Levels(T1, *checked_range(min_x, max_x, "x"))
    right = Levels(T2, *checked_range(min_y, max_y, "y"))
    least, most = min(left.least, right.least), max(left.most, right.most)
    end = max(abs(least), abs(most)) * HOST.float32(_ROOM)
    total = Levels("qint32", -end, end)
    alone = 0 if x.size == 1 else 1 if y.size == 1 else None
    one, other = (
        total.quantized(levels.numbers(integers(operand))).astype("int64")
        if number == alone
        else _terms(operand, levels, total)
        for number, (levels, operand) in enumerate(((left, x), (right, y)))
    )
    return (one + other).astype("int32"), _float(total.least), _float(total.most)


def _limited(
    x: Array, ends: tuple[Array, Array], dtype: str, most: float | None = None
) -> tuple[Array, Array, Array]:
    levels = Levels(dtype, *ends)
    limited = HOST.maximum(integers(x), levels.quantized(0.0))
    if most is not None:
        limited = HOST.minimum(limited, levels.quantized(most))
    return limited, _float(levels.least), _float(levels.most)


@kernel("QuantizedRelu", devices=_CPU)
def quantized_relu(
    _: ArrayModule,
    x: Array,
    low: Array,
    high: Array,
    *,
    Tinput: str,
) -> tuple[Array, Array, Array]:
    """max(x, 0) of quantized numbers."""
    return _limited(x, (scalar(low, "min_input"), scalar(high, "max_input")), Tinput)


@kernel("QuantizedRelu6", devices=_CPU)
def quantized_relu6(
    _: ArrayModule,
    x: Array,
    low: Array,
    high: Array,
    *,
    Tinput: str,
) -> tuple[Array, Array, Array]:
    """min(max(x, 0), 6) of quantized numbers."""
    return _limited(x, (scalar(low, "min_input"), scalar(high, "max_input")), Tinput, 6.0)


@kernel("QuantizedReshape", devices=_CPU)
def quantized_reshape(
    _: ArrayModule, x: Array, shape: Array, low: Array, high: Array
) -> tuple[Array, Array, Array]:
    """Quantized numbers in another shape."""
    ends = _float(single_number(low, "input_min")), _float(single_number(high, "input_max"))
    if shape.ndim > 1:
        raise InvalidArgument(f"shape must be a vector: {shape.shape}")
    wanted = ints(shape)
    if wanted.count(-1) > 1 or any(dim < -1 for dim in wanted):
        raise InvalidArgument(f"size must be non-negative, and one -1: {wanted}")
    return (integers(x).reshape(wanted), *ends)


@kernel("QuantizedConcat", devices=_CPU)
def quantized_concat(
    _: ArrayModule,
    axis: Array,
    *rest: Array,
    N: int,
    T: str,
) -> tuple[Array, Array, Array]:
    """Quantized tensors concatenated along a dimension, in a range that contains all of theirs."""
    parts, lows, highs = rest[:N], rest[N : 2 * N], rest[2 * N :]
    ends = [
        (single_number(low, "input_min"), single_number(high, "input_max"))
        for low, high in zip(lows, highs, strict=True)
    ]
    least = min(HOST.float32(0), *(low for low, _ in ends))
    most = max(high for _, high in ends)
    if T in {"qint8", "qint16", "qint32"}:
        most = max(abs(least), abs(most))
        least = -most
    levels = Levels(T, least, most)
    requantized = [
        integers(part)
        if (low, high) == (least, most)
        else levels.quantized(Levels(T, low, high).numbers(integers(part)))
        for part, (low, high) in zip(parts, ends, strict=True)
    ]
    require_rank(0, axis=axis)
    dim = scalar_int(axis)
    if not all(-part.ndim <= dim < part.ndim for part in requantized):
        raise InvalidArgument(f"concat_dim is out of range: {dim}")
    return HOST.concatenate(requantized, axis=dim), _float(least), _float(most)


def _used(x: Array, levels: Levels) -> tuple[Array, Array]:
    """The range of the numbers, extended to contain zero."""
    inner = integers(x)
    if not inner.size:  # as in TensorFlow, for any range
        return HOST.float32(0), levels.least
    low, high = levels.numbers(inner.min()), levels.numbers(inner.max())
    return min(HOST.float32(0), HOST.float32(low)), HOST.float32(high)


@kernel("RequantizationRange", devices=_CPU)
def requantization_range(
    _: ArrayModule,
    x: Array,
    low: Array,
    high: Array,
    *,
    Tinput: str,
) -> tuple[Array, Array]:
    """The range of quantized numbers, extended to contain zero."""
    levels = Levels(Tinput, low.reshape(-1)[0], high.reshape(-1)[0])
    least, most = _used(x, levels)
    return _float(least), _float(most)


def _narrowed(x: Array, have: tuple[Array, Array], want: tuple[Array, Array]) -> Array:
    """Numbers of 32 bits requantized to bytes in another range, in integers as in TensorFlow."""
    low, high = (float(end) for end in have)
    spread, wanted = HOST.float32(have[1] - have[0]), HOST.float32(want[1] - want[0])
    if wanted == 0:
        return HOST.zeros(x.shape, "uint8")
    recip = HOST.float32(255.0 / float(wanted))
    middle = HOST.float32((low + high) / 2.0)
    scale = int(255.0 * (1 << _POINT) * float(spread) / float(wanted))
    offset = int(middle * recip * HOST.float32(1 << _POINT))
    exact = (1 << _POINT) * (float(want[0]) * 255.0) / float(wanted)
    bottom = int(HOST.copysign(HOST.floor(abs(exact) + 0.5), exact))
    value = (integers(x).astype("int64") * scale >> 32) + offset - bottom
    return HOST.clip(value + (1 << _POINT - 1) >> _POINT, 0, 255).astype("uint8")


@kernel("Requantize", devices=_CPU)
def requantize(
    _: ArrayModule, x: Array, low: Array, high: Array, new_low: Array, new_high: Array
) -> tuple[Array, Array, Array]:
    """Numbers of 32 bits requantized to bytes in the requested range."""
    have = scalar(low, "input_min"), scalar(high, "input_max")
    want = (scalar(new_low, "requested_output_min"), scalar(new_high, "requested_output_max"))
    if want[0] > 0:
        raise InvalidArgument(f"requested_output_min must be <= 0, but got {want[0]}")
    if want[1] < want[0]:
        raise InvalidArgument(
            f"requested_output_max must be >= requested_output_min, but got {want[1]} and {want[0]}"
        )
    return _narrowed(x, have, want), _float(want[0]), _float(want[1])


@kernel("QuantizeDownAndShrinkRange", devices=_CPU)
def quantize_down(
    _: ArrayModule,
    x: Array,
    low: Array,
    high: Array,
    *,
    Tinput: str,
) -> tuple[Array, Array, Array]:
    """Numbers of 32 bits requantized to bytes in their own range."""
    have = scalar(low, "input_min"), scalar(high, "input_max")
    want = _used(x, Levels(Tinput, *have))
    return _narrowed(x, have, want), _float(want[0]), _float(want[1])
