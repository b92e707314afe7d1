"""Shape rules of operations with windows: convolutions and poolings."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sessrun.spec.rules.shapes.arrays import padded
from sessrun.spec.rules.shapes.base import (
    Dim,
    Known,
    Shape,
    ShapeError,
    merge,
    merge_dims,
    rule,
    with_rank,
)
from sessrun.spec.rules.shapes.images import resized
from sessrun.spec.rules.windows import axes, channel_axis, spatial_axes, stretched

__all__ = ["explicit_pads", "places"]


def places(
    size: Dim,
    window: Dim,
    stride: int,
    padding: str,
    dilation: int = 1,
    pads: tuple[int, int] = (0, 0),
) -> Dim:
    """How many places a window has along a dimension.

    Raises:
      ShapeError: it does not fit, or a stride or a dilation is below 1.

    """
    if stride <= 0:
        raise ShapeError(f"Stride must be > 0, but got {stride}")
    if dilation < 1:
        raise ShapeError(f"Dilation rate must be >= 1, but got {dilation}")
    if size is None:
        return None
    if padding == "SAME":
        return -(-size // stride)
    if window is None:
        return None
    left = size + sum(pads) - stretched(window, dilation)
    if left < 0:
        raise ShapeError(f"Negative dimension size caused by subtracting {window} from {size}")
    return left // stride + 1


def _kernel_places(
    sizes: Sequence[Dim],
    windows: Sequence[Dim],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
) -> list[Dim]:
    """How many places kernels find: none for a window larger by less than a stride.

    Raises:
      ShapeError: the window is larger still, or a stride or a rate is below 1.

    """
    if min(*strides, *rates) < 1:
        raise ShapeError(f"Strides and rates must be > 0, but got {strides} and {rates}")
    known = [size for size in (*sizes, *windows) if size is not None]
    if len(known) < len(sizes) + len(windows):
        return [None] * len(sizes)
    along = axes(known[: len(sizes)], known[len(sizes) :], strides, rates, padding)
    if min(axis.out for axis in along) < 0:
        raise ShapeError(f"Computed output size would be negative: {[axis.out for axis in along]}")
    return [axis.out for axis in along]


def explicit_pads(padding: str, explicit: Sequence[int], rank: int) -> list[tuple[int, int]]:
    """What is added before and behind each dimension; nothing unless the padding is `EXPLICIT`.

    Raises:
      ShapeError: there are too few or too many numbers, or a negative one.

    """
    if padding != "EXPLICIT":
        if explicit:
            raise ShapeError(
                "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT"
            )
        return [(0, 0)] * rank
    if len(explicit) != 2 * rank:
        raise ShapeError(
            f"explicit_paddings attribute must contain {2 * rank} values, but got: {len(explicit)}"
        )
    if min(explicit) < 0:
        raise ShapeError("All elements of explicit_paddings must be nonnegative")
    return list(zip(explicit[::2], explicit[1::2], strict=True))


def _checked_pads(
    padding: str, explicit: Sequence[int], rank: int, spatial: Sequence[int]
) -> list[tuple[int, int]]:
    pads = explicit_pads(padding, explicit, rank)
    if any(any(pad) for axis, pad in enumerate(pads) if axis not in spatial):
        raise ShapeError(
            "Nonzero explicit padding in the batch or depth dimensions is not supported"
        )
    return pads


def _check_length(what: str, values: Sequence[int], rank: int) -> None:
    if len(values) != rank:
        raise ShapeError(f"The {what} attribute must contain {rank} values, but got: {len(values)}")


def _grouped(depth: Dim, filter_depth: Dim, out_depth: Dim) -> None:
    """Check that the filters divide the input's channels into groups, and the output's.

    Raises:
      ShapeError: they do not.

    """
    if filter_depth is not None and filter_depth < 1:
        raise ShapeError("Depth of filter must not be 0")
    if depth is None or filter_depth is None:
        return
    if depth % filter_depth:
        raise ShapeError(
            f"Depth of input ({depth}) is not a multiple of input depth of filter ({filter_depth})"
        )
    groups = depth // filter_depth
    if groups < 1:
        raise ShapeError("Number of groups must not be 0")
    if out_depth is not None and out_depth % groups:
        raise ShapeError(
            f"Depth of output ({out_depth}) is not a multiple of the number of groups ({groups})"
        )


@rule
def convolution(
    x: Shape,
    filters: Shape,
    strides: Sequence[int],
    padding: str,
    explicit: Sequence[int] | str,
    data_format: str,
    dilations: Sequence[int],
    spatial: int,
) -> list[Shape]:
    """The batch, the window's places along each spatial dimension, the filters' last dimension.

    `explicit` is '' where the operation has no explicit padding.
    """
    rank = spatial + 2
    dims, window = with_rank(x, rank), with_rank(filters, rank)
    _check_length("dilation", dilations, rank)
    _check_length("stride", strides, rank)
    where = spatial_axes(data_format, rank)
    channels = channel_axis(data_format, rank)
    pads = _checked_pads(padding, [] if isinstance(explicit, str) else explicit, rank, where)
    _grouped(dims[channels], window[-2], window[-1])
    result = [*dims]
    for axis, size in zip(where, window, strict=False):
        result[axis] = places(dims[axis], size, strides[axis], padding, dilations[axis], pads[axis])
    result[channels] = window[-1]
    return [tuple(result)]


@rule
def padded_convolution(
    x: Shape, paddings: Known, filters: Shape, strides: Sequence[int], padding: str
) -> list[Shape]:
    """A convolution's shape, of images with something around them; how many numbers is known.

    Raises:
      ShapeError: also if the rank of the paddings is not known, as in TensorFlow.

    """
    if paddings.shape is None:
        raise ShapeError("Shape must be rank -1 but is rank 4")
    (dims,) = padded(with_rank(x, 4), paddings)
    merge_dims(with_rank(x, 4)[3], with_rank(filters, 4)[2])
    return convolution(dims, filters, strides, padding, "", "NHWC", (1,) * 4, 2)


@rule
def resized_convolution(
    x: Shape, size: Known, paddings: Known, filters: Shape, strides: Sequence[int], padding: str
) -> list[Shape]:
    """As `padded_convolution`, of images that are resized first."""
    (dims,) = resized(x, size)
    return padded_convolution(dims, paddings, filters, strides, padding)


@rule
def convolution_of_any(
    x: Shape,
    filters: Shape,
    strides: Sequence[int],
    padding: str,
    explicit: Sequence[int],
    data_format: str,
    dilations: Sequence[int],
    batch_dims: int,
    groups: int,
) -> list[Shape]:
    """As `convolution`, of images or volumes with `batch_dims` dimensions before their own."""
    if x is None or filters is None:
        return [None]
    rank = len(filters)
    if rank not in {4, 5}:
        raise ShapeError(f"Filter tensor must be rank 4 or 5, but got: {rank}")
    if len(x) - batch_dims + 1 != rank:
        raise ShapeError(
            f"Input tensor must be rank {rank}, excluding extra batch dimensions, but "
            f"got: {len(x) - batch_dims + 1}"
        )
    if rank == 5 and padding == "EXPLICIT":
        raise ShapeError("Explicit padding not supported for 3D Convolution")
    form = "NCHW" if data_format == "CHANNELS_FIRST" else "NHWC"
    inner = (None, *x[batch_dims:])
    apart = dilations or (1,) * rank
    (result,) = convolution(inner, filters, strides, padding, explicit, form, apart, rank - 2)
    depth, seen = inner[channel_axis(form, rank)], filters[-2]
    if depth is not None and seen is not None and depth // seen != groups:
        raise ShapeError(
            "Input depth divided by filter input depth does not match with groups "
            f"parameter ({groups})"
        )
    assert result is not None
    return [(*x[:batch_dims], *result[1:])]


@rule
def pooling(
    x: Shape,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    explicit: Sequence[int] | str,
    data_format: str,
    deep: bool,
    rank: int,
) -> list[Shape]:
    """The window's places along each spatial dimension, and along the channels if it is `deep`."""
    dims = with_rank(x, rank)
    _check_length("stride", strides, rank)
    _check_length("ksize", ksize, rank)
    if any(size >= 2**31 for size in (*ksize, *strides)):
        raise ShapeError("ksize and strides have values out of range for an int32")
    where = spatial_axes(data_format, rank)
    pads = _checked_pads(padding, [] if isinstance(explicit, str) else explicit, rank, where)
    result = [*dims]
    for axis in (*where, channel_axis(data_format, rank)) if deep else where:
        result[axis] = places(dims[axis], ksize[axis], strides[axis], padding, 1, pads[axis])
    return [tuple(result)]


@rule
def pooling_by_inputs(
    x: Shape, ksize: Known, strides: Known, padding: str, data_format: str
) -> list[Shape]:
    """As `pooling`, sizes and strides being inputs; unknown where they are."""
    dims = with_rank(x, 4)
    for vector in (ksize, strides):
        merge_dims(with_rank(vector.shape, 1)[0], 4)
    if ksize.value is None or strides.value is None:
        return [None]
    return pooling(dims, ksize.elements(4), strides.elements(4), padding, "", data_format, True, 4)


@rule
def pooling_grad(x: Shape, rank: int) -> list[Shape]:
    """The shape of what was pooled."""
    return [with_rank(x, rank)]


@rule
def pooling_grad_grad(
    x: Shape,
    y: Shape,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str,
    rank: int,
) -> list[Shape]:
    """The shape of what a pooling gives."""
    shapes = pooling(x, ksize, strides, padding, "", data_format, True, rank)
    merge(y, shapes[0])
    return shapes


@rule
def denoted_of_rank(shape: Shape, rank: int) -> list[Shape]:
    """The shape that an integer vector denotes, of that rank."""
    return [with_rank(shape, rank)]


@rule
def convolved(
    sizes: Shape, filters: Shape, out_backprop: Shape, data_format: str, rank: int
) -> list[Shape]:
    """The shape of a convolution's input; a vector tells the whole of it, or the spatial sizes."""
    window = with_rank(filters, rank)
    grad = with_rank(out_backprop, rank)
    where = spatial_axes(data_format, rank)
    channels = channel_axis(data_format, rank)
    merge_dims(window[-1], grad[channels])
    if sizes is not None and len(sizes) == rank - 2:
        result: list[Dim] = [*grad]
        for axis, size in zip(where, sizes, strict=True):
            result[axis] = size
        result[channels] = window[-2]
        return [tuple(result)]
    dims = with_rank(sizes, rank)
    merge_dims(dims[0], grad[0])
    # How many images there are is what the gradient says, if it says nothing, too, as TensorFlow.
    return [(grad[0], *dims[1:])]


@rule
def batch_norm(
    x: Shape,
    scale: Shape,
    offset: Shape,
    mean: Shape,
    variance: Shape,
    data_format: str,
    is_training: bool,
    factor: float,
    outputs: int,
) -> list[Shape]:
    """The input's shape, and vectors of one element for each channel.

    The mean and the variance are looked at where they are used: out of training, and where new
    ones are averaged with them by a factor below 1.
    """
    rank = 5 if "D" in data_format else 4
    dims = with_rank(x, rank)
    axis = channel_axis(data_format, rank)
    channels = dims[axis]
    used = (scale, offset) if is_training and factor == 1 else (scale, offset, mean, variance)
    for vector in used:
        channels = merge_dims(channels, with_rank(vector, 1)[0])
    vector_shape: Shape = (channels,)
    rest: list[Shape] = [None] if outputs == 6 else []
    return [(*dims[:axis], channels, *dims[axis + 1 :]), *[vector_shape] * 4, *rest]


@rule
def batch_norm_grad(
    y_backprop: Shape, x: Shape, scale: Shape, first: Shape, second: Shape, data_format: str
) -> list[Shape]:
    """The input's shape, two vectors of one element for each channel, and two empty ones."""
    rank = 5 if "D" in data_format else 4
    dims, given = with_rank(y_backprop, rank), with_rank(x, rank)
    axis = channel_axis(data_format, rank)
    channels = merge_dims(dims[axis], given[axis])
    for vector in (scale, first, second):
        channels = merge_dims(channels, with_rank(vector, 1)[0])
    vector_shape: Shape = (channels,)
    return [(*dims[:axis], channels, *dims[axis + 1 :]), vector_shape, vector_shape, (0,), (0,)]


@rule
def depthwise(
    x: Shape,
    filters: Shape,
    strides: Sequence[int],
    padding: str,
    explicit: Sequence[int],
    data_format: str,
    dilations: Sequence[int],
) -> list[Shape]:
    """As a convolution's; as many channels as the input has, times those of one filter."""
    dims, window = with_rank(x, 4), with_rank(filters, 4)
    _check_length("stride", strides, 4)
    _check_length("dilation", dilations, 4)
    where, channels = spatial_axes(data_format, 4), channel_axis(data_format, 4)
    pads = _checked_pads(padding, explicit, 4, where)
    depth = merge_dims(dims[channels], window[2])
    result = [*dims]
    for axis, size in zip(where, window, strict=False):
        result[axis] = places(dims[axis], size, strides[axis], padding, dilations[axis], pads[axis])
    result[channels] = None if depth is None or window[3] is None else depth * window[3]
    return [tuple(result)]


@rule
def dilation(
    x: Shape, filters: Shape, strides: Sequence[int], rates: Sequence[int], padding: str
) -> list[Shape]:
    """The window's places along rows and columns, the batch and the channels."""
    dims, window = with_rank(x, 4), with_rank(filters, 3)
    _check_length("stride", strides, 4)
    _check_length("rates", rates, 4)
    merge_dims(dims[3], window[2])
    inner = _kernel_places(dims[1:3], window[:2], strides[1:3], rates[1:3], padding)
    return [(dims[0], *inner, window[2])]


@rule
def pooling_with_argmax(
    x: Shape, ksize: Sequence[int], strides: Sequence[int], padding: str
) -> list[Shape]:
    """As a pooling's, twice."""
    return pooling(x, ksize, strides, padding, "", "NHWC", True, 4) * 2


@rule
def fractional(x: Shape, ratio: Sequence[float]) -> list[Shape]:
    """Each dimension over its ratio; two vectors, of one element more than TensorFlow tells."""
    dims = with_rank(x, 4)
    if len(ratio) != 4:
        raise ShapeError("pooling_ratio field must specify 4 dimensions")
    if min(ratio) < 1:
        raise ShapeError(f"pooling_ratio cannot be smaller than 1, got: {min(ratio)}")
    sizes = [
        None if size is None else int(np.floor(size / np.float32(factor)))
        for size, factor in zip(dims, ratio, strict=True)
    ]
    return [tuple(sizes), (None,), (None,)]


@rule
def response_grad(grad: Shape, x: Shape, y: Shape) -> list[Shape]:
    """The one shape of all three, of rank 4."""
    return [with_rank(merge(merge(grad, x), y), 4)]


@rule
def patches(
    x: Shape,
    ksizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int] | str,
    padding: str,
    rank: int,
) -> list[Shape]:
    """The window's places, and as many channels as a window has elements."""
    dims = with_rank(x, rank)
    apart = (1,) * rank if isinstance(rates, str) else rates
    for what, values in (("ksizes", ksizes), ("strides", strides), ("rates", apart)):
        _check_length(what, values, rank)
    inner = _kernel_places(dims[1:-1], ksizes[1:-1], strides[1:-1], apart[1:-1], padding)
    depth = dims[-1]
    count = None if depth is None else depth * math.prod(ksizes[1:-1])
    return [(dims[0], *inner, count)]
