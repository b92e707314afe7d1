"""Greyscale dilation and erosion. Source: TF 2.21."""

from __future__ import annotations

from sessrun.reference.api.nn.window_arguments import SizesLike, window_op
from sessrun.reference.api.ops.reduce_ops import chosen
from sessrun.reference.build.generated import neg, reverse_v2
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public


@public("nn.dilation2d")
def dilation2d(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    filter: TensorLike | None = None,  # noqa: A002 - the same
    strides: SizesLike | None = None,
    rates: SizesLike | None = None,
    padding: str | None = None,
    name: str | None = None,
    filters: TensorLike | None = None,
    dilations: SizesLike | None = None,
) -> Tensor:
    """The greyscale dilation: the maximum of each window plus the filter of its channel.

    Args:
      input: [batch, height, width, channels].
      filter: [height, width, channels].
      strides: the strides of the window, four numbers.
      rates: the dilation rates of the window, four numbers.
      padding: `SAME` or `VALID`.
      name: the operation's name.
      filters: the newer name of `filter`.
      dilations: the newer name of `rates`.

    Raises:
      ValueError: an argument is given under both names.

    """
    kernels = chosen(filters, filter, "filters", "filter")
    apart = chosen(dilations, rates, "dilations", "rates")
    inputs = {"input": input, "filter": kernels}
    return window_op("Dilation2D", inputs, name, strides=strides, rates=apart, padding=padding)


@public("nn.erosion2d")
def erosion2d(
    value: TensorLike,
    kernel: TensorLike,
    strides: SizesLike,
    rates: SizesLike,
    padding: str,
    name: str | None = None,
) -> Tensor:
    """The greyscale erosion: the minimum of each window minus the filter; as `dilation2d`."""
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        below, turned = neg(value), reverse_v2(kernel, [0, 1])
        inputs = {"input": below, "filter": turned}
        return neg(
            window_op("Dilation2D", inputs, scope, strides=strides, rates=rates, padding=padding)
        )
