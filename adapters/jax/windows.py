"""Translations of convolutions and poolings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import jax.numpy as jnp
import numpy as np
from jax import lax

from sessrun.adapters.jax.reductions import lowest
from sessrun.adapters.jax.rules import FLOATS, REALS, Array, Node, rule

__all__: list[str] = []


#: What there is of each axis, such as a stride or a padding.
_Item = TypeVar("_Item")


def _spatial(node: Node, values: Sequence[_Item]) -> list[_Item]:
    """The values for the spatial axes, of values for all axes."""
    return [v for v, axis in zip(values, node["data_format"], strict=True) if axis not in "NC"]


def _padding(
    node: Node,
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> list[tuple[int, int]]:
    """The padding before and after each spatial axis."""
    if node["padding"] == "EXPLICIT":
        pairs = node["explicit_paddings"]
        return _spatial(node, list(zip(pairs[::2], pairs[1::2], strict=True)))
    if node["padding"] == "VALID":
        return [(0, 0)] * len(sizes)
    padding = []
    for size, length, stride, dilation in zip(sizes, window, strides, dilations, strict=True):
        reach = (length - 1) * dilation + 1
        total = max((-(-size // stride) - 1) * stride + reach - size, 0)
        padding.append((total // 2, total - total // 2))
    return padding


def _convolve(node: Node, x: Array, kernel: Array, groups: int) -> Array:
    """A convolution of one rank or another; the filter's last axes are input and output depth."""
    layout = node["data_format"]
    node.check(x.ndim == len(layout) == kernel.ndim, "pictures and filters have different ranks")
    strides, dilations = _spatial(node, node["strides"]), _spatial(node, node["dilations"])
    letters = "".join(letter for letter in layout if letter not in "NC")
    padding = _padding(node, _spatial(node, x.shape), kernel.shape[:-2], strides, dilations)
    return lax.conv_general_dilated(
        x,
        kernel,
        strides,
        padding,
        rhs_dilation=dilations,
        dimension_numbers=(layout, f"{letters}IO", layout),
        feature_group_count=groups,
    )


@rule("Conv2D", "Conv3D", dtypes=REALS)
def _convolution(node: Node, x: Array, kernel: Array) -> Array:
    depth = x.shape[node["data_format"].index("C")]
    node.check(kernel.shape[-2] > 0, "the filter has no depth")
    node.check(depth % kernel.shape[-2] == 0, f"{depth} channels are no multiple of the filter's")
    return _convolve(node, x, kernel, max(depth // kernel.shape[-2], 1))


@rule("DepthwiseConv2dNative", dtypes=FLOATS)
def _depthwise(node: Node, x: Array, kernel: Array) -> Array:
    height, width, depth, multiplier = kernel.shape
    node.check(x.shape[node["data_format"].index("C")] == depth, "the depths differ")
    return _convolve(node, x, kernel.reshape((height, width, 1, depth * multiplier)), depth)


@rule("Conv2DBackpropInput", dtypes=REALS, constants="input_sizes")
def _transposed(node: Node, input_sizes: Array, kernel: Array, gradient: Array) -> Array:
    """The convolution by the filter turned over, of the gradient spread by the strides."""
    layout = node["data_format"]
    sizes = input_sizes.tolist()
    if len(sizes) == 2:
        sizes = [gradient.shape[0], *sizes, kernel.shape[-2]]
        node.check(layout == "NHWC", "two sizes are of NHWC only")
    depth, per_group = sizes[layout.index("C")], kernel.shape[-2]
    node.check(per_group > 0 and depth % per_group == 0, "the depths do not fit")
    groups = max(depth // per_group, 1)
    strides, dilations = _spatial(node, node["strides"]), _spatial(node, node["dilations"])
    space, window = _spatial(node, sizes), kernel.shape[:2]
    padding = []
    forward = _padding(node, space, window, strides, dilations)
    rows = zip(
        space, _spatial(node, gradient.shape), window, strides, dilations, forward, strict=True
    )
    for size, given, length, stride, dilation, (before, _) in rows:
        reach = (length - 1) * dilation
        spread = (given - 1) * stride + 1
        padding.append((reach - before, size - spread + before))
    turned = jnp.flip(kernel, (0, 1))
    split = turned.reshape((*window, per_group, groups, kernel.shape[-1] // groups))
    filters = jnp.swapaxes(split, 2, 3).reshape((*window, depth, kernel.shape[-1] // groups))
    return lax.conv_general_dilated(
        gradient,
        filters,
        (1, 1),
        padding,
        lhs_dilation=strides,
        rhs_dilation=dilations,
        dimension_numbers=(layout, "HWOI", layout),
        feature_group_count=groups,
    )


def _pool(
    node: Node,
    x: Array,
    start: Array,
    function: Callable[..., Array],
    window: Sequence[int],
    strides: Sequence[int],
) -> Array:
    if node["padding"] == "EXPLICIT":
        pairs = node["explicit_paddings"]
        padding = list(zip(pairs[::2], pairs[1::2], strict=True))
    else:
        padding = lax.padtype_to_pads(x.shape, window, strides, node["padding"])
    return lax.reduce_window(x, start, function, tuple(window), tuple(strides), padding)


@rule("MaxPool", "MaxPool3D", dtypes=REALS)
def _max_pool(node: Node, x: Array) -> Array:
    return _maximum(node, x, node["ksize"], node["strides"])


@rule("MaxPoolV2", dtypes=REALS, constants="ksize strides")
def _max_pool_by_inputs(node: Node, x: Array, ksize: Array, strides: Array) -> Array:
    return _maximum(node, x, ksize.tolist(), strides.tolist())


def _maximum(node: Node, x: Array, window: Sequence[int], strides: Sequence[int]) -> Array:
    node.check(x.ndim == len(window) == len(strides), "the window has another rank")
    return _pool(node, x, lowest(x.dtype), lax.max, window, strides)


@rule("AvgPool", "AvgPool3D", dtypes=FLOATS)
def _average_pool(node: Node, x: Array) -> Array:
    """The mean of what lies in the picture; halves are summed in float32."""
    window, strides = node["ksize"], node["strides"]
    node.check(x.ndim == len(window) == len(strides), "the window has another rank")
    wide = x.astype(jnp.promote_types(x.dtype, jnp.float32))
    zero = np.zeros((), wide.dtype)
    counts = _pool(node, jnp.ones((1, *x.shape[1:]), wide.dtype), zero, lax.add, window, strides)
    return (_pool(node, wide, zero, lax.add, window, strides) / counts).astype(x.dtype)
