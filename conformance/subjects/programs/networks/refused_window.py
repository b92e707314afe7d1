"""Programs of convolutions with invalid or empty arguments: error codes, empty results."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from sessrun.conformance.subjects.programs.refusals import hidden, outcomes_of
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]


def _numbers(*shape: int) -> np.ndarray:
    """Small integers as float64: oneDNN, which may crash on errors, has no kernels for it."""
    return ((np.arange(int(np.prod(shape))) * 7 % 11) - 5).reshape(shape).astype(np.float64)


def _convolutions(tf) -> dict[str, Callable[..., Tensor]]:
    """The convolutions by name, as functions of input, filters, gradient and options."""
    raw, of = tf.raw_ops, functools.partial(hidden, tf)
    return {
        "Conv2D": lambda x, w, _, **how: raw.Conv2D(input=of(x), filter=of(w), **how),
        "Conv2DBackpropInput": lambda x, w, g, **how: raw.Conv2DBackpropInput(
            input_sizes=of(np.shape(x)), filter=of(w), out_backprop=of(g), **how
        ),
        "Conv2DBackpropFilter": lambda x, w, g, **how: raw.Conv2DBackpropFilter(
            input=of(x), filter_sizes=of(np.shape(w)), out_backprop=of(g), **how
        ),
        "Conv3D": lambda x, w, _, **how: raw.Conv3D(input=of(x), filter=of(w), **how),
        "Conv3DBackpropInputV2": lambda x, w, g, **how: raw.Conv3DBackpropInputV2(
            input_sizes=of(np.shape(x)), filter=of(w), out_backprop=of(g), **how
        ),
        "Conv3DBackpropFilterV2": lambda x, w, g, **how: raw.Conv3DBackpropFilterV2(
            input=of(x), filter_sizes=of(np.shape(w)), out_backprop=of(g), **how
        ),
        "DepthwiseConv2dNative": lambda x, w, _, **how: raw.DepthwiseConv2dNative(
            input=of(x), filter=of(w), **how
        ),
    }


def _steps(tf):
    """Strides and dilations along batch and channels, of zero, and of too few dimensions."""
    x, w, g = _numbers(2, 3, 4, 2), _numbers(1, 1, 2, 2), _numbers(2, 3, 4, 2)
    volumes = _numbers(2, 3, 4, 2, 2), _numbers(1, 1, 1, 2, 2), _numbers(2, 3, 4, 2, 2)
    fours = [
        {"strides": strides}
        for strides in (
            [2, 1, 1, 1],
            [1, 1, 1, 2],
            [2, 1, 1, 2],
            [1, 0, 1, 1],
            [1, 1, -1, 1],
            [1, 1, 1],
        )
    ]
    fours += [
        {"strides": [1] * 4, "dilations": dilations}
        for dilations in ([2, 1, 1, 1], [1, 1, 1, 2], [1, 0, 1, 1], [1, 1, 1], [1, 1, -1, 1])
    ]
    fives = [
        {key: [value[0], 1, *value[1:]] for key, value in arguments.items()} for arguments in fours
    ]
    return [
        outcomes_of(
            tf,
            *(
                lambda make=make, how=how, name=name: make(
                    *(volumes if "3D" in name else (x, w, g)), padding="SAME", **how
                )
                for how in (fives if "3D" in name else fours)
                # in a gradient, strides of 0 may crash the process
                if "Backprop" not in name or min(map(min, how.values())) > 0
            ),
        )
        for name, make in _convolutions(tf).items()
    ]


def _sizes(tf):
    """Inputs, filters and gradients whose sizes do not match, or that are empty."""
    x, w, g = _numbers(2, 3, 4, 2), _numbers(2, 1, 2, 3), _numbers(2, 2, 4, 3)
    given = [
        (x, w, g),
        (x[0], w, g),
        (x, w[0], g),
        (x, w, g[0]),
        (x[..., :1], w, g),
        (x, w, g[..., :2]),
        (x, w, g[:1]),
        (x, w, g[:, :1]),
        (x[:0], w, g[:0]),
        (x, w[..., :0], g[..., :0]),
        (x[:, :0], w, g[:, :0]),
        (x, w[:0], g),
        (x, w[:, :, :0], g),
        (_numbers(2, 3, 4, 4), w, g),
        (_numbers(2, 3, 4, 6), w, g),
    ]
    how = {"padding": "VALID", "strides": [1] * 4}
    return [
        outcomes_of(
            tf,
            *(
                lambda make=make, arguments=arguments: make(*arguments, **how)
                for arguments in (given if name == "Conv2D" else given[:-1])
            ),
        )  # the others do not have groups
        for name, make in _convolutions(tf).items()
        if name.startswith("Conv2D")
    ]


def _apart(tf):
    """The static shapes of dilated convolutions."""
    raw, how = tf.raw_ops, {"strides": [1] * 4, "padding": "VALID"}
    x, w = tf.placeholder(tf.float32, [None, 8, 9, 2]), tf.placeholder(tf.float32, [3, 2, 2, 5])
    return [
        [
            raw.DepthwiseConv2dNative(input=tensor, filter=w, dilations=apart, **how),
            raw.Conv2D(input=tensor, filter=w, dilations=apart, **how),
        ]
        for tensor in (x, tf.placeholder(tf.float32))
        for apart in ([1, 2, 3, 1], [1, 1, 2, 1])
    ]


def _poolings(tf):
    raw, of = tf.raw_ops, functools.partial(hidden, tf)
    x = _numbers(2, 3, 4, 6)
    windows = ([1, 2, 2, 1], [1, 1, 1, 2], [1, 1, 1, 3], [1, 1, 1, 6], [1, 1, 1, 4], [1, 2, 1, 2],
               [2, 1, 1, 1], [1, 1, 1, 1], [1, 3, 4, 1], [1, 0, 1, 1], [1, 2, 2])  # fmt: skip
    shapes = ((0, 3, 4, 2), (2, 3, 4, 0), (2, 0, 4, 2), (2, 3, 0, 2))

    def pooled(name: str, x, window, stride, padding: str = "VALID"):
        return getattr(raw, name)(
            **{"value" if name == "AvgPool" else "input": of(x)},
            ksize=window,
            strides=stride,
            padding=padding,
        )

    return outcomes_of(
        tf,
        *(
            lambda name=name, window=window: pooled(name, x, window, window)
            for name in ("MaxPool", "AvgPool")
            for window in windows
        ),
        *(
            lambda stride=stride: pooled("MaxPool", x, [1, 1, 1, 2], stride)
            for stride in ([1, 1, 1, 1], [1, 1, 1, 3], [1, 2, 1, 2], [2, 1, 1, 2], [1, 1, 0, 1])
        ),
        *(
            lambda shape=shape, name=name, padding=padding: pooled(
                name, _numbers(*shape), [1, 1, 1, 1], [1, 1, 1, 1], padding
            )
            for shape in shapes
            for name in ("MaxPool", "AvgPool")
            for padding in ("VALID", "SAME")
        ),
        *(
            lambda shape=shape: pooled("MaxPool", _numbers(*shape), [1, 1, 1, 2], [1, 1, 1, 2])
            for shape in shapes
        ),
        lambda: raw.MaxPoolV2(
            input=of(x), ksize=of([1, 1, 1, 3]), strides=of([1, 1, 1, 3]), padding="SAME"
        ),
        lambda: raw.MaxPoolV2(
            input=of(x), ksize=of([1, 2, 3, 1]), strides=of([1, 1, 2, 1]), padding="SAME"
        ),
        lambda: pooled("MaxPool", x[0], [1, 1, 1, 1], [1, 1, 1, 1]),
    )


def _poolings_back(tf):
    raw, of = tf.raw_ops, functools.partial(hidden, tf)
    x = _numbers(2, 3, 4, 6)
    top, deep = _numbers(2, 2, 3, 6), _numbers(2, 3, 4, 2)
    how = {"ksize": [1, 2, 2, 1], "strides": [1] * 4, "padding": "VALID"}
    channels = {"ksize": [1, 1, 1, 3], "strides": [1, 1, 1, 3], "padding": "VALID"}

    def means(sizes, grad, **options):
        return raw.AvgPoolGrad(orig_input_shape=of(sizes), grad=of(grad), **options)

    def maxima(x, y, grad, **options):
        return raw.MaxPoolGrad(orig_input=of(x), orig_output=of(y), grad=of(grad), **options)

    return outcomes_of(
        tf,
        lambda: means([2, 3, 4, 6], top, **how),
        lambda: means([0, 3, 4, 6], top[:0], **how),
        lambda: means([2, 3, 4, 6], deep, **channels),
        lambda: maxima(x, top, top, **how),
        lambda: maxima(x, top, deep, **how),
        lambda: maxima(x, deep, top, **how),
        lambda: maxima(x[0], top, top, **how),
        lambda: maxima(x, deep, deep, **channels),
        lambda: maxima(x[:0], top[:0], top[:0], **how),
        lambda: maxima(x[..., :0], top[..., :0], top[..., :0], **how),
        lambda: raw.MaxPoolGradGrad(orig_input=of(x), orig_output=of(top), grad=of(x), **how),
        lambda: raw.MaxPoolGradGrad(orig_input=of(x), orig_output=of(top), grad=of(top), **how),
    )


BEHAVIOURS = {
    "steps": _steps,
    "sizes": _sizes,
    "apart": _apart,
    "poolings": _poolings,
    "poolings back": _poolings_back,
}
