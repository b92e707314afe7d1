"""Depthwise and separable convolutions. Source: TF 2.21."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Final

from sessrun.reference.api.nn.convolutions import conv2d
from sessrun.reference.api.nn.dilated import with_space_to_batch
from sessrun.reference.api.nn.window_arguments import Padding, SizesLike, padding_of, window_op
from sessrun.reference.api.ops.array_ops import shape
from sessrun.reference.api.ops.reduce_ops import chosen
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

_ONES: Final = (1, 1, 1, 1)


@public("nn.depthwise_conv2d_native")
def depthwise_conv2d_native(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    filter: TensorLike,  # noqa: A002 - the same
    strides: SizesLike,
    padding: Padding,
    data_format: str | None = "NHWC",
    dilations: SizesLike = _ONES,
    name: str | None = None,
) -> Tensor:
    """The depthwise convolution of images, as one DepthwiseConv2dNative.

    Args:
      input: [batch, height, width, channels].
      filter: [height, width, channels, channel multiplier].
      strides: the strides of the window, four numbers.
      padding: `SAME`, `VALID`, or four pairs: the zeros before and after each dimension.
      data_format: `NHWC` or `NCHW`.
      dilations: the dilation rates of the window, four numbers.
      name: the operation's name.

    Raises:
      ValueError: the padding is ill-formed, or the shapes do not fit.

    """
    kind, explicit = padding_of(padding)
    return window_op(
        "DepthwiseConv2dNative",
        {"input": input, "filter": filter},
        name,
        strides=strides,
        padding=kind,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=dilations,
    )


@public("nn.depthwise_conv2d_backprop_input", "nn.depthwise_conv2d_native_backprop_input")
def depthwise_conv2d_native_backprop_input(
    input_sizes: TensorLike,
    filter: TensorLike,  # noqa: A002 - TensorFlow's name
    out_backprop: TensorLike,
    strides: SizesLike,
    padding: Padding,
    data_format: str | None = "NHWC",
    dilations: SizesLike = _ONES,
    name: str | None = None,
) -> Tensor:
    """The gradient with respect to the input; arguments as for `depthwise_conv2d_native`."""
    kind, explicit = padding_of(padding)
    inputs = {"input_sizes": input_sizes, "filter": filter, "out_backprop": out_backprop}
    return window_op(
        "DepthwiseConv2dNativeBackpropInput",
        inputs,
        name,
        strides=strides,
        padding=kind,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=dilations,
    )


@public("nn.depthwise_conv2d_backprop_filter", "nn.depthwise_conv2d_native_backprop_filter")
def depthwise_conv2d_native_backprop_filter(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: SizesLike,
    padding: Padding,
    data_format: str | None = "NHWC",
    dilations: SizesLike = _ONES,
    name: str | None = None,
) -> Tensor:
    """The gradient with respect to the filters; arguments as for `depthwise_conv2d_native`."""
    kind, explicit = padding_of(padding)
    inputs = {"input": input, "filter_sizes": filter_sizes, "out_backprop": out_backprop}
    return window_op(
        "DepthwiseConv2dNativeBackpropFilter",
        inputs,
        name,
        strides=strides,
        padding=kind,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=dilations,
    )


@public("nn.depthwise_conv2d")
def depthwise_conv2d(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    filter: TensorLike,  # noqa: A002 - the same
    strides: Sequence[int],
    padding: Padding,
    rate: Sequence[int] | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """The depthwise convolution of images, dilated by `rate`.

    Args:
      input: [batch, height, width, channels].
      filter: [height, width, channels, channel multiplier].
      strides: the strides of the window, four numbers.
      padding: `SAME`, `VALID`, or a list of pairs.
      rate: the dilation rates of the window, two numbers.
      name: the operations' scope.
      data_format: `NHWC` or `NCHW`.
      dilations: the newer name of `rate`.

    Raises:
      ValueError: an argument is ill-formed, or given under both names.

    """
    apart = chosen(dilations, rate, "dilations", "rate")
    with name_scope(name, "depthwise", [input, filter]) as scope:
        x = convert_to_tensor(input, name="tensor_in")
        kernels = convert_to_tensor(filter, name="filter_in")
        apart = [1, 1] if apart is None else apart
        if any(size > 1 for size in apart) and any(size != 1 for size in strides):
            warnings.warn(
                "When dilation rate is greater than 1, then all values of strides must "
                f"be 1. Received: `dilation rate` {apart} and `strides` {strides}",
                stacklevel=2,
            )

        def convolved(inner: Tensor, _: TensorLike, kind: Padding) -> Tensor:
            return depthwise_conv2d_native(inner, kernels, strides, kind, data_format, name=scope)

        return with_space_to_batch(
            x, apart, padding, convolved, shape(kernels), data_format=data_format
        )


@public("nn.separable_conv2d")
def separable_conv2d(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    depthwise_filter: TensorLike,
    pointwise_filter: TensorLike,
    strides: Sequence[int],
    padding: Padding,
    rate: Sequence[int] | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """A depthwise convolution followed by a pointwise (1 x 1) convolution.

    Args:
      input: [batch, height, width, channels].
      depthwise_filter: [height, width, channels, channel multiplier].
      pointwise_filter: [1, 1, channels * channel multiplier, outputs].
      strides: the strides of the window, four numbers.
      padding: `SAME` or `VALID`.
      rate: the dilation rates of the window, two numbers.
      name: the operations' scope.
      data_format: `NHWC` or `NCHW`.
      dilations: the newer name of `rate`.

    Raises:
      ValueError: an argument is ill-formed, or given under both names.

    """
    apart = chosen(dilations, rate, "dilations", "rate")
    with name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as scope:
        x = convert_to_tensor(input, name="tensor_in")
        kernels = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pixels = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        static = pixels.shape.with_rank(4)
        static[0].assert_is_compatible_with(1)
        static[1].assert_is_compatible_with(1)

        def convolved(inner: Tensor, _: TensorLike, kind: Padding) -> Tensor:
            return depthwise_conv2d_native(
                inner, kernels, strides, kind, data_format, name="depthwise"
            )

        apart = [1, 1] if apart is None else apart
        between = with_space_to_batch(
            x, apart, padding, convolved, shape(kernels), data_format=data_format
        )
        return conv2d(between, pixels, _ONES, "VALID", data_format=data_format, name=scope)
