"""Convolutions and poolings: windows that slide along the spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from sessrun.adapters.onnxruntime.table import FLOATS, SINGLE, Call, translates
from sessrun.spec.rules.windows import Axis, axes, channel_axis, spatial_axes

__all__ = ["channels_first", "channels_last"]


def channels_first(call: Call, x: str, rank: int) -> str:
    """A tensor of the call's data format as ONNX has it: batch, channels, spatial axes."""
    if channel_axis(call.attrs["data_format"], rank) == 1:
        return x
    return call.emit("Transpose", x, perm=[0, rank - 1, *range(1, rank - 1)])


def channels_last(call: Call, x: str, rank: int) -> str:
    """A result of ONNX in the call's data format."""
    if channel_axis(call.attrs["data_format"], rank) == 1:
        return x
    return call.emit("Transpose", x, perm=[0, *range(2, rank), 1])


#: What there is of each axis, such as a stride or a padding.
_Item = TypeVar("_Item")


def _spatial(call: Call, values: Sequence[_Item], rank: int) -> list[_Item]:
    """The elements of a list with one for each axis that belong to spatial axes."""
    return [values[axis] for axis in spatial_axes(call.attrs["data_format"], rank)]


def _windows(
    call: Call, shape: Sequence[int], sizes: Sequence[int], steps: Sequence[int]
) -> tuple[Axis, ...]:
    """The window along each spatial axis of an input of that shape."""
    rank, attrs = len(shape), call.attrs
    dilations = _spatial(call, attrs.get("dilations") or (1,) * rank, rank)
    strides = _spatial(call, steps, rank)
    flat = [int(size) for size in attrs.get("explicit_paddings") or (0,) * 2 * rank]
    pads = list(zip(flat[::2], flat[1::2], strict=True))
    spatial = _spatial(call, pads, rank)
    return axes(_spatial(call, shape, rank), sizes, strides, dilations, attrs["padding"], spatial)


def _attributes(windows: Sequence[Axis]) -> dict[str, list[int]]:
    """Windows as ONNX has them."""
    return {
        "kernel_shape": [axis.window for axis in windows],
        "strides": [axis.stride for axis in windows],
        "dilations": [axis.dilation for axis in windows],
        "pads": [axis.before for axis in windows] + [max(axis.after, 0) for axis in windows],
    }


@translates("Conv2D", "Conv3D", kernels=SINGLE)
def _conv(call: Call) -> str:
    """The filter's axes are spatial ones, channels in, channels out: ONNX has these two first."""
    shape, sizes, rank = call.shape(), call.shape(1), call.rank()
    channels = shape[channel_axis(call.attrs["data_format"], rank)]
    windows = _windows(call, shape, sizes[:-2], call.attrs["strides"])
    groups = channels // sizes[-2] if sizes[-2] else 1
    kernel = call.emit("Transpose", call.names[1], perm=[rank - 1, rank - 2, *range(rank - 2)])
    x = channels_first(call, call.names[0], rank)
    y = call.emit("Conv", x, kernel, group=groups, **_attributes(windows))
    return channels_last(call, y, rank)


@translates("DepthwiseConv2dNative", kernels=SINGLE)
def _depthwise_conv(call: Call) -> str:
    """A group for each channel; the filter is [height, width, channels, multiplier]."""
    shape, (height, width, channels, multiplier) = call.shape(), call.shape(1)
    windows = _windows(call, shape, (height, width), call.attrs["strides"])
    kernel = call.emit("Transpose", call.names[1], perm=[2, 3, 0, 1])
    sizes = call.constant([channels * multiplier, 1, height, width])
    kernel = call.emit("Reshape", kernel, sizes, allowzero=1)
    x = channels_first(call, call.names[0], 4)
    y = call.emit("Conv", x, kernel, group=channels, **_attributes(windows))
    return channels_last(call, y, 4)


@translates("Conv2DBackpropInput", kernels=SINGLE)
def _conv_back(call: Call) -> str:
    """The transposed convolution that gives an input of these sizes."""
    shape, sizes = call.output_shape(), call.shape(1)
    windows = _windows(call, shape, sizes[:-2], call.attrs["strides"])
    if shape[channel_axis(call.attrs["data_format"], 4)] != sizes[2]:
        raise call.declined("grouped")
    if tuple(axis.out for axis in windows) != tuple(_spatial(call, call.shape(2), 4)):
        raise call.invalid("no input of these sizes gives such an output")
    rest = [
        axis.size
        - ((axis.out - 1) * axis.stride + (axis.window - 1) * axis.dilation + 1)
        + axis.before
        + max(axis.after, 0)
        for axis in windows
    ]
    if min(rest) < 0:
        raise call.declined("a window that does not reach its padding")
    kernel = call.emit("Transpose", call.names[1], perm=[3, 2, 0, 1])
    x = channels_first(call, call.names[2], 4)
    y = call.emit("ConvTranspose", x, kernel, output_padding=rest, **_attributes(windows))
    return channels_last(call, y, 4)


@translates("MaxPool", "MaxPool3D", kernels=FLOATS | {"int8", "uint8"})
@translates("AvgPool", "AvgPool3D", kernels=SINGLE)
def _pool(call: Call) -> str:
    """Padding takes no part in a window's maximum or mean."""
    rank, sizes, strides = call.rank(), call.attrs["ksize"], call.attrs["strides"]
    channel = channel_axis(call.attrs["data_format"], rank)
    if any(numbers[axis] != 1 for numbers in (sizes, strides) for axis in (0, channel)):
        raise call.declined("windows over batches or channels")
    windows = _windows(call, call.shape(), _spatial(call, sizes, rank), strides)
    x = channels_first(call, call.names[0], rank)
    op = "MaxPool" if call.op.startswith("Max") else "AveragePool"
    y = call.emit(op, x, **_attributes(windows))
    return channels_last(call, y, rank)
