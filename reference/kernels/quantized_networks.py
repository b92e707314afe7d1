"""Kernels that compute with quantized numbers: products, sums, activations, poolings, ranges."""

from __future__ import annotations

from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST, ints, scalar_int
from sessrun.reference.kernels.quantized_ranges import (
    Levels,
    checked_range,
    integers,
    scalar,
    single_number,
)
from sessrun.reference.kernels.registry import kernel

__all__: list[str] = []

_CPU: Final = ("CPU",)
#: How many times the range of sums is larger than the larger of two ranges.
_HEADROOM: Final = 1 << 17
#: The same of sums of two tensors.
_ROOM: Final = 1 << 14
#: Bits behind the point of the numbers by which 32 bits are made 8.
_POINT: Final = 16


def _float(number: Any) -> Any:
    return HOST.asarray(number, "float32")


def _of_product(a: Levels, b: Levels) -> tuple[Any, Any]:
    """The range of products, of which each is a sum of 32 bits."""
    info = HOST.iinfo("int32")
    one = a.one() * b.one()
    return _float(one * HOST.float32(info.min)), _float(one * HOST.float32(info.max))


def _centered(quantized: Any, levels: Levels) -> Any:
    """The integers less what stands for zero: float64, in which their products are exact."""
    return integers(quantized).astype("float64") - levels.unclamped(0.0)


@kernel("QuantizedMatMul", devices=_CPU)
def quantized_matmul(
    _: Any,
    a: Any,
    b: Any,
    min_a: Any,
    max_a: Any,
    min_b: Any,
    max_b: Any,
    *,
    transpose_a: bool,
    transpose_b: bool,
    T1: str,  # noqa: N803
    T2: str,  # noqa: N803 - the attributes' names
) -> Any:
    """The product of two quantized matrices, 32 bits of it."""
    # TensorFlow checks the rank of min_a alone.
    others = [end.reshape(()) if end.size == 1 else end for end in (max_a, min_b, max_b)]
    left = Levels(T1, *checked_range(min_a, others[0], "a"))
    right = Levels(T2, *checked_range(others[1], others[2], "b"))
    if a.ndim != 2 or b.ndim != 2:
        raise InvalidArgument(f"In[0] and In[1] must be matrices: {a.shape}, {b.shape}")
    one, other = _centered(a, left), _centered(b, right)
    one, other = one.T if transpose_a else one, other.T if transpose_b else other
    if one.shape[1] != other.shape[0]:
        raise InvalidArgument(f"Matrix size-compatible: In[0]: {a.shape}, In[1]: {b.shape}")
    product = (one @ other).astype("int64").astype("int32")
    return (product, *_of_product(left, right))


@kernel("QuantizedMul", devices=_CPU)
def quantized_mul(
    _: Any,
    x: Any,
    y: Any,
    min_x: Any,
    max_x: Any,
    min_y: Any,
    max_y: Any,
    *,
    T1: str,  # noqa: N803
    T2: str,  # noqa: N803 - the same
) -> Any:
    """The products of quantized numbers, with broadcasting, 32 bits of them."""
    left = Levels(T1, *checked_range(min_x, max_x, "x"))
    right = Levels(T2, *checked_range(min_y, max_y, "y"))
    product = _centered(x, left) * _centered(y, right)
    return (product.astype("int64").astype("int32"), *_of_product(left, right))


def _sum_range(one: Levels, other: Levels) -> Levels:
    """The range of sums: even on both sides of zero, with room for many of them."""
    most = max(one.most, -one.least, other.most, -other.least) * HOST.float32(_HEADROOM)
    return Levels("qint32", -most, most)


@kernel("QuantizedBiasAdd", devices=_CPU)
def quantized_bias_add(
    _: Any,
    x: Any,
    bias: Any,
    min_x: Any,
    max_x: Any,
    min_bias: Any,
    max_bias: Any,
    *,
    T1: str,  # noqa: N803
    T2: str,  # noqa: N803 - the same
) -> Any:
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
        total.roughly_quantized(levels.roughly(integers(each))).astype("int64")
        for levels, each in ((left, x), (right, bias))
    )
    found = one + other + int(total.quantized(0.0))
    return found.astype("int32"), _float(total.least), _float(total.most)


def _terms(values: Any, levels: Levels, total: Levels) -> Any:
    """Quantized numbers in the range of sums, by the first and the step between two neighbours."""
    first, second = (int(total.unclamped(levels.numbers(HOST.asarray(each)))) for each in (0, 1))
    found = first + integers(values).astype("int64") * (second - first)
    return HOST.clip(found, total.lowest, total.highest)


@kernel("QuantizedAdd", devices=_CPU)
def quantized_add(
    _: Any,
    x: Any,
    y: Any,
    min_x: Any,
    max_x: Any,
    min_y: Any,
    max_y: Any,
    *,
    T1: str,  # noqa: N803
    T2: str,  # noqa: N803 - the same
) -> Any:
    """The sums of quantized numbers, with broadcasting, 32 bits of them.

    A single number is put into the range of sums by itself, not by the step between neighbours.
    """
    left = Levels(T1, *checked_range(min_x, max_x, "x"))
    right = Levels(T2, *checked_range(min_y, max_y, "y"))
    least, most = min(left.least, right.least), max(left.most, right.most)
    end = max(abs(least), abs(most)) * HOST.float32(_ROOM)
    total = Levels("qint32", -end, end)
    alone = 0 if x.size == 1 else 1 if y.size == 1 else None
    one, other = (
        total.quantized(levels.numbers(integers(each))).astype("int64")
        if place == alone
        else _terms(each, levels, total)
        for place, (levels, each) in enumerate(((left, x), (right, y)))
    )
    return (one + other).astype("int32"), _float(total.least), _float(total.most)


def _limited(x: Any, ends: tuple[Any, Any], dtype: str, most: Any = None) -> Any:
    levels = Levels(dtype, *ends)
    found = HOST.maximum(integers(x), levels.quantized(0.0))
    if most is not None:
        found = HOST.minimum(found, levels.quantized(most))
    return found, _float(levels.least), _float(levels.most)


@kernel("QuantizedRelu", devices=_CPU)
def quantized_relu(
    _: Any,
    x: Any,
    low: Any,
    high: Any,
    *,
    Tinput: str,  # noqa: N803 - the same
) -> Any:
    """Quantized numbers, but not below zero."""
    return _limited(x, (scalar(low, "min_input"), scalar(high, "max_input")), Tinput)


@kernel("QuantizedRelu6", devices=_CPU)
def quantized_relu6(
    _: Any,
    x: Any,
    low: Any,
    high: Any,
    *,
    Tinput: str,  # noqa: N803 - the same
) -> Any:
    """Quantized numbers, but not below zero nor above 6."""
    return _limited(x, (scalar(low, "min_input"), scalar(high, "max_input")), Tinput, 6.0)


@kernel("QuantizedReshape", devices=_CPU)
def quantized_reshape(_: Any, x: Any, shape: Any, low: Any, high: Any) -> Any:
    """Quantized numbers in another shape."""
    ends = _float(single_number(low, "input_min")), _float(single_number(high, "input_max"))
    if shape.ndim > 1:
        raise InvalidArgument(f"shape must be a vector: {shape.shape}")
    wanted = ints(shape)
    if wanted.count(-1) > 1 or any(dim < -1 for dim in wanted):
        raise InvalidArgument(f"size must be non-negative, and one -1: {wanted}")
    return (integers(x).reshape(wanted), *ends)


@kernel("QuantizedConcat", devices=_CPU)
def quantized_concat(_: Any, axis: Any, *rest: Any, N: int, T: str) -> Any:  # noqa: N803 - the same
    """Quantized tensors joined along a dimension, in a range that holds all of theirs."""
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
    whole = Levels(T, least, most)
    found = [
        integers(part)
        if (low, high) == (least, most)
        else whole.quantized(Levels(T, low, high).numbers(integers(part)))
        for part, (low, high) in zip(parts, ends, strict=True)
    ]
    if axis.ndim:
        raise InvalidArgument(f"Concat dim tensor should be a scalar integer: {axis.shape}")
    place = scalar_int(axis)
    if not all(-each.ndim <= place < each.ndim for each in found):
        raise InvalidArgument(f"concat_dim is out of range: {place}")
    return HOST.concatenate(found, axis=place), _float(least), _float(most)


def _used(x: Any, levels: Levels) -> tuple[Any, Any]:
    """The range that the numbers need, which zero is in."""
    inner = integers(x)
    if not inner.size:  # so TensorFlow has it, whatever the range is
        return HOST.float32(0), levels.least
    low, high = levels.numbers(inner.min()), levels.numbers(inner.max())
    return min(HOST.float32(0), HOST.float32(low)), HOST.float32(high)


@kernel("RequantizationRange", devices=_CPU)
def requantization_range(
    _: Any,
    x: Any,
    low: Any,
    high: Any,
    *,
    Tinput: str,  # noqa: N803 - the same
) -> Any:
    """The range that quantized numbers need."""
    levels = Levels(Tinput, low.reshape(-1)[0], high.reshape(-1)[0])
    least, most = _used(x, levels)
    return _float(least), _float(most)


def _narrowed(x: Any, have: tuple[Any, Any], want: tuple[Any, Any]) -> Any:
    """Bytes of numbers of 32 bits, in another range: by integers alone, as TensorFlow has it."""
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
def requantize(_: Any, x: Any, low: Any, high: Any, new_low: Any, new_high: Any) -> Any:
    """Numbers of 32 bits as bytes of a range that is asked for."""
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
    _: Any,
    x: Any,
    low: Any,
    high: Any,
    *,
    Tinput: str,  # noqa: N803 - the same
) -> Any:
    """Numbers of 32 bits as bytes of the range that they need."""
    have = scalar(low, "input_min"), scalar(high, "input_max")
    want = _used(x, Levels(Tinput, *have))
    return _narrowed(x, have, want), _float(want[0]), _float(want[1])
