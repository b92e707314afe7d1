"""Convolutions with unshared filters: `local_conv1d` and `local_conv2d` of `tf.keras.backend`.

Source: tf_keras 2.21 in graph mode.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import sessrun.reference as tf
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.batch_dot import batch_dot
from sessrun.reference.library.keras.settings import image_data_format

__all__ = ["local_conv", "local_conv1d", "local_conv2d"]


def local_conv(
    inputs: Tensor,
    kernel: Tensor | Variable,
    kernel_size: Sequence[int],
    strides: Sequence[int],
    output_shape: Sequence[int],
    data_format: str | None,
) -> Tensor:
    """A convolution with unshared filters: each output position has a separate kernel."""
    data_format = data_format or image_data_format()
    if data_format not in {"channels_first", "channels_last"}:
        raise bad_value(f"Unknown data_format: {data_format}")
    is_first = data_format == "channels_first"
    _, width, depth = kernel.shape.as_list()
    rank = len(output_shape)
    parts = []
    for position in itertools.product(*map(range, output_shape)):
        along = [
            slice(at * stride, at * stride + size)
            for at, stride, size in zip(position, strides, kernel_size, strict=True)
        ]
        full = slice(None)
        here = (full, full, *along) if is_first else (full, *along, full)
        parts.append(tf.reshape(inputs[here], (1, -1, width)))
    products = tf.reshape(batch_dot(tf.concat(parts, 0), kernel), (*output_shape, -1, depth))
    order = [rank, rank + 1, *range(rank)] if is_first else [rank, *range(rank), rank + 1]
    return tf.transpose(products, perm=order)


def local_conv1d(
    inputs: Tensor,
    kernel: Tensor | Variable,
    kernel_size: Sequence[int],
    strides: Sequence[int],
    data_format: str | None = None,
) -> Tensor:
    """A 1-D convolution with unshared filters [steps, window * channels, filters]."""
    steps = [size for size in kernel.shape.as_list()[:1] if size is not None]
    return local_conv(inputs, kernel, kernel_size, strides, steps, data_format)


def local_conv2d(
    inputs: Tensor,
    kernel: Tensor,
    kernel_size: Sequence[int],
    strides: Sequence[int],
    output_shape: Sequence[int],
    data_format: str | None = None,
) -> Tensor:
    """A 2-D convolution with unshared filters [positions, window * channels, filters]."""
    return local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format)
