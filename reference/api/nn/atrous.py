"""The transpose of a convolution whose windows' elements are apart. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.reference.api.nn.convolutions import conv2d_transpose
from sessrun.reference.api.nn.space import batch_to_space, space_to_batch
from sessrun.reference.api.nn.windows import window_op
from sessrun.reference.api.ops.array_ops import shape
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__: list[str] = []


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
      rate: how far elements of the window are apart.
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
    """The shape of the result, as it was given.

    Raises:
      ValueError: it has not four elements, or not as many channels as the filters give.

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
    """What is added above and below, left and right.

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
