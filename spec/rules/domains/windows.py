"""Value domains of convolutions, poolings and normalizations of batches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sessrun.spec.rules.domains.base import Arguments, Draw, domain
from sessrun.spec.rules.windows import Axis, axes, stretched

__all__ = ["Images", "draw_channels", "images"]

#: Dtypes of maxima that a CPU computes.
_MAXIMA = (
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "int32",
    "int64",
    "uint8",
    "int16",
    "int8",
    "uint16",
)
#: And of poolings of volumes.
_VOLUMES = ("bfloat16", "float32")


class Images:
    """A batch of images or volumes and a window over them, which are drawn together.

    Attributes:
      shape: the batch's, channels last.
      window: the window's sizes.
      along: the window along each spatial dimension.

    """

    def __init__(self, shape: tuple[int, ...], along: Sequence[Axis]) -> None:
        self.shape, self.along = shape, tuple(along)
        self.window = tuple(axis.window for axis in along)

    def out(self, channels: int) -> tuple[int, ...]:
        """The shape of what has one element for each place."""
        return (self.shape[0], *(axis.out for axis in self.along), channels)


def images(
    draw: Draw, spatial: int, channels: int, apart: int = 1, least: int = 0, pool: bool = False
) -> Images:
    """Draw images and a window that fits into them, and set the attributes of the window.

    Args:
      draw: the drawing; the channels are put last.
      spatial: how many spatial dimensions there are.
      channels: how many channels.
      apart: the most that elements of a window may be apart.
      least: the least size of a batch.
      pool: whether explicit padding must be less than the window.

    """
    attrs = draw.attrs
    if "data_format" in attrs:
        attrs["data_format"] = "NHWC" if spatial == 2 else "NDHWC"
    window = [draw.random.randint(1, 3) for _ in range(spatial)]
    strides = [draw.random.randint(1, 3 if spatial == 2 else 2) for _ in range(spatial)]
    dilations = [draw.random.randint(1, apart) for _ in range(spatial)]
    pads = [(0, 0)] * spatial
    if attrs["padding"] == "EXPLICIT":
        most = [size - 1 if pool else 2 for size in window]
        pads = [(draw.random.randint(0, pad), draw.random.randint(0, pad)) for pad in most]
        attrs["explicit_paddings"] = (0, 0, *(pad for pair in pads for pad in pair), 0, 0)
    sizes = []
    for size, apart_, pair in zip(window, dilations, pads, strict=True):
        needed = 1 if attrs["padding"] == "SAME" else stretched(size, apart_) - sum(pair)
        sizes.append(max(draw.random.randint(1, 6 if spatial == 2 else 4), needed))
    if not pool or draw.operation.attr("strides") is not None:
        attrs["strides"] = (1, *strides, 1)
    if draw.operation.attr("dilations") is not None:
        attrs["dilations"] = (1, *dilations, 1)
    along = axes(sizes, window, strides, dilations, attrs["padding"], pads)
    return Images((draw.dim(least, 3), *sizes, channels), along)


def draw_channels(draw: Draw, grouped: bool) -> tuple[int, int, int]:
    """How many channels an image has, a filter sees, and are given."""
    groups = draw.random.choice((1, 1, 1, 2, 3)) if grouped else 1
    depth = draw.random.randint(1, 3)
    return groups * depth, depth, groups * draw.random.randint(1, 3)


@domain
def convolved(draw: Draw, x: str, filters: str, spatial: int) -> Arguments:
    """Images and filters, perhaps of groups of channels; small integers, which are exact.

    Left out are empty filters, which are an error; groups of volumes' channels, which a CPU does
    not compute; and empty batches, to which TensorFlow's default build gives another shape.
    """
    depth, seen, out = draw_channels(draw, spatial == 2)
    drawn = images(draw, spatial, depth, 2 if spatial == 2 else 1, least=1)
    return draw.arguments(
        **{
            x: draw.tensor(x, drawn.shape, "small"),
            filters: draw.tensor(filters, (*drawn.window, seen, out), "small"),
        }
    )


@domain
def convolved_anyhow(draw: Draw, x: str, filters: str) -> Arguments:
    """Images or volumes in one batch or in batches of batches, and filters."""
    spatial = 2 if draw.attrs["T"] in {"int32", "bfloat16"} else draw.random.choice((2, 2, 3))
    if spatial == 3 and draw.attrs["padding"] == "EXPLICIT":
        draw.attrs["padding"] = "SAME"
    depth, _, out = draw_channels(draw, grouped=False)
    drawn = images(draw, spatial, depth, 2 if spatial == 2 else 1, least=1)
    batches = draw.random.randint(1, 2)
    draw.attrs |= {"data_format": "CHANNELS_LAST", "batch_dims": batches, "groups": 1}
    lead = (draw.random.randint(1, 2),) * (batches - 1)
    return draw.arguments(
        **{
            x: draw.tensor(x, (*lead, *drawn.shape), "small"),
            filters: draw.tensor(filters, (*drawn.window, depth, out), "small"),
        }
    )


@domain
def convolved_by_input(draw: Draw, sizes: str, filters: str, grad: str, spatial: int) -> Arguments:
    """The sizes of images, filters, and a gradient of what they give; no groups, not dilated.

    Empty batches are left out: the gradient of this is a convolution of them.
    """
    depth, out = draw.random.randint(1, 3), draw.random.randint(1, 3)
    drawn = images(draw, spatial, depth, least=1)
    return draw.arguments(
        **{
            sizes: draw.integers(sizes, drawn.shape),
            filters: draw.tensor(filters, (*drawn.window, depth, out), "small"),
            grad: draw.tensor(grad, drawn.out(out), "small"),
        }
    )


@domain
def convolved_by_filter(draw: Draw, x: str, sizes: str, grad: str, spatial: int) -> Arguments:
    """Images, the sizes of filters, and a gradient of what they give; no groups, not dilated.

    No bfloat16 where a stride is larger than the image: oneDNN gives what was in memory.
    """
    depth, out = draw.random.randint(1, 3), draw.random.randint(1, 3)
    drawn = images(draw, spatial, depth)
    if draw.attrs["T"] == "bfloat16" and any(axis.stride > axis.size for axis in drawn.along):
        draw.attrs["T"] = "float32"
    return draw.arguments(
        **{
            x: draw.tensor(x, drawn.shape, "small"),
            sizes: draw.integers(sizes, (*drawn.window, depth, out)),
            grad: draw.tensor(grad, drawn.out(out), "small"),
        }
    )


def _pooled(draw: Draw, spatial: int, least: int = 0) -> Images:
    """Images and a pooling over them; channels may be pooled, alone."""
    known = _MAXIMA if spatial == 2 else _VOLUMES
    if draw.attrs["T"] not in known:
        draw.draw_dtype("T", known)
    if "TInput" in draw.attrs:
        draw.attrs["TInput"] = draw.attrs["T"]
    drawn = images(draw, spatial, draw.random.randint(1, 3), 1, least, pool=True)
    if draw.operation.attr("ksize") is not None:
        draw.attrs["ksize"] = (1, *drawn.window, 1)
    return drawn


@domain
def pooled(draw: Draw, x: str, spatial: int) -> Arguments:
    """Images and a window over them; finite numbers."""
    drawn = _pooled(draw, spatial)
    return draw.arguments(**{x: draw.tensor(x, drawn.shape, "plain")})


def _vectors(draw: Draw, ksize: str, strides: str, drawn: Images) -> dict[str, np.ndarray]:
    return {
        ksize: draw.integers(ksize, (1, *drawn.window, 1)),
        strides: draw.integers(strides, (1, *(axis.stride for axis in drawn.along), 1)),
    }


@domain
def pooled_by_inputs(draw: Draw, x: str, ksize: str, strides: str) -> Arguments:
    """Images, and the size and the stride of a window over them as vectors."""
    drawn = _pooled(draw, 2)
    return draw.arguments(
        **{x: draw.tensor(x, drawn.shape, "plain"), **_vectors(draw, ksize, strides, drawn)}
    )


def _largest(x: np.ndarray, drawn: Images) -> np.ndarray:
    """What a pooling by maximum gives."""
    out = np.empty(drawn.out(x.shape[-1]), x.dtype)
    for position in np.ndindex(*(axis.out for axis in drawn.along)):
        inside = tuple(
            slice(
                max(index * axis.stride - axis.before, 0),
                index * axis.stride - axis.before + axis.window,
            )
            for index, axis in zip(position, drawn.along, strict=True)
        )
        block = x[(slice(None), *inside, slice(None))]
        largest = block.max(axis=tuple(range(1, block.ndim - 1)))
        out[(slice(None), *position, slice(None))] = largest
    return out


def _maxima(
    draw: Draw, x: str, y: str, grad: str, spatial: int, again: bool
) -> tuple[Images, dict[str, np.ndarray]]:
    drawn = _pooled(draw, spatial, 1)
    values = draw.tensor(x, drawn.shape, "small")
    shape = drawn.shape if again else drawn.out(drawn.shape[-1])
    return drawn, {x: values, y: _largest(values, drawn), grad: draw.tensor(grad, shape, "small")}


@domain
def max_pooled(draw: Draw, x: str, y: str, grad: str, spatial: int) -> Arguments:
    """Images of few different numbers, their maxima, and a gradient of these."""
    return draw.arguments(**_maxima(draw, x, y, grad, spatial, False)[1])


@domain
def max_pooled_by_inputs(
    draw: Draw, x: str, y: str, grad: str, ksize: str, strides: str
) -> Arguments:
    """As `max_pooled`, with the size and the stride of the window as vectors."""
    drawn, inputs = _maxima(draw, x, y, grad, 2, False)
    return draw.arguments(**inputs, **_vectors(draw, ksize, strides, drawn))


@domain
def max_pooled_again(draw: Draw, x: str, y: str, grad: str, spatial: int) -> Arguments:
    """Images of few different numbers, their maxima, and a gradient of the images' shape."""
    return draw.arguments(**_maxima(draw, x, y, grad, spatial, True)[1])


@domain
def max_pooled_again_by_inputs(
    draw: Draw, x: str, y: str, grad: str, ksize: str, strides: str
) -> Arguments:
    """As `max_pooled_again`, with the size and the stride of the window as vectors."""
    drawn, inputs = _maxima(draw, x, y, grad, 2, True)
    return draw.arguments(**inputs, **_vectors(draw, ksize, strides, drawn))


@domain
def mean_pooled(draw: Draw, sizes: str, grad: str, spatial: int) -> Arguments:
    """The sizes of images, and a gradient of their means."""
    drawn = _pooled(draw, spatial)
    return draw.arguments(
        **{
            sizes: draw.integers(sizes, drawn.shape),
            grad: draw.tensor(grad, drawn.out(drawn.shape[-1]), "plain"),
        }
    )


def _batch(draw: Draw, least: int = 1) -> tuple[tuple[int, ...], int]:
    """The shape of a batch in the drawn format, and the number of its channels."""
    count = len(draw.attrs["data_format"]) - 2
    spatial = [draw.random.randint(1, 4) for _ in range(count)]
    channels, batch = draw.random.randint(1, 4), draw.dim(least, 3)
    if draw.attrs["data_format"].startswith("NC"):
        return (batch, channels, *spatial), channels
    return (batch, *spatial, channels), channels


@domain
def batch_norm(draw: Draw, x: str, scale: str, offset: str, mean: str, variance: str) -> Arguments:
    """A batch, scale and offset of each channel, and old means and variances.

    Left out are vectors of bfloat16, of which TensorFlow has none, and what is not training: two
    outputs are then whatever was in memory.
    """
    if "U" in draw.attrs:
        draw.attrs["U"] = "float32"
    draw.attrs["is_training"] = True
    draw.attrs["epsilon"] = draw.random.choice((0.0001, 0.001, 0.5))
    draw.attrs["exponential_avg_factor"] = draw.random.choice((1.0, 0.5))
    shape, channels = _batch(draw)
    old = 0 if draw.attrs["exponential_avg_factor"] == 1.0 else channels
    return draw.arguments(
        **{
            x: draw.tensor(x, shape, "positive"),
            scale: draw.tensor(scale, (channels,), "plain"),
            offset: draw.tensor(offset, (channels,), "plain"),
            mean: draw.tensor(mean, (old,), "plain"),
            variance: draw.tensor(variance, (old,), "positive"),
        }
    )


@domain
def batch_norm_grad(
    draw: Draw, grad: str, x: str, scale: str, mean: str, variance: str, last: int
) -> Arguments:
    """A gradient, a batch, and what the normalization has given of it.

    Channels are last where it was not training.
    """
    if not draw.attrs["is_training"]:
        draw.attrs["data_format"] = "NHWC"
    draw.attrs["epsilon"] = draw.random.choice((0.0001, 0.001, 0.5))
    shape, channels = _batch(draw)
    rest = {"reserve_space_3": np.zeros((), np.float32)} if last == 5 else {}
    return draw.arguments(
        **{
            grad: draw.tensor(grad, shape, "small"),
            x: draw.tensor(x, shape, "positive"),
            scale: draw.tensor(scale, (channels,), "small"),
            mean: draw.tensor(mean, (channels,), "positive"),
            variance: draw.tensor(variance, (channels,), "positive"),
            **rest,
        }
    )


def _depthwise(draw: Draw) -> tuple[Images, tuple[int, ...]]:
    """Images and filters for each of their channels; the window moves alike in both dimensions.

    Left out are empty batches, whose gradients TensorFlow leaves as they were in memory.
    """
    depth, times = draw.random.randint(1, 3), draw.random.randint(1, 3)
    drawn = images(draw, 2, depth, 1, 1)
    stride = drawn.along[0].stride
    draw.attrs["strides"] = (1, stride, stride, 1)
    explicit = draw.attrs["explicit_paddings"][2:-2]
    pads = list(zip(explicit[::2], explicit[1::2], strict=True))
    along = axes(
        drawn.shape[1:3], drawn.window, (stride, stride), (1, 1), draw.attrs["padding"], pads
    )
    return Images(drawn.shape, along), (*drawn.window, depth, times)


@domain
def depthwise(draw: Draw, x: str, filters: str) -> Arguments:
    """Images and filters for each of their channels; small integers, which are exact."""
    drawn, shape = _depthwise(draw)
    return draw.arguments(
        **{x: draw.tensor(x, drawn.shape, "small"), filters: draw.tensor(filters, shape, "small")}
    )


@domain
def depthwise_by_input(draw: Draw, sizes: str, filters: str, grad: str) -> Arguments:
    """The sizes of images, filters for each channel, and a gradient of what they give."""
    drawn, shape = _depthwise(draw)
    return draw.arguments(
        **{
            sizes: draw.integers(sizes, drawn.shape),
            filters: draw.tensor(filters, shape, "small"),
            grad: draw.tensor(grad, drawn.out(shape[2] * shape[3]), "small"),
        }
    )


@domain
def depthwise_by_filter(draw: Draw, x: str, sizes: str, grad: str) -> Arguments:
    """Images, the sizes of filters for each channel, and a gradient of what they give."""
    drawn, shape = _depthwise(draw)
    return draw.arguments(
        **{
            x: draw.tensor(x, drawn.shape, "small"),
            sizes: draw.integers(sizes, shape),
            grad: draw.tensor(grad, drawn.out(shape[2] * shape[3]), "small"),
        }
    )


def _dilated(draw: Draw, x: str, filters: str, least: int) -> tuple[Images, Arguments]:
    depth = draw.random.randint(1, 3)
    drawn = images(draw, 2, depth, 1, least)
    draw.attrs["rates"] = (1, 1, 1, 1)
    return drawn, draw.arguments(
        **{
            x: draw.tensor(x, drawn.shape, "plain"),
            filters: draw.tensor(filters, (*drawn.window, depth), "plain"),
        }
    )


@domain
def dilated(draw: Draw, x: str, filters: str) -> Arguments:
    """Images and one filter for each of their channels."""
    return _dilated(draw, x, filters, 0)[1]


@domain
def dilated_back(draw: Draw, x: str, filters: str, grad: str) -> Arguments:
    """Images, one filter for each of their channels, and a gradient of what they give."""
    drawn, arguments = _dilated(draw, x, filters, 1)
    above = draw.tensor(grad, drawn.out(drawn.shape[-1]), "small")
    return draw.arguments(**arguments.inputs, **{grad: above})


@domain
def argmax(draw: Draw, x: str) -> Arguments:
    """Images, at least one, and a window over them; finite numbers."""
    drawn = _pooled(draw, 2, 1)
    return draw.arguments(**{x: draw.tensor(x, drawn.shape, "plain")})


@domain
def argmax_pooled(draw: Draw, x: str, grad: str, argmax: str) -> Arguments:
    """Images, a gradient of a pooling, and numbers of places that are in the images."""
    draw.attrs["Targmax"] = "int64"
    drawn = _pooled(draw, 2, 1)
    values = draw.tensor(x, drawn.shape, "small")
    shape = drawn.out(drawn.shape[-1])
    count = values.size // (1 if draw.attrs["include_batch_in_index"] else drawn.shape[0])
    low = [draw.random.randrange(count) for _ in range(int(np.prod(shape)))]
    return draw.arguments(
        **{
            x: values,
            grad: draw.tensor(grad, shape, "small"),
            argmax: draw.integers(argmax, np.array(low).reshape(shape)),
        }
    )


@domain
def response(draw: Draw, x: str) -> Arguments:
    """Images, and the attributes of a normalization over their channels."""
    if draw.attrs["T"] == "bfloat16":
        draw.attrs["T"] = "float32"
    draw.attrs.update(
        depth_radius=draw.random.randint(0, 3),
        bias=draw.random.choice((1.0, 2.0)),
        alpha=draw.random.choice((1.0, 0.25)),
        beta=draw.random.choice((0.5, 0.75)),
    )
    shape = (draw.dim(1, 2), draw.random.randint(1, 3), draw.random.randint(1, 3), draw.dim(1, 6))
    return draw.arguments(**{x: draw.tensor(x, shape, "small")})


@domain
def response_grad(draw: Draw, grad: str, x: str, y: str) -> Arguments:
    """A gradient, images, and what might be the normalized ones."""
    shape = response(draw, x).inputs[x].shape
    return draw.arguments(**{name: draw.tensor(name, shape, "small") for name in (grad, x, y)})
