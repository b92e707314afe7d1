"""Poolings in one, two and three dimensions. Source: TF 2.21."""

from __future__ import annotations

from typing import Any, NamedTuple

from sessrun.reference.api.nn.window_arguments import (
    Padding,
    SizesLike,
    is_first,
    padding_of,
    per_dimension,
    window_op,
)
from sessrun.reference.api.ops.array_ops import expand_dims, squeeze
from sessrun.reference.api.ops.reduce_ops import chosen
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["avg_pool", "avg_pool3d", "max_pool", "max_pool3d"]


def _window(
    ksize: SizesLike, strides: SizesLike, spatial: int, data_format: str | None
) -> dict[str, list[int]]:
    """The attributes `ksize` and `strides`, with a number for each dimension."""
    first = data_format is not None and is_first(data_format)
    return {
        "ksize": per_dimension(ksize, spatial, "ksize", first=first),
        "strides": per_dimension(strides, spatial, "strides", first=first),
    }


def _check_vectors(padding: Padding, data_format: str | None) -> None:
    if isinstance(padding, list | tuple) and data_format == "NCHW_VECT_C":
        raise bad_value(
            "`data_format='NCHW_VECT_C'` is not supported with explicit padding. "
            f"Received: padding={padding}"
        )


@public("nn.max_pool")
def max_pool(
    value: TensorLike,
    ksize: SizesLike,
    strides: SizesLike,
    padding: Padding,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,  # noqa: A002 - TensorFlow's name
) -> Tensor:
    """Max pooling of images.

    Args:
      value: [batch, height, width, channels].
      ksize: the window's sizes: one number, two or four.
      strides: the strides of the window, in the same forms.
      padding: `SAME`, `VALID`, or four pairs: the zeros before and after each dimension.
      data_format: `NHWC` or `NCHW`.
      name: the operation's name.
      input: the newer name of `value`.

    Raises:
      ValueError: an argument is ill-formed, or given under both names.

    """
    x = chosen(input, value, "input", "value")
    with name_scope(name, "MaxPool", [x]) as scope:
        form = "NHWC" if data_format is None else data_format
        window = _window(ksize, strides, 2, form)
        _check_vectors(padding, form)
        kind, explicit = padding_of(padding)
        if 0 in window["ksize"]:
            raise bad_value(f"`ksize` cannot be zero. Received: ksize={window['ksize']}")
        return window_op(
            "MaxPool",
            {"input": x},
            scope,
            padding=kind,
            explicit_paddings=explicit,
            data_format=form,
            **window,
        )


@public("nn.max_pool2d")
def max_pool2d(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    ksize: SizesLike,
    strides: SizesLike,
    padding: Padding,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Tensor:
    """Max pooling of images; arguments as for `max_pool`."""
    with name_scope(name, "MaxPool2d", [input]) as scope:
        form = "NHWC" if data_format is None else data_format
        window = _window(ksize, strides, 2, form)
        _check_vectors(padding, form)
        kind, explicit = padding_of(padding)
        return window_op(
            "MaxPool",
            {"input": input},
            scope,
            padding=kind,
            explicit_paddings=explicit,
            data_format=form,
            **window,
        )


@public("nn.max_pool1d")
def max_pool1d(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    ksize: SizesLike,
    strides: SizesLike,
    padding: Padding,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """Max pooling of rows.

    Args:
      input: [batch, width, channels].
      ksize: the window's size: one number or three.
      strides: the strides of the window, in the same forms.
      padding: `SAME`, `VALID`, or three pairs: the zeros before and after each dimension.
      data_format: `NWC` or `NCW`.
      name: the operations' scope.

    Raises:
      ValueError: an argument is ill-formed.

    """
    with name_scope(name, "MaxPool1d", [input]) as scope:
        _check_vectors(padding, data_format)
        kind, explicit = padding_of(padding, 3)
        more = {"explicit_paddings": [0, 0, *explicit] if kind == "EXPLICIT" else explicit}
        return _of_rows(
            "MaxPool", "input", input, ksize, strides, data_format, scope, padding=kind, **more
        )


def _of_rows(
    op_type: str,
    argument: str,
    value: TensorLike,
    ksize: SizesLike,
    strides: SizesLike,
    data_format: str | None,
    scope: str,
    **attrs: object,
) -> Tensor:
    """A pooling of rows, as one of images of height 1."""
    form = "NWC" if data_format is None else data_format
    window = {key: [1, *sizes] for key, sizes in _window(ksize, strides, 1, form).items()}
    row_axis = 1 if form == "NWC" else 2
    images = expand_dims(value, row_axis)
    wide = "NHWC" if form == "NWC" else "NCHW"
    pooled = window_op(op_type, {argument: images}, scope, data_format=wide, **window, **attrs)
    return squeeze(pooled, row_axis)


@public("nn.max_pool3d")
def max_pool3d(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    ksize: SizesLike,
    strides: SizesLike,
    padding: Padding,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """Max pooling of volumes.

    Args:
      input: [batch, depth, height, width, channels].
      ksize: the window's sizes: one number, three or five.
      strides: the strides of the window, in the same forms.
      padding: `SAME` or `VALID`.
      data_format: `NDHWC` or `NCDHW`.
      name: the operation's name.

    Raises:
      ValueError: an argument is ill-formed.

    """
    with name_scope(name, "MaxPool3D", [input]) as scope:
        form = "NDHWC" if data_format is None else data_format
        return window_op(
            "MaxPool3D",
            {"input": input},
            scope,
            padding=padding,
            data_format=form,
            **_window(ksize, strides, 3, form),
        )


@public("nn.avg_pool", "nn.avg_pool2d")
def avg_pool(
    value: TensorLike,
    ksize: SizesLike,
    strides: SizesLike,
    padding: Padding,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,  # noqa: A002 - TensorFlow's name
) -> Tensor:
    """Average pooling of images; arguments as for `max_pool`, without explicit paddings."""
    with name_scope(name, "AvgPool", [value]) as scope:
        x = chosen(input, value, "input", "value")
        form = "NHWC" if data_format is None else data_format
        return window_op(
            "AvgPool",
            {"value": x},
            scope,
            padding=padding,
            data_format=form,
            **_window(ksize, strides, 2, form),
        )


@public("nn.avg_pool1d")
def avg_pool1d(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    ksize: SizesLike,
    strides: SizesLike,
    padding: Padding,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """Average pooling of rows; arguments as for `max_pool1d`, without explicit paddings."""
    with name_scope(name, "AvgPool1D", [input]) as scope:
        return _of_rows(
            "AvgPool", "value", input, ksize, strides, data_format, scope, padding=padding
        )


@public("nn.avg_pool3d")
def avg_pool3d(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    ksize: SizesLike,
    strides: SizesLike,
    padding: Padding,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """Average pooling of volumes; arguments as for `max_pool3d`."""
    with name_scope(name, "AvgPool3D", [input]) as scope:
        form = "NDHWC" if data_format is None else data_format
        return window_op(
            "AvgPool3D",
            {"input": input},
            scope,
            padding=padding,
            data_format=form,
            **_window(ksize, strides, 3, form),
        )


def _spatial(value: Any) -> int:
    """The number of spatial dimensions.

    Raises:
      ValueError: not one, two or three.

    """
    spatial = len(value.shape) - 2
    if not 1 <= spatial <= 3:
        raise bad_value(
            f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape="
            f"{value.shape} of rank {spatial + 2}."
        )
    return spatial


@public("nn.max_pool_v2")
def max_pool_v2(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    ksize: SizesLike,
    strides: SizesLike,
    padding: Padding,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Max pooling in 1, 2 or 3 dimensions: two fewer than the rank of the input.

    Raises:
      ValueError: an argument is ill-formed, or the rank is not 3, 4 or 5.

    """
    spatial = _spatial(input)
    _check_vectors(padding, data_format)
    window = _window(ksize, strides, spatial, data_format)
    if spatial == 3:
        if isinstance(padding, list | tuple):
            raise bad_value(
                "Explicit padding is not supported with an input tensor of rank 5. "
                f"Received: padding={padding}"
            )
        return window_op(
            "MaxPool3D", {"input": input}, name, padding=padding, data_format=data_format, **window
        )
    function = max_pool1d if spatial == 1 else max_pool2d
    return function(input, padding=padding, data_format=data_format, name=name, **window)


@public("nn.avg_pool_v2")
def avg_pool_v2(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    ksize: SizesLike,
    strides: SizesLike,
    padding: Padding,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Average pooling in 1, 2 or 3 dimensions: two fewer than the rank of the input.

    Raises:
      ValueError: an argument is ill-formed, or the rank is not 3, 4 or 5.

    """
    spatial = _spatial(input)
    window = _window(ksize, strides, spatial, data_format)
    if spatial == 1:
        return avg_pool1d(input, padding=padding, data_format=data_format, name=name, **window)
    op_type, argument = ("AvgPool", "value") if spatial == 2 else ("AvgPool3D", "input")
    return window_op(
        op_type, {argument: input}, name, padding=padding, data_format=data_format, **window
    )


class MaxPoolWithArgmax(NamedTuple):
    """The outputs of MaxPoolWithArgmax."""

    output: Tensor
    argmax: Tensor


@public("nn.max_pool_with_argmax")
def max_pool_with_argmax(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    ksize: SizesLike,
    strides: SizesLike,
    padding: str,
    data_format: str = "NHWC",
    Targmax: DTypeLike | None = None,  # noqa: N803 - TensorFlow's name
    name: str | None = None,
    output_dtype: DTypeLike | None = None,
    include_batch_in_index: bool = False,
) -> MaxPoolWithArgmax:
    """Max pooling of images, and the flat index of each maximum in its image.

    Args:
      input: [batch, height, width, channels].
      ksize: the window's sizes, four.
      strides: the strides of the window, four numbers.
      padding: `SAME` or `VALID`.
      data_format: `NHWC`.
      Targmax: the dtype of the indices: int32 or int64.
      name: the operation's name.
      output_dtype: the newer name of `Targmax`.
      include_batch_in_index: whether an index counts through the batch instead of one image.

    Raises:
      ValueError: the format is another, or the dtype is given under both names.

    """
    if data_format != "NHWC":
        raise bad_value(
            "`data_format` values other than 'NHWC' are not supported. Received: "
            f"data_format={data_format}"
        )
    kind = chosen(output_dtype, Targmax, "output_dtype", "Targmax")
    attrs = {
        "ksize": ksize,
        "strides": strides,
        "padding": padding,
        "Targmax": dtypes.int64 if kind is None else kind,
        "include_batch_in_index": include_batch_in_index,
    }
    return MaxPoolWithArgmax(*apply_op("MaxPoolWithArgmax", {"input": input}, attrs, name).outputs)
