"""Convolutions in one, two and three dimensions, and transposed ones. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.nn.window_arguments import (
    Padding,
    SizesLike,
    is_first,
    one_batch,
    padding_of,
    per_dimension,
    row_format,
    window_op,
)
from sessrun.reference.api.ops.array_ops import expand_dims, squeeze
from sessrun.reference.api.ops.reduce_ops import chosen
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "conv1d",
    "conv2d",
    "plane",
    "volume",
]

#: The ranks of images, of volumes, of one row.
_IMAGES, _VOLUMES = 4, 5


def plane(
    value: TensorLike,
    filters: TensorLike | None,
    strides: SizesLike | None,
    name: str | None = None,
    **attrs: object,
) -> Tensor:
    """A Conv2D; the leading dimensions of a tensor of rank above 4 are folded into one batch."""
    ndims = _ndims(value)

    def convolved(x: TensorLike, scope: str | None = None) -> Tensor:
        inputs = {"input": x, "filter": filters}
        return window_op("Conv2D", inputs, scope, strides=strides, **attrs)

    if ndims is None or ndims <= _IMAGES:
        return convolved(value, name)
    return one_batch(value, convolved, 3, name)


def volume(
    value: TensorLike,
    filters: TensorLike | None,
    strides: SizesLike | None,
    name: str | None = None,
    **attrs: object,
) -> Tensor:
    """A Conv3D; the leading dimensions of a tensor of rank above 5 are folded into one batch."""
    ndims = _ndims(value)

    def convolved(x: TensorLike, scope: str | None = None) -> Tensor:
        inputs = {"input": x, "filter": filters}
        return window_op("Conv3D", inputs, scope, strides=strides, **attrs)

    if ndims is None or ndims <= _VOLUMES:
        return convolved(value, name)
    return one_batch(value, convolved, 4, name)


def _ndims(value: Any) -> int | None:
    """The rank of a tensor or an array, None if it is unknown."""
    static = value.shape
    ndims: int | None = static.ndims if hasattr(static, "ndims") else len(static)
    return ndims


@public("nn.conv2d")
def conv2d(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    filter: TensorLike | None = None,  # noqa: A002 - the same
    strides: SizesLike | None = None,
    padding: Padding | None = None,
    use_cudnn_on_gpu: bool | None = True,
    data_format: str | None = "NHWC",
    dilations: SizesLike = (1, 1, 1, 1),
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """The 2-D convolution of images with filters.

    Args:
      input: [batch, height, width, channels], or as `data_format` says; there may be more than
        one batch dimension.
      filter: [height, width, channels, outputs], of the same dtype.
      strides: the strides of the window: one number, two (height, width) or four.
      padding: `SAME`, `VALID`, or four pairs: the zeros before and after each dimension.
      use_cudnn_on_gpu: an attribute of the node; it changes no result.
      data_format: `NHWC` or `NCHW`.
      dilations: the dilation rates of the window: one number, two or four.
      name: the operation's name.
      filters: the newer name of `filter`.

    Raises:
      ValueError: an argument is ill-formed, or the shapes do not fit.

    """
    kernels = chosen(filters, filter, "filters", "filter")
    kind, explicit = padding_of(padding)
    form = "NHWC" if data_format is None else data_format
    first = is_first(form)
    steps = per_dimension(strides, 2, "strides", first=first)
    apart = per_dimension(dilations, 2, "dilations", first=first)
    return plane(
        input,
        kernels,
        steps,
        name,
        padding=kind,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit,
        data_format=form,
        dilations=apart,
    )


@public("nn.conv2d_backprop_filter")
def conv2d_backprop_filter(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: SizesLike,
    padding: Padding,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: SizesLike = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of a convolution with respect to its filters; arguments as for `conv2d`."""
    kind, explicit = padding_of(padding)
    inputs = {"input": input, "filter_sizes": filter_sizes, "out_backprop": out_backprop}
    return window_op(
        "Conv2DBackpropFilter",
        inputs,
        name,
        strides=strides,
        padding=kind,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=dilations,
    )


@public("nn.conv2d_backprop_input")
def conv2d_backprop_input(
    input_sizes: TensorLike,
    filter: TensorLike | None = None,  # noqa: A002 - TensorFlow's name
    out_backprop: TensorLike | None = None,
    strides: SizesLike | None = None,
    padding: Padding | None = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: SizesLike = (1, 1, 1, 1),
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """The gradient of a convolution with respect to its input; arguments as for `conv2d`."""
    kernels = chosen(filters, filter, "filters", "filter")
    kind, explicit = padding_of(padding)
    inputs = {"input_sizes": input_sizes, "filter": kernels, "out_backprop": out_backprop}
    return window_op(
        "Conv2DBackpropInput",
        inputs,
        name,
        strides=strides,
        padding=kind,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=dilations,
    )


@public("nn.conv1d")
def conv1d(
    value: Any = None,
    filters: Any = None,
    stride: SizesLike | None = None,
    padding: Padding | None = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: Any = None,  # noqa: A002 - TensorFlow's name
    dilations: SizesLike | None = None,
) -> Tensor:
    """The 1-D convolution of rows with filters: a Conv2D of images of height 1.

    Args:
      value: [batch, width, channels]; there may be more than one batch dimension.
      filters: [width, channels, outputs].
      stride: the stride of the window.
      padding: `SAME` or `VALID`.
      use_cudnn_on_gpu: an attribute of the node; it changes no result.
      data_format: `NWC` or `NCW`.
      name: the operations' scope.
      input: the newer name of `value`.
      dilations: the dilation rates of the window.

    Raises:
      ValueError: an argument is ill-formed, or given under both names.

    """
    x = chosen(input, value, "input", "value")
    with name_scope(name, "conv1d", [x, filters]) as scope:
        form, first = row_format(data_format, ("NHWC", "NWC", "NCHW", "NCW"))
        row_axis = -2 if first else -3
        steps = [1, *per_dimension(stride, 1, "stride", first=first)]
        apart = [1, *per_dimension(dilations, 1, "dilations", first=first)]
        images, kernels = expand_dims(x, row_axis), expand_dims(filters, 0)
        convolved = plane(
            images,
            kernels,
            steps,
            scope,
            padding=padding,
            data_format=form,
            use_cudnn_on_gpu=use_cudnn_on_gpu,
            dilations=apart,
        )
        return squeeze(convolved, [row_axis])


@public("nn.conv3d")
def conv3d(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    filter: TensorLike | None = None,  # noqa: A002 - the same
    strides: SizesLike | None = None,
    padding: Padding | None = None,
    data_format: str = "NDHWC",
    dilations: SizesLike = (1, 1, 1, 1, 1),
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """The 3-D convolution of volumes with filters.

    Args:
      input: [batch, depth, height, width, channels].
      filter: [depth, height, width, channels, outputs].
      strides: the strides of the window, five numbers.
      padding: `SAME` or `VALID`.
      data_format: `NDHWC` or `NCDHW`.
      dilations: the dilation rates of the window, five numbers.
      name: the operation's name.
      filters: the newer name of `filter`.

    Raises:
      ValueError: the filters are given under both names, or the shapes do not fit.

    """
    inputs = {"input": input, "filter": chosen(filters, filter, "filters", "filter")}
    return window_op(
        "Conv3D",
        inputs,
        name,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
    )
