"""Programs of the values and gradients of convolutions and pooling, and of errors in a run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]


def _numbers(*shape: int) -> np.ndarray:
    """Small integers as float32."""
    return ((np.arange(int(np.prod(shape))) * 7 % 11) - 5).reshape(shape).astype(np.float32)


def _rounded(value):
    """Arrays rounded to a few digits, without -0.0."""
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return np.round(value, 3) + np.zeros((), value.dtype)


def _run(
    tf, build: Callable[..., Tensor], *arrays: np.ndarray, known: bool = False, back: bool = True
):
    """The value and the gradients of a function of tensors with known or unknown shapes."""

    def build_and_run():
        with tf.Graph().as_default():
            inputs = [
                tf.placeholder(array.dtype, array.shape if known else None) for array in arrays
            ]
            outputs = build(*inputs)
            grads = [
                gradient
                for gradient in (tf.gradients(outputs, inputs) if back else ())
                if gradient is not None
            ]
            with tf.Session() as session:
                feeds = dict(zip(inputs, arrays, strict=True))
                return _rounded(session.run([outputs, grads], feeds))

    return attempt(build_and_run)


def _blocks(tf):
    x = _numbers(2, 4, 6)
    return [
        _run(tf, lambda x: tf.space_to_batch_nd(x, [2, 3], [[0, 0], [1, 2]]), x),
        _run(tf, lambda x: tf.space_to_batch_nd(x, [2], [[2, 0]]), x),
        _run(tf, lambda x: tf.space_to_batch_nd(x, np.zeros([0], np.int32), np.zeros([0, 2])), x),
        _run(tf, lambda x: tf.space_to_batch_nd(x, [3], [[0, 0]]), x),
        _run(tf, lambda x: tf.space_to_batch_nd(x, [2, 2, 2], [[0, 0]] * 3), x),
        _run(tf, lambda x: tf.batch_to_space_nd(x, [2], [[1, 0]]), x, known=True),
        _run(tf, lambda x: tf.batch_to_space_nd(x, [1, 2], [[1, 0], [0, 11]]), x),
        _run(tf, lambda x: tf.batch_to_space_nd(x, [3], [[0, 0]]), x),
        _run(tf, lambda x: tf.batch_to_space_nd(x, [2], [[5, 5]]), x),
        _run(tf, lambda x: tf.space_to_batch(x, [[1, 1], [0, 1]], 2), _numbers(1, 2, 3, 2)),
        _run(tf, lambda x: tf.batch_to_space(x, [[1, 0], [0, 1]], 2), _numbers(4, 2, 3, 2)),
    ]


def _apart(tf):
    x, filters = _numbers(2, 5, 6, 2), _numbers(2, 3, 2, 3)
    pixels = _numbers(1, 1, 6, 2)
    return [
        run
        for known in (False, True)
        for run in (
            _run(tf, lambda x, w: tf.nn.atrous_conv2d(x, w, 2, "SAME"), x, filters, known=known),
            _run(
                tf,
                lambda x, w: tf.nn.convolution(x, w, "VALID", dilation_rate=[2, 1]),
                x,
                filters,
                known=known,
            ),
            _run(
                tf,
                lambda x, w: tf.nn.depthwise_conv2d(x, w, [1] * 4, "SAME", [1, 2]),
                x,
                filters,
                known=known,
            ),
            _run(
                tf,
                lambda x, w, v: tf.nn.separable_conv2d(x, w, v, [1, 2, 2, 1], "SAME"),
                x,
                filters,
                pixels,
                known=known,
            ),
            _run(tf, lambda x: tf.nn.pool(x, [2, 2], "AVG", "VALID", [2, 1]), x, known=known),
            _run(
                tf, lambda x: tf.nn.pool(x, [2, 2], "MAX", "SAME", strides=[2, 1]), x, known=known
            ),
        )
    ]


def _transposed(tf):
    x, filters = _numbers(2, 3, 4, 3), _numbers(2, 3, 2, 3)
    rows, small = _numbers(2, 4, 3), _numbers(3, 2, 3)
    volumes, cubes = _numbers(1, 2, 3, 2, 2), _numbers(2, 2, 2, 2, 2)
    return [
        _run(tf, lambda x, w: tf.nn.conv2d_transpose(x, w, [2, 6, 8, 2], 2), x, filters),
        _run(tf, lambda x, w: tf.nn.conv2d_transpose(x, w, [2, 5, 7, 2], 2), x, filters),
        _run(tf, lambda x, w: tf.nn.conv2d_transpose(x, w, [2, 7, 7, 2], 2), x, filters),
        _run(tf, lambda x, w: tf.nn.conv1d_transpose(x, w, [2, 8, 2], 2), rows, small),
        _run(tf, lambda x, w: tf.nn.conv3d_transpose(x, w, [1, 4, 6, 4, 2], 2), volumes, cubes),
        _run(
            tf,
            lambda x, w: tf.nn.atrous_conv2d_transpose(x, w, [2, 3, 4, 2], 2, "SAME"),
            x,
            filters,
            known=True,
        ),
        _run(tf, lambda x, w: tf.nn.conv1d(x, w, 2, "SAME"), rows, small.transpose(0, 2, 1)),
        _run(tf, lambda x: tf.nn.max_pool1d(x, 2, 2, "SAME"), rows),
        _run(tf, lambda x: tf.nn.avg_pool3d(x, 2, 1, "SAME"), volumes),
        _run(
            tf,
            lambda x, w: tf.nn.erosion2d(x, w, [1] * 4, [1, 2, 1, 1], "SAME"),
            x,
            _numbers(2, 2, 3),
        ),
    ]


def _mirrored(tf):
    x, filters = _numbers(1, 3, 4, 2), _numbers(2, 2, 2, 3)  # TensorFlow errs for a second image

    def fused(pads, mode: str, padding: str) -> Callable[..., Tensor]:
        return lambda x, w: tf.raw_ops.FusedPadConv2D(
            input=x, paddings=pads, filter=w, mode=mode, strides=[1, 1, 1, 1], padding=padding
        )

    return [
        _run(tf, fused(pads, mode, padding), x, filters, back=False)
        for mode, padding in (("REFLECT", "SAME"), ("SYMMETRIC", "VALID"))
        for pads in (
            [[0, 0], [1, 2], [2, 0], [0, 0]],
            [[0, 0], [0, 4], [1, 1], [0, 0]],
            [[0, 0], [1, 2]],
        )
    ]


def _resized_first(tf):
    x, filters = _numbers(1, 3, 4, 2), _numbers(2, 2, 2, 3)  # TensorFlow errs for a second image

    def fused(size, pads, mode: str, padding: str, corners: bool) -> Callable[..., Tensor]:
        return lambda x, w: tf.raw_ops.FusedResizeAndPadConv2D(
            input=x,
            size=size,
            paddings=pads,
            filter=w,
            mode=mode,
            strides=[1, 1, 1, 1],
            padding=padding,
            resize_align_corners=corners,
        )

    around = [[0, 0], [1, 2], [2, 0], [0, 0]]
    return [
        _run(tf, fused(size, pads, mode, padding, corners), x, filters, back=False, known=known)
        for mode, padding in (("REFLECT", "SAME"), ("SYMMETRIC", "VALID"))
        for size, pads, corners in (
            ([5, 6], around, False),
            ([6, 3], around, True),
            ([0, 3], around, False),
            ([3, 4], around[:3], False),
            ([3, 4], [[1, 0], *around[1:]], False),
        )
        for known in (True, False)
    ]


def _of_any(tf):
    x, volumes = _numbers(2, 5, 6, 4), _numbers(1, 2, 4, 3, 3, 1)
    filters, deep = _numbers(2, 3, 4, 3), _numbers(2, 2, 2, 1, 2)

    def convolution(strides, padding: str = "SAME", **attrs) -> Callable[..., Tensor]:
        return lambda x, w: tf.raw_ops.Conv(
            input=x, filter=w, strides=strides, padding=padding, **attrs
        )

    cases = [
        (convolution([1, 2, 1, 1]), x, filters),
        (convolution([1] * 4, "VALID", dilations=[1, 2, 2, 1]), x, filters),
        (convolution([1] * 4, "EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0]), x, filters),
        (convolution([1] * 5, batch_dims=2), volumes, deep),
        (convolution([1] * 4, batch_dims=0), x[0], filters),
        (convolution([1] * 4, batch_dims=2), x, filters),
        (convolution([1] * 3), x[0], filters[0]),
        (convolution([1] * 4), x, filters[:, :, :3]),
        (convolution([1] * 4), x, filters[:, :, :2]),
    ]
    explicit = convolution([1] * 5, "EXPLICIT", explicit_paddings=[0] * 10, batch_dims=2)
    first = convolution([1] * 4, data_format="CHANNELS_FIRST", batch_dims=3)
    refused = [
        _run(tf, explicit, volumes, deep, known=True),
        _run(tf, first, x, filters, known=True),
    ]
    return refused, [
        _run(tf, function, *given, back=False, known=known)
        for function, *given in cases
        for known in (True, False)
    ]


def _beside_nans(tf):
    """Gradients of maxima beside NaNs: a NaN gets one only as the window's first element."""
    x = _numbers(1, 4, 5, 2)
    x[0, 0, 0, 0] = x[0, 1, 2, 1] = x[0, 3, 3, 0] = np.nan
    return [
        _run(
            tf,
            lambda x, size=size, step=step: tf.gradients(tf.nn.max_pool(x, size, step, "SAME"), x)[
                0
            ],
            x,
            back=False,
        )
        for size, step in ((2, 2), (2, 1), (3, 1))
    ]


def _normalized(tf):
    x, vector, other = _numbers(2, 3, 4, 2), _numbers(2), _numbers(2) ** 2 + 1

    def moments(x, s, o, m, v):
        return tf.nn.fused_batch_norm(x, s, o, m, v, is_training=False)[:1]

    def first(x, s, o):
        return tf.nn.fused_batch_norm(x, s, o, data_format="NCHW")

    return [
        _run(tf, moments, x, vector, vector, vector, other),
        _run(tf, first, x.transpose(0, 3, 1, 2), vector, vector),
        _run(tf, lambda x, s, o: tf.nn.fused_batch_norm(x, s, o), x[:0], vector, vector),
        _run(tf, lambda x, s, o: tf.nn.fused_batch_norm(x, s, o)[0], x[:1, :1, :1], vector, vector),
        _run(tf, lambda x: tf.nn.lrn(x, 1, alpha=0.5, beta=0.75), x),
    ]


def _refused(tf):
    x, filters = _numbers(2, 5, 6, 2), _numbers(3, 3, 2, 3)

    def conv(**named) -> Callable[..., Tensor]:
        arguments = {"strides": [1] * 4, "padding": "SAME", **named}
        return lambda x, w: tf.nn.conv2d(x, w, **arguments)

    def run(build: Callable[..., Tensor], *arrays: np.ndarray):
        return _run(tf, build, *arrays, back=False)

    def pooled(window, strides, padding: str = "SAME", **named):
        return lambda x: tf.nn.max_pool(x, window, strides, padding, **named)

    return [
        *(
            run(conv(**named), x, filters)
            for named in ({"strides": [2, 1, 1, 1]}, {"dilations": [1, 1, 1, 2]})
        ),
        *(
            run(conv(padding="VALID"), x, _numbers(*shape))
            for shape in (
                (6, 3, 2, 3),
                (8, 3, 2, 3),
                (3, 3, 4, 3),
                (3, 3, 0, 3),
                (3, 0, 2, 3),
                (3, 3, 2, 0),
                (3, 3, 2),
            )
        ),
        *(run(conv(), part, filters) for part in (x[:0], x[:, :0], x[0])),
        run(pooled([2, 2, 2, 1], 1), x),
        run(pooled([1, 1, 1, 2], [1, 1, 1, 1]), x),
        run(pooled([1, 2, 1, 2], 1), x),
        run(pooled(9, 1, "VALID"), x),
        run(pooled(6, 1, "VALID"), x),
        run(pooled(2, 2), x[:0]),
        run(pooled(2, 2), x[0]),
        run(lambda x: tf.space_to_depth(x, 2), x),
        run(lambda x: tf.depth_to_space(x, 2), x),
        run(lambda x: tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1] * 4, "SAME")[0], x[:0]),
        run(lambda x: tf.nn.fractional_max_pool(x, [1.0, 1.5, 1.5, 1.0], seed=3)[0], x),
        run(lambda x: tf.nn.fractional_max_pool(x, [1.0, 9.5, 1.5, 1.0])[0], x),
        run(
            lambda x: tf.nn.fractional_avg_pool(x, [1.0, 1.5, 1.5, 1.0], True, True, True, 3, 4)[0],
            x,
        ),
    ]


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _blocks,
        _apart,
        _transposed,
        _mirrored,
        _resized_first,
        _of_any,
        _beside_nans,
        _normalized,
        _refused,
    )
}
