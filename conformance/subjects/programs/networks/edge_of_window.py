"""Programs of windows with empty images, pooled channels, unequal strides and sizes of zero."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _image(*sizes: int, dtype=np.float32) -> np.ndarray:
    """Different numbers in no order."""
    count = int(np.prod(sizes))
    return (np.arange(count) * 7 % max(count, 1) - count // 2).reshape(sizes).astype(dtype)


def _pooled_channels(tf):
    """Maxima over neighbouring channels of images that are not square."""
    windows = (
        ([1, 1, 1, 2], [1, 1, 1, 2]), ([1, 1, 1, 3], [1, 1, 1, 3]), ([1, 1, 1, 4], [1, 1, 1, 2]),
        ([1, 2, 1, 2], [1, 1, 1, 2]), ([1, 1, 1, 5], [1, 1, 1, 5]), ([2, 1, 1, 1], [2, 1, 1, 1]),
        ([1, 2, 2, 1], [1, 2, 1, 1]), ([1, 3, 2, 1], [1, 1, 2, 1]), ([1, 1, 1, 1], [1, 2, 2, 1]),
    )  # fmt: skip
    return attempt(
        *(
            lambda k=ksize, s=strides, p=padding: run(
                tf, tf.raw_ops.MaxPool(input=_image(2, 3, 5, 6), ksize=k, strides=s, padding=p)
            )
            for ksize, strides in windows
            for padding in ("VALID", "SAME")
        )
    )


def _empty(tf):
    """Images without rows, columns or channels, and empty batches."""
    raw, shapes = tf.raw_ops, ((0, 3, 3, 2), (2, 0, 3, 2), (2, 3, 0, 2), (2, 3, 3, 0), (1, 1, 1, 1))
    makers = (
        lambda x: raw.MaxPool(input=x, ksize=[1, 1, 1, 1], strides=[1, 1, 1, 1], padding="VALID"),
        lambda x: raw.MaxPool(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"),
        lambda x: raw.AvgPool(value=x, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="SAME"),
        lambda x: raw.AvgPool(value=x, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID"),
        lambda x: raw.Conv2D(
            input=x,
            filter=np.ones((1, 1, x.shape[-1], 2), np.float32),
            strides=[1, 1, 1, 1],
            padding="VALID",
        ),
        lambda x: raw.ResizeBilinear(images=x, size=[2, 2]),
        lambda x: raw.ResizeNearestNeighbor(images=x, size=[0, 2]),
        lambda x: raw.SpaceToDepth(input=x, block_size=1),
        lambda x: raw.LRN(input=x),
        lambda x: raw.BiasAdd(value=x, bias=np.ones(x.shape[-1], np.float32)),
        lambda x: raw.Softmax(logits=x),
        lambda x: raw.ExtractImagePatches(
            images=x, ksizes=[1, 1, 1, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="VALID"
        ),
        lambda x: raw.Dilation2D(
            input=x,
            filter=np.zeros((1, 1, x.shape[-1]), np.float32),
            strides=[1, 1, 1, 1],
            rates=[1, 1, 1, 1],
            padding="VALID",
        ),
        lambda x: raw.MaxPoolWithArgmax(
            input=x, ksize=[1, 1, 1, 1], strides=[1, 1, 1, 1], padding="VALID"
        ),
        lambda x: raw.Max(input=x, axis=[1]),
        lambda x: raw.Mean(input=x, axis=[1, 2]),
        lambda x: raw.ReverseV2(tensor=x, axis=[1]),
        lambda x: raw.Cumsum(x=x, axis=2),
    )
    return attempt(
        *(lambda m=make, s=shape: run(tf, m(_image(*s))) for make in makers for shape in shapes)
    )


def _strides(tf):
    """Strides, rates and paddings that are unequal, too few or too many, or too large."""
    raw, x, f = tf.raw_ops, _image(1, 5, 4, 2), _image(2, 3, 2, 2)
    strides = (
        [1, 1, 1, 1], [1, 2, 2, 1], [1, 1, 2, 1], [1, 2, 1, 1], [1, 9, 9, 1], [2, 1, 1, 1],
        [1, 1, 1, 2], [1, 1, 1], [1, 0, 0, 1], [1, -1, 1, 1],
    )  # fmt: skip
    return attempt(
        *(
            lambda s=stride, p=padding, r=rates: run(
                tf, raw.Conv2D(input=x, filter=f, strides=s, padding=p, dilations=r)
            )
            for stride in strides
            for padding in ("SAME", "VALID")
            for rates in ([1, 1, 1, 1], [1, 2, 1, 1])
        ),
        *(
            lambda s=stride: run(
                tf,
                raw.Dilation2D(
                    input=x, filter=f[..., 0], strides=s, rates=[1, 1, 1, 1], padding="SAME"
                ),
            )
            for stride in strides
        ),
        *(
            lambda r=rate: run(
                tf,
                raw.Dilation2D(
                    input=x, filter=f[..., 0], strides=[1, 1, 1, 1], rates=r, padding="SAME"
                ),
            )
            for rate in strides[:-2]
        ),
    )


def _glimpses(tf):
    """Glimpses and crops at the corners of images, of sizes down to zero."""
    raw, x = tf.raw_ops, _image(2, 4, 5, 1)
    return attempt(
        *(
            lambda s=size, o=offset, c=centered, n=normalized: run(
                tf,
                raw.ExtractGlimpseV2(
                    input=x,
                    size=s,
                    offsets=[o, o],
                    centered=c,
                    normalized=n,
                    uniform_noise=False,
                    noise="zero",
                ),
            )
            for size in ([2, 3], [0, 2], [2, 0], [-1, 2], [9, 9], [1, 1])
            for offset in ([0.0, 0.0], [-1.0, 1.0], [0.5, 3.0])
            for centered in (False, True)
            for normalized in (False, True)
        ),
        *(
            lambda b=box, m=method, s=size: run(
                tf,
                raw.CropAndResize(
                    image=x, boxes=[b], box_ind=[1], crop_size=s, method=m, extrapolation_value=-7.0
                ),
            )
            for box in (
                [0.0, 0.0, 1.0, 1.0],
                [0.2, 0.3, 0.7, 1.2],
                [1.0, 1.0, 0.0, 0.0],
                [0, 0, 0, 0],
            )
            for method in ("bilinear", "nearest")
            for size in ([2, 3], [1, 1], [0, 2], [1, 4])
        ),
        *(
            lambda b=boxes: run(tf, raw.DrawBoundingBoxes(images=x, boxes=[b, b]))
            for boxes in (
                [[0.0, 0.0, 1.0, 1.0]],
                [[0.0, 0.5, 0.5, 1.0]],
                [[0.9, 0.9, 2.0, 2.0]],
                [[-1.0, 0.0, 0.2, 0.4]],
                [[0.5, 0.5, 0.5, 0.5]],
                [[0.8, 0.8, 0.2, 0.2]],
            )
        ),
    )


BEHAVIOURS = {
    "pooled channels": _pooled_channels,
    "empty": _empty,
    "strides": _strides,
    "glimpses": _glimpses,
}
