"""Kernels of quantized pictures: of ranges for each channel, normalized, resized, of windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.products import product
from sessrun.reference.kernels.quantized_ranges import (
    Levels,
    checked_range,
    integer_dtype,
    integers,
    scalar,
    single_number,
)
from sessrun.reference.kernels.registry import Attrs, Bind, KernelFunction, binder, kernel
from sessrun.reference.kernels.resizing import checked_size, halves, positions
from sessrun.reference.kernels.windows import geometry, padded, rows
from sessrun.spec.rules.windows import Axis

_CPU: Final = ("CPU",)
#: The fractional bits of interpolation weights, and the dtype in which pixels are interpolated.
_POINTS: Final = {"uint8": (7, "int32"), "int32": (30, "int64")}


@kernel("QuantizedInstanceNorm", devices=_CPU)
def quantized_instance_norm(
    _: ArrayModule,
    x: Array,
    low: Array,
    high: Array,
    *,
    T: str,
    output_range_given: bool,
    given_y_min: float,
    given_y_max: float,
    variance_epsilon: float,
    min_separation: float,
) -> tuple[Array, Array, Array]:
    """Each channel of each picture normalized to mean 0 and variance 1, in a given or new range."""
    require_rank(4, x=x)
    if output_range_given and given_y_min >= given_y_max:
        raise InvalidArgument("given_y_min must be less than given_y_max")
    least, most = checked_range(low, high, "x")
    scale = (most - least) / HOST.float32(255)
    numbers = integers(x).astype("float32")
    numbers -= numbers.mean(axis=(1, 2), keepdims=True, dtype="float32")
    numbers *= scale
    variance = HOST.square(numbers).mean(axis=(1, 2), keepdims=True, dtype="float32")
    numbers /= HOST.sqrt(variance + HOST.float32(variance_epsilon))
    first, last = HOST.float32(given_y_min), HOST.float32(given_y_max)
    if not output_range_given:
        first, last = numbers.min(), numbers.max()
    if last - first < HOST.float32(min_separation):
        last = first + HOST.float32(min_separation)
    quantized = Levels(T, first, last).roughly_quantized(numbers)
    return quantized, HOST.asarray(first), HOST.asarray(last)


def _divided(numbers: Array, bits: int) -> Array:
    """Integers divided by a power of 2, truncated toward zero."""
    rest: Array = numbers.dtype.type((1 << bits) - 1)
    return numbers + (numbers < 0) * rest >> bits


def _mixed(
    image: Array, rows: tuple[Array, Array, Array], columns: tuple[Array, Array, Array]
) -> Array:
    """Bilinear interpolation of four neighbours, in integers for a picture of integers.

    Rows are interpolated horizontally first. Each of the dozen steps is a pass over the
    picture in wider integers: 3.5 times the time of TensorFlow, which fuses them.
    """
    upper, lower, down = rows
    left, right, across = columns
    down, across = down[:, None, None], across[None, :, None]
    if image.dtype == "float32":
        lines = image[:, left]
        lines += (image[:, right] - lines) * across
        return lines[upper] + (lines[lower] - lines[upper]) * down
    bits, wide = _POINTS[image.dtype.name]
    down, across = ((share * HOST.float32(1 << bits)).astype(wide) for share in (down, across))
    pixels = image.astype(wide)
    lines = pixels[:, left]
    lines = (lines << bits) + (pixels[:, right] - lines) * across
    mixed = lines[upper]
    mixed += _divided(lines[lower] - mixed, bits) * down
    mixed += 1 << bits - 1
    return _divided(mixed, bits).astype(image.dtype)


@kernel("QuantizedResizeBilinear", host_inputs=("size",), devices=_CPU)
def quantized_resize_bilinear(
    _: ArrayModule,
    images: Array,
    size: Array,
    low: Array,
    high: Array,
    *,
    align_corners: bool,
    half_pixel_centers: bool,
) -> tuple[Array, Array, Array]:
    """Quantized pictures resized, in the same range."""
    ends = HOST.asarray(scalar(low, "min")), HOST.asarray(scalar(high, "max"))
    height, width = checked_size(images, size)
    pixels = integers(images)
    have = pixels.shape[1:3]
    if (height, width) == have:
        return pixels, *ends
    rows, columns = (
        halves(positions(old, new, align_corners, half_pixel_centers), old)
        for old, new in zip(have, (height, width), strict=True)
    )
    resized = HOST.empty((len(pixels), height, width, pixels.shape[3]), pixels.dtype)
    for number, image in enumerate(pixels):
        resized[number] = _mixed(image, rows, columns)
    return resized, *ends


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
    _: ArrayModule,
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
    _: ArrayModule,
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


@binder("QuantizedConv2D", devices=_CPU)
def quantized_convolution(bind: Bind) -> KernelFunction:
    """The convolution of quantized pictures by quantized filters, in 32 bits."""
    attrs = bind.attrs

    def compute(
        x: Array, filters: Array, low: Array, high: Array, low_filter: Array, high_filter: Array
    ) -> tuple[Array, ...]:
        if x.ndim != 4 or filters.ndim != 4 or x.shape[3] != filters.shape[2]:
            raise InvalidArgument(
                f"input and filter must be 4-dimensional and have the "
                f"same depth: {x.shape}, {filters.shape}"
            )
        left = Levels(attrs["Tinput"], scalar(low, "min_input"), scalar(high, "max_input"))
        right = Levels(
            attrs["Tfilter"], scalar(low_filter, "min_filter"), scalar(high_filter, "max_filter")
        )
        along = _along(x.shape, filters.shape[:2], attrs)
        # The integers for zero are subtracted first, so that padding is 0: float64 is exact here.
        images = padded(HOST, integers(x).astype("float64") - left.unclamped(0.0), along)
        matrix = integers(filters).astype("float64") - right.unclamped(0.0)
        sums = product(HOST, rows(HOST, images, along), matrix.reshape(-1, filters.shape[3]))
        shape = (x.shape[0], *(axis.out for axis in along), filters.shape[3])
        one = left.one() * right.one()
        info = HOST.iinfo("int32")
        ends = [HOST.asarray(one * HOST.float32(end)) for end in (info.min, info.max)]
        return (sums.reshape(shape).astype("int64").astype("int32"), *ends)

    return compute


def _along(shape: Sequence[int], window: Sequence[int], attrs: Attrs) -> tuple[Axis, ...]:
    padding = attrs["padding"]
    padding = padding.decode() if isinstance(padding, bytes) else padding
    return geometry(shape[1:-1], window, attrs["strides"], (1,) * 4, padding)


def _pooled(bind: Bind, fold: Callable[[Array, tuple[Axis, ...]], Array]) -> KernelFunction:
    attrs = bind.attrs

    def compute(x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        require_rank(4, tensor_in=x)
        ends = [
            HOST.asarray(scalar(end, name), "float32")
            for end, name in ((low, "min_input"), (high, "max_input"))
        ]
        along = _along(x.shape, attrs["ksize"][1:3], attrs)
        return (fold(integers(x), along), *ends)

    return compute


def _windows(x: Array, along: tuple[Axis, ...], around: int) -> Array:
    """The integers of all windows: [batch, rows, columns, window, channels]."""
    windows = rows(HOST, padded(HOST, x, along, around), along)
    positions = [axis.out for axis in along]
    return windows.reshape(x.shape[0], *positions, -1, x.shape[3])


@binder("QuantizedMaxPool", devices=_CPU)
def quantized_max_pool(bind: Bind) -> KernelFunction:
    """The maximum of each window of quantized pictures."""
    return _pooled(bind, lambda x, along: _windows(x, along, HOST.iinfo(x.dtype).min).max(axis=3))


@binder("QuantizedAvgPool", devices=_CPU)
def quantized_avg_pool(bind: Bind) -> KernelFunction:
    """The mean of each window of quantized pictures, rounded down."""

    def fold(x: Array, along: tuple[Axis, ...]) -> Array:
        sums = _windows(x.astype("int64"), along, 0).sum(axis=3)
        counts = _windows(HOST.ones((1, *x.shape[1:3], 1), "int64"), along, 0).sum(axis=3)
        return (sums // counts).astype(x.dtype)

    return _pooled(bind, fold)
