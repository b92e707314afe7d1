"""Transposed convolutions in one, two and three dimensions, also dilated. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

import numpy as np

from sessrun.reference.api.nn.space_to_batch import batch_to_space, space_to_batch
from sessrun.reference.api.nn.window_arguments import (
    Padding,
    SizesLike,
    is_first,
    padding_of,
    per_dimension,
    row_format,
    window_op,
)
from sessrun.reference.api.ops.array_ops import concat, expand_dims, shape, squeeze
from sessrun.reference.api.ops.reduce_ops import chosen
from sessrun.reference.base.dimension import Dimension
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__: list[str] = ["conv2d_transpose_v2", "conv3d_transpose_v2"]


@public("nn.atrous_conv2d_transpose")
def atrous_conv2d_transpose(
    value: TensorLike,
    filters: TensorLike,
    output_shape: TensorLike,
    rate: int,
    padding: str,
    name: str | None = None,
) -> Tensor:
    """The transpose of `atrous_conv2d`.

    Args:
      value: [batch, height, width, channels].
      filters: [height, width, outputs, channels].
      output_shape: the shape of the result.
      rate: the dilation rate of the window.
      padding: `SAME` or `VALID`.
      name: the operations' scope.

    Raises:
      ValueError: an argument is ill-formed, or the channels do not agree.

    """
    with name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]):
        x = convert_to_tensor(value, name="value")
        kernels = convert_to_tensor(filters, name="filters")
        if not x.shape[3].is_compatible_with(kernels.shape[3]):
            raise bad_value(
                "`value` channel count must be compatible with `filters` input channel "
                f"count. Received: {x.shape} and {kernels.shape}"
            )
        if rate < 1:
            raise bad_value(f"`rate` cannot be less than one. Received: rate={rate}")
        if rate == 1:
            return conv2d_transpose(x, kernels, output_shape, [1] * 4, padding, "NHWC")
        sizes = _checked(output_shape, kernels)
        (top, bottom), (left, right) = _paddings(kernels, rate, padding)
        height, width = sizes[1] + top + bottom, sizes[2] + left + right
        below, behind = (rate - height % rate) % rate, (rate - width % rate) % rate
        blocks = space_to_batch(x, [[0, below], [0, behind]], rate)
        inner = [
            rate * rate * sizes[0],
            (height + below) // rate,
            (width + behind) // rate,
            sizes[3],
        ]
        inputs = {"input_sizes": inner, "filter": kernels, "out_backprop": blocks}
        spread = window_op(
            "Conv2DBackpropInput", inputs, strides=[1] * 4, padding="VALID", data_format="NHWC"
        )
        return batch_to_space(spread, [[top, bottom + below], [left, right + behind]], rate)


def _checked(output_shape: TensorLike, filters: Tensor) -> Any:
    """`output_shape` after a check; a tuple becomes a list.

    Raises:
      ValueError: there are not four, or the channels are not those of the filters.

    """
    static = convert_to_tensor(output_shape, name="output_shape").shape
    if not static.is_compatible_with([4]):
        raise bad_value(f"`output_shape` must have shape (4,). Received: output_shape={static}")
    sizes = list(output_shape) if isinstance(output_shape, tuple) else output_shape
    if isinstance(sizes, list | np.ndarray) and not filters.shape[2].is_compatible_with(sizes[3]):
        raise bad_value(
            "`output_shape` channel count must be compatible with `filters` output "
            f"channel count. Received: {sizes} and {filters.shape}"
        )
    return sizes


def _paddings(filters: Tensor, rate: int, padding: str) -> tuple[Any, Any]:
    """The paddings of height (top, bottom) and width (left, right).

    Raises:
      ValueError: the padding is unknown.

    """
    if padding == "VALID":
        return (0, 0), (0, 0)
    if padding != "SAME":
        raise bad_value(f"`padding` must be either 'VALID' or 'SAME'. Received: padding={padding}")
    known = filters.shape.is_fully_defined()
    window: Any = filters.shape.as_list() if known else shape(filters)
    height, width = window[0], window[1]
    high = height + (height - 1) * (rate - 1)
    wide = width + (width - 1) * (rate - 1)
    rows, columns = high - 1, wide - 1
    top = rows // 2
    bottom = rows - top
    left = columns // 2
    return (top, bottom), (left, columns - left)


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
    """The transpose (gradient) of `conv2d`, whose result is larger than `value`.

    Args:
      value: [batch, height, width, channels].
      filter: [height, width, outputs, channels].
      output_shape: the shape of the result.
      strides: the strides of the forward convolution, over the result.
      padding: the padding of the forward convolution, as for `conv2d`.
      data_format: `NHWC` or `NCHW`.
      name: the operation's name.
      input: the newer name of `value`.
      filters: the newer name of `filter`.
      dilations: the dilation rates of the window.

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
    """`conv2d_transpose` with the arguments of TensorFlow 2."""
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
    """The transpose (gradient) of `conv1d`.

    Args:
      input: [batch, width, channels].
      filters: [width, outputs, channels].
      output_shape: the shape of the result.
      strides: the strides of the forward convolution, over the result.
      padding: `SAME` or `VALID`.
      data_format: `NWC` or `NCW`.
      dilations: the dilation rates of the window.
      name: the operations' scope.

    Raises:
      ValueError: an argument is ill-formed.

    """
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as scope:
        form, first = row_format(data_format, ("NWC", "NCW"))
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
    """The transpose (gradient) of `conv3d`; arguments as those of `conv2d_transpose`."""
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
    """`conv3d_transpose` with the arguments of TensorFlow 2."""
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


@public("nn.conv_transpose")
def conv_transpose(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    filters: TensorLike,
    output_shape: ShapeLike | TensorLike,
    strides: SizesLike,
    padding: Padding = "SAME",
    data_format: str | None = None,
    dilations: SizesLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of a 1-D, 2-D or 3-D convolution; the length of `output_shape` says which.

    Raises:
      ValueError: `output_shape` has no length, or a length other than 3, 4 and 5.

    """
    with name_scope(name, "conv_transpose", [input, output_shape]) as scope:
        if isinstance(output_shape, Tensor):
            spatial: int | Dimension = output_shape.shape[0] - 2
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
