"""Convolutions in one, two and three dimensions, and transposed ones. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

from sessrun.reference.api.nn.windows import (
    Padding,
    SizesLike,
    is_first,
    one_batch,
    padding_of,
    per_dimension,
    window_op,
)
from sessrun.reference.api.ops.array_ops import concat, expand_dims, squeeze
from sessrun.reference.api.ops.reduce_ops import chosen
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "conv2d_transpose_v2",
    "conv3d_transpose_v2",
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
    """A Conv2D; of a tensor with more than four dimensions all but the last three are one batch."""
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
    """A Conv3D; of a tensor with more than five dimensions all but the last four are one batch."""
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
    """Each window of images times each filter.

    Args:
      input: [batch, height, width, channels], or in the format given; more dimensions may stand
        before these.
      filter: [height, width, channels, outputs], of the same dtype.
      strides: how far the window moves: one number, two or four.
      padding: `SAME`, `VALID`, or what is added before and behind each of four dimensions.
      use_cudnn_on_gpu: kept in the graph.
      data_format: `NHWC` or `NCHW`.
      dilations: how far elements of the window are apart: one number, two or four.
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
    """The gradient of a convolution by its filters; arguments as those of `conv2d`."""
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
    """The gradient of a convolution by its images; arguments as those of `conv2d`."""
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


@public("nn.conv2d_transpose")
def conv2d_transpose(
    value: TensorLike | None = None,
    filter: TensorLike | None = None,  # noqa: A002 - TensorFlow's name
    output_shape: TensorLike | None = None,
    strides: SizesLike | None = None,
    padding: Padding = "SAME",
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,  # noqa: A002 - TensorFlow's name
    filters: TensorLike | None = None,
    dilations: SizesLike | None = None,
) -> Tensor:
    """The transpose of a convolution: images larger than what is given.

    Args:
      value: [batch, height, width, channels].
      filter: [height, width, outputs, channels].
      output_shape: the shape of the result.
      strides: how far the window moves over the result.
      padding: as for `conv2d`, of the convolution that would lead back.
      data_format: `NHWC` or `NCHW`.
      name: the operation's name.
      input: the newer name of `value`.
      filters: the newer name of `filter`.
      dilations: how far elements of the window are apart.

    Raises:
      ValueError: an argument is ill-formed, or given under both names.

    """
    x = chosen(input, value, "input", "value")
    kernels = chosen(filters, filter, "filters", "filter")
    with name_scope(name, "conv2d_transpose", [x, kernels, output_shape]) as outer:
        return conv2d_transpose_v2(
            x, kernels, output_shape, strides, padding, data_format, dilations, outer
        )


def conv2d_transpose_v2(
    value: TensorLike | None,
    filters: TensorLike | None,
    output_shape: TensorLike | None,
    strides: SizesLike | None,
    padding: Padding = "SAME",
    data_format: str | None = "NHWC",
    dilations: SizesLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of a convolution of images, its arguments in the order of version 2."""
    with name_scope(name, "conv2d_transpose", [value, output_shape]) as scope:
        form = "NHWC" if data_format is None else data_format
        first = is_first(form)
        steps = per_dimension(strides, 2, "strides", first=first)
        apart = per_dimension(dilations, 2, "dilations", first=first)
        kind, explicit = padding_of(padding)
        inputs = {"input_sizes": output_shape, "filter": filters, "out_backprop": value}
        return window_op(
            "Conv2DBackpropInput",
            inputs,
            scope,
            strides=steps,
            padding=kind,
            explicit_paddings=explicit,
            data_format=form,
            dilations=apart,
        )


def _row_format(data_format: str | None, formats: tuple[str, ...]) -> tuple[str, bool]:
    """The format of images of one row, and whether the channels stand before the width.

    Raises:
      ValueError: it is none of the formats.

    """
    if data_format is None:
        return "NHWC", False
    if data_format not in formats:
        raise bad_value(
            f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={data_format}"
        )
    return ("NCHW", True) if is_first(data_format) else ("NHWC", False)


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
    """Each window of rows times each filter: a convolution of images of one row.

    Args:
      value: [batch, width, channels]; more dimensions may stand before these.
      filters: [width, channels, outputs].
      stride: how far the window moves.
      padding: `SAME` or `VALID`.
      use_cudnn_on_gpu: kept in the graph.
      data_format: `NWC` or `NCW`.
      name: the operations' scope.
      input: the newer name of `value`.
      dilations: how far elements of the window are apart.

    Raises:
      ValueError: an argument is ill-formed, or given under both names.

    """
    x = chosen(input, value, "input", "value")
    with name_scope(name, "conv1d", [x, filters]) as scope:
        form, first = _row_format(data_format, ("NHWC", "NWC", "NCHW", "NCW"))
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


@public("nn.conv1d_transpose")
def conv1d_transpose(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    filters: TensorLike,
    output_shape: Any,
    strides: SizesLike,
    padding: Padding = "SAME",
    data_format: str | None = "NWC",
    dilations: SizesLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of a convolution of rows.

    Args:
      input: [batch, width, channels].
      filters: [width, outputs, channels].
      output_shape: the shape of the result.
      strides: how far the window moves over the result.
      padding: `SAME` or `VALID`.
      data_format: `NWC` or `NCW`.
      dilations: how far elements of the window are apart.
      name: the operations' scope.

    Raises:
      ValueError: an argument is ill-formed.

    """
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as scope:
        form, first = _row_format(data_format, ("NWC", "NCW"))
        row_axis = 2 if first else 1
        steps = [1, *per_dimension(strides, 1, "stride", first=first)]
        apart = [1, *per_dimension(dilations, 1, "dilations", first=first)]
        images, kernels = expand_dims(input, row_axis), expand_dims(filters, 0)
        sizes = output_shape if isinstance(output_shape, Tensor) else list(output_shape)
        image_shape = concat([sizes[:row_axis], [1], sizes[row_axis:]], 0)
        inputs = {"input_sizes": image_shape, "filter": kernels, "out_backprop": images}
        convolved = window_op(
            "Conv2DBackpropInput",
            inputs,
            scope,
            strides=steps,
            padding=padding,
            data_format=form,
            dilations=apart,
        )
        return squeeze(convolved, row_axis)


@public("nn.conv_transpose")
def conv_transpose(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    filters: TensorLike,
    output_shape: Any,
    strides: SizesLike,
    padding: Padding = "SAME",
    data_format: str | None = None,
    dilations: SizesLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of a convolution in one, two or three dimensions, as `output_shape` has.

    Raises:
      ValueError: `output_shape` has no length, or one that is not 3, 4 or 5.

    """
    with name_scope(name, "conv_transpose", [input, output_shape]) as scope:
        if isinstance(output_shape, Tensor):
            spatial: Any = output_shape.shape[0] - 2
        elif isinstance(output_shape, Sized):
            spatial = len(output_shape) - 2
        else:
            raise bad_value(
                "`output_shape` must be a tensor or sized collection. Received: "
                f"output_shape={output_shape}"
            )
        if not 1 <= spatial <= 3:
            raise bad_value(
                f"`output_shape` must be of length 3, 4 or 5. Received: output_shape="
                f"{output_shape} of length {spatial + 2}."
            )
        function = (conv1d_transpose, conv2d_transpose_v2, conv3d_transpose_v2)[int(spatial) - 1]
        return function(
            input,
            filters,
            output_shape,
            strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            name=scope,
        )


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
    """Each window of volumes times each filter.

    Args:
      input: [batch, depth, height, width, channels].
      filter: [depth, height, width, channels, outputs].
      strides: five numbers, how far the window moves.
      padding: `SAME` or `VALID`.
      data_format: `NDHWC` or `NCDHW`.
      dilations: five numbers, how far elements of the window are apart.
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


@public("nn.conv3d_transpose")
def conv3d_transpose(
    value: TensorLike,
    filter: TensorLike | None = None,  # noqa: A002 - TensorFlow's name
    output_shape: TensorLike | None = None,
    strides: SizesLike | None = None,
    padding: Padding = "SAME",
    data_format: str | None = "NDHWC",
    name: str | None = None,
    input: TensorLike | None = None,  # noqa: A002 - TensorFlow's name
    filters: TensorLike | None = None,
    dilations: SizesLike | None = None,
) -> Tensor:
    """The transpose of a convolution of volumes; arguments as those of `conv2d_transpose`."""
    kernels = chosen(filters, filter, "filters", "filter")
    x = chosen(input, value, "input", "value")
    return conv3d_transpose_v2(
        x, kernels, output_shape, strides, padding, data_format, dilations, name
    )


def conv3d_transpose_v2(
    value: TensorLike | None,
    filters: TensorLike | None,
    output_shape: TensorLike | None,
    strides: SizesLike | None,
    padding: Padding = "SAME",
    data_format: str | None = "NDHWC",
    dilations: SizesLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of a convolution of volumes, its arguments in the order of version 2."""
    with name_scope(name, "conv3d_transpose", [value, output_shape]) as scope:
        form = "NDHWC" if data_format is None else data_format
        first = is_first(form)
        steps = per_dimension(strides, 3, "strides", first=first)
        apart = per_dimension(dilations, 3, "dilations", first=first)
        inputs = {"input_sizes": output_shape, "filter": filters, "out_backprop": value}
        return window_op(
            "Conv3DBackpropInputV2",
            inputs,
            scope,
            strides=steps,
            padding=padding,
            data_format=form,
            dilations=apart,
        )
