"""Windows over images and volumes with channels first give what they give with channels last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sessrun.reference as tf

#: The dtype, the filters' shape or None, and the function of images, filters and format; strides
#: and sizes are given for channels last.
Function = Callable[[Any, Any, Callable[[list[int]], list[int]], str], Any]

_PLANE: dict[str, tuple[tuple[int, ...] | None, Function]] = {
    "conv2d": (
        (3, 2, 4, 5),
        lambda x, k, o, form: tf.nn.conv2d(x, k, o([1, 2, 1, 1]), "SAME", data_format=form),
    ),
    "conv2d of groups, dilated": (
        (2, 2, 2, 6),
        lambda x, k, o, form: tf.nn.conv2d(
            x, k, o([1, 1, 1, 1]), "VALID", data_format=form, dilations=o([1, 2, 1, 1])
        ),
    ),
    "conv2d, padded": (
        (3, 2, 4, 5),
        lambda x, k, o, form: tf.nn.conv2d(
            x, k, o([1, 1, 1, 1]), o([[0, 0], [1, 2], [0, 1], [0, 0]]), data_format=form
        ),
    ),
    "depthwise": (
        (3, 2, 4, 2),
        lambda x, k, o, form: tf.nn.depthwise_conv2d(
            x, k, o([1, 2, 2, 1]), "SAME", data_format=form
        ),
    ),
    "transposed": (
        (3, 2, 5, 4),
        lambda x, k, o, form: tf.nn.conv2d_transpose(
            x, k, o([2, 14, 6, 5]), o([1, 2, 1, 1]), "SAME", data_format=form
        ),
    ),
    "max": (
        None,
        lambda x, _, o, form: tf.nn.max_pool(
            x, o([1, 2, 3, 1]), o([1, 2, 1, 1]), "SAME", data_format=form
        ),
    ),
    "max of given sizes": (
        None,
        lambda x, _, o, form: tf.raw_ops.MaxPoolV2(
            input=x,
            ksize=o([1, 2, 3, 1]),
            strides=o([1, 2, 1, 1]),
            padding="VALID",
            data_format=form,
        ),
    ),
    "mean": (
        None,
        lambda x, _, o, form: tf.nn.avg_pool(
            x, o([1, 2, 3, 1]), o([1, 2, 1, 1]), "VALID", data_format=form
        ),
    ),
}
_VOLUME: dict[str, tuple[tuple[int, ...] | None, Function]] = {
    "conv3d": (
        (2, 3, 2, 4, 3),
        lambda x, k, o, form: tf.nn.conv3d(x, k, o([1, 1, 2, 1, 1]), "SAME", data_format=form),
    ),
    "max3d": (
        None,
        lambda x, _, o, form: tf.nn.max_pool3d(
            x, o([1, 2, 2, 3, 1]), o([1, 1, 2, 1, 1]), "VALID", data_format=form
        ),
    ),
    "mean3d": (
        None,
        lambda x, _, o, form: tf.nn.avg_pool3d(
            x, o([1, 2, 2, 3, 1]), o([1, 1, 2, 1, 1]), "SAME", data_format=form
        ),
    ),
}


def _same(order: list[Any]) -> list[Any]:
    return order


def _turned(order: list[Any]) -> list[Any]:
    return [order[0], order[-1], *order[1:-1]]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        (name, dtype)
        for name in (*_PLANE, *_VOLUME)
        for dtype in ("float16", "float32", "float64")
        if (name, dtype) != ("max3d", "float64")  # which MaxPool3D does not take
    ],
)
def test_both_formats_give_the_same_values_and_gradients(name: str, dtype: str) -> None:
    filters, function = _PLANE.get(name) or _VOLUME[name]
    rank = 4 if name in _PLANE else 5
    shape = (2, 7, 6, 4) if rank == 4 else (2, 5, 6, 7, 4)
    random = np.random.RandomState(3)
    x = random.rand(*shape).astype(dtype)
    kernel = random.rand(*(filters or (1,))).astype(dtype)
    first, last = (0, rank - 1, *range(1, rank - 1)), (0, *range(2, rank), 1)
    found = []
    for order, form in (
        (_same, "NHWC" if rank == 4 else "NDHWC"),
        (_turned, "NCHW" if rank == 4 else "NCDHW"),
    ):
        is_first = order is _turned
        with tf.Graph().as_default(), tf.Session() as session:
            images = tf.constant(x.transpose(first) if is_first else x)
            weights = tf.constant(kernel)
            result = function(images, weights, order, form)
            wanted = [images, weights] if filters else [images]
            gradients = tf.gradients(tf.reduce_sum(tf.square(result)), wanted)
            values = session.run([result, *gradients])
        turned = [v.transpose(last) if is_first and n < 2 else v for n, v in enumerate(values)]
        found.append(turned)
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-2 if dtype == "float16" else 1e-5)
