"""Kernels of windows over quantized pictures: convolution and poolings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.products import product
from sessrun.reference.kernels.quantized_ranges import Levels, integers, scalar
from sessrun.reference.kernels.registry import Attrs, Bind, KernelFunction, binder
from sessrun.reference.kernels.windows import geometry, padded, rows
from sessrun.spec.rules.windows import Axis

_CPU: Final = ("CPU",)


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
