"""Functions of `tf.keras.backend` that enlarge, and cross entropies that look at what is hard.

Source: tf_keras 2.21 in graph mode.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.crossentropies import binary_crossentropy, cut, logits_of
from sessrun.reference.library.keras.products import batch_dot
from sessrun.reference.library.keras.settings import image_data_format

__all__ = ["ENLARGING", "repeat_elements", "resize_images", "resize_volumes"]

#: How `resize_images` finds what is between.
_METHODS: Final = {
    "area": "area",
    "bicubic": "bicubic",
    "bilinear": "bilinear",
    "gaussian": "gaussian",
    "lanczos3": "lanczos3",
    "lanczos5": "lanczos5",
    "mitchellcubic": "mitchellcubic",
    "nearest": "nearest",
}


def repeat_elements(x: Any, rep: int, axis: int) -> Tensor:
    """Each element along an axis several times, one beside the other."""
    sizes = x.shape.as_list()
    if sizes[axis] is not None:
        parts = tf.split(value=x, num_or_size_splits=sizes[axis], axis=axis)
        place = axis % x.shape.rank if axis < 0 else axis
        return tf.concat([part for part in parts for _ in range(rep)], place)
    counts = np.ones(len(sizes) + 1)
    counts[axis + 1] = rep
    shape = tf.shape(x)
    repeated = tf.tile(tf.expand_dims(x, axis=axis + 1), counts)
    factors = np.delete(counts, axis + 1)
    factors[axis] = rep
    shape *= tf.constant(factors, dtype="int32")
    repeated = tf.reshape(repeated, shape)
    repeated.set_shape(sizes)
    return repeated


def resize_images(
    x: Any, height_factor: int, width_factor: int, data_format: str, interpolation: str = "nearest"
) -> Any:
    """Pictures as many times as high and wide.

    Raises:
      ValueError: the data format or the interpolation is unknown.

    """
    if data_format not in {"channels_first", "channels_last"}:
        raise bad_value(f"Invalid `data_format` argument: {data_format}")
    is_first = data_format == "channels_first"
    rows = 2 if is_first else 1
    known = x.shape[rows : rows + 2]
    if known.is_fully_defined():
        sizes = tf.constant(known.as_list(), dtype="int32")
    else:
        sizes = tf.shape(x)[rows : rows + 2]
    sizes *= tf.constant(np.array([height_factor, width_factor], dtype="int32"))
    if is_first:
        x = tf.transpose(x, perm=[0, 2, 3, 1])
    if interpolation not in _METHODS:
        names = '"' + '", "'.join(_METHODS) + '"'
        raise bad_value(
            f'`interpolation` argument should be one of: {names}. Received: "{interpolation}".'
        )
    x = import_module("sessrun.reference.api.pictures.newer").resize_images_v2(  # few resize
        x, sizes, method=_METHODS[interpolation]
    )
    return tf.transpose(x, perm=[0, 3, 1, 2]) if is_first else x


def resize_volumes(
    x: TensorLike, depth_factor: int, height_factor: int, width_factor: int, data_format: str
) -> Any:
    """Volumes of which each element stands several times along each axis.

    Raises:
      ValueError: the data format is unknown.

    """
    if data_format not in {"channels_first", "channels_last"}:
        raise bad_value(f"Invalid data_format: {data_format}")
    first = 2 if data_format == "channels_first" else 1
    for place, factor in enumerate((depth_factor, height_factor, width_factor)):
        x = repeat_elements(x, factor, axis=first + place)
    return x


def binary_focal_crossentropy(
    target: Any,
    output: Tensor,
    apply_class_balancing: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
) -> Tensor:
    """The binary cross entropy, less of it where the output is nearly right."""
    likely = tf.nn.sigmoid(output) if from_logits else output
    right = target * likely + (1 - target) * (1 - likely)
    factor = tf.pow(1.0 - right, gamma)
    found = factor * binary_crossentropy(target, output, from_logits)
    if apply_class_balancing:
        found = (target * alpha + (1 - target) * (1 - alpha)) * found
    return found


def categorical_focal_crossentropy(
    target: Any,
    output: Tensor,
    alpha: float = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    axis: int = -1,
) -> Tensor:
    """The cross entropy along an axis, less of it where the output is nearly right."""
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    target.shape.assert_is_compatible_with(output.shape)
    output, from_logits = logits_of(output, from_logits, "Softmax")
    if from_logits:
        output = tf.nn.softmax(output, axis=axis)
    output = cut(output / tf.reduce_sum(output, axis, True))
    each = -target * tf.math.log(output)
    factor = tf.multiply(tf.pow(1.0 - output, gamma), alpha)
    return tf.reduce_sum(tf.multiply(factor, each), axis)


def _local_conv(
    inputs: Any,
    kernel: Any,
    kernel_size: Sequence[int],
    strides: Sequence[int],
    output_shape: Sequence[int],
    data_format: str | None,
) -> Tensor:
    """A convolution whose filters are others at each place."""
    data_format = data_format or image_data_format()
    if data_format not in {"channels_first", "channels_last"}:
        raise bad_value(f"Unknown data_format: {data_format}")
    is_first = data_format == "channels_first"
    _, width, depth = kernel.shape.as_list()
    rank = len(output_shape)
    parts = []
    for place in itertools.product(*map(range, output_shape)):
        along = [
            slice(at * stride, at * stride + size)
            for at, stride, size in zip(place, strides, kernel_size, strict=True)
        ]
        every = slice(None)
        here = (every, every, *along) if is_first else (every, *along, every)
        parts.append(tf.reshape(inputs[here], (1, -1, width)))
    made = tf.reshape(batch_dot(tf.concat(parts, 0), kernel), (*output_shape, -1, depth))
    order = [rank, rank + 1, *range(rank)] if is_first else [rank, *range(rank), rank + 1]
    return tf.transpose(made, perm=order)


def local_conv1d(
    inputs: Any,
    kernel: Any,
    kernel_size: Sequence[int],
    strides: Sequence[int],
    data_format: str | None = None,
) -> Any:
    """Sequences convolved by filters that are others at each step; [steps, width, depth]."""
    steps = (kernel.shape.as_list()[0],)
    return _local_conv(inputs, kernel, kernel_size, strides, steps, data_format)


def local_conv2d(
    inputs: TensorLike,
    kernel: Tensor,
    kernel_size: Sequence[int],
    strides: Sequence[int],
    output_shape: Sequence[int],
    data_format: str | None = None,
) -> Any:
    """Pictures convolved by filters that are others at each place; [places, width, depth]."""
    return _local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format)


#: Every function of this module by its public name.
ENLARGING: Final[dict[str, Callable[..., object]]] = {
    function.__name__: function
    for function in (
        binary_focal_crossentropy,
        categorical_focal_crossentropy,
        local_conv1d,
        local_conv2d,
        repeat_elements,
        resize_images,
        resize_volumes,
    )
}
