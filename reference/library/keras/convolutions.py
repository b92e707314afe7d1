"""Convolution, pooling, padding and bias of `tf.keras.backend`, in both data formats.

Source: tf_keras 2.21.

Images with channels first are turned before and after: the operations of CPUs take channels last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.functions import temporal_padding
from sessrun.reference.library.keras.settings import image_data_format

__all__ = [
    "bias_add",
    "conv1d",
    "conv2d",
    "conv3d",
    "pool2d",
    "pool3d",
    "spatial_2d_padding",
    "spatial_3d_padding",
]


def _format(data_format: str | None) -> str:
    given = image_data_format() if data_format is None else data_format
    if given not in {"channels_first", "channels_last"}:
        raise bad_value(f"Unknown data_format: {given}")
    return given


def _padding(padding: str) -> str:
    if padding not in {"same", "valid"}:
        raise bad_value(f"Invalid padding: {padding}")
    return padding.upper()


def _with_channels_last(
    function: Callable[[Any], Tensor], x: Any, rank: int, data_format: str | None
) -> Tensor:
    """Apply a channels-last function, transposing input and output for channels first."""
    if _format(data_format) == "channels_last":
        return function(x)
    result = function(tf.transpose(x, (0, *range(2, rank + 2), 1)))
    return tf.transpose(result, (0, rank + 1, *range(1, rank + 1)))


def _convolved(
    x: TensorLike,
    kernel: Tensor,
    strides: object,
    padding: str,
    data_format: str | None,
    dilation_rate: int | Sequence[int],
    rank: int,
) -> Tensor:
    return _with_channels_last(
        lambda x: tf.nn.convolution(
            input=x,
            filter=kernel,
            dilation_rate=dilation_rate,
            strides=strides,
            padding=_padding(padding),
            data_format={1: "NWC", 2: "NHWC", 3: "NDHWC"}[rank],
        ),
        x,
        rank,
        data_format,
    )


def conv1d(
    x: Any,
    kernel: Any,
    strides: int | Sequence[int] = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int | Sequence[int] = 1,
) -> Tensor:
    """The convolution of sequences.

    Args:
      x: of shape [batch, steps, channels], or with channels first.
      kernel: of shape [size, channels, filters].
      strides: how far the window moves each time.
      padding: `valid`, `same` or `causal`, which sees nothing of what comes later.
      data_format: `channels_last` or `channels_first`.
      dilation_rate: the distance of the window's elements.

    Raises:
      ValueError: there is no such format or padding.

    """
    if padding == "causal":
        reach = dilation_rate if isinstance(dilation_rate, int) else dilation_rate[0]
        x = temporal_padding(x, (reach * (kernel.shape.as_list()[0] - 1), 0))
        padding = "valid"
    return _convolved(x, kernel, strides, padding, data_format, dilation_rate, 1)


def conv2d(
    x: TensorLike,
    kernel: Tensor,
    strides: object = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int | Sequence[int] = (1, 1),
) -> Tensor:
    """The convolution of images; arguments and errors are those of `conv1d` but for `causal`."""
    return _convolved(x, kernel, strides, padding, data_format, dilation_rate, 2)


def conv3d(
    x: TensorLike,
    kernel: Tensor,
    strides: object = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int | Sequence[int] = (1, 1, 1),
) -> Tensor:
    """The convolution of volumes; arguments and errors are those of `conv1d` but for `causal`."""
    return _convolved(x, kernel, strides, padding, data_format, dilation_rate, 3)


def bias_add(x: Any, bias: Any, data_format: str | None = None) -> Tensor:
    """Add a bias per channel, or per position and channel.

    Args:
      x: of shape [batch, ..., channels], or with channels first.
      bias: of shape [channels] or [..., channels].
      data_format: `channels_last` or `channels_first`.

    Raises:
      ValueError: there is no such format, or the bias has another rank.

    """
    is_first = _format(data_format) == "channels_first"
    shape, rank = tuple(bias.shape.as_list()), x.shape.rank
    if len(shape) not in {1, rank - 1}:
        raise bad_value(
            f"Unexpected bias dimensions {len(shape)}, expect to be 1 or {rank} dimensions"
        )
    if len(shape) == 1:
        return tf.nn.bias_add(x, bias, data_format="NCHW" if is_first else "NHWC")
    if rank not in {3, 4, 5}:
        return tf.nn.bias_add(x, bias)
    return x + tf.reshape(bias, (1, shape[-1], *shape[:-1]) if is_first else (1, *shape))


def _pooled(
    x: TensorLike,
    pool_size: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str | None,
    pool_mode: str,
) -> Tensor:
    rank = len(pool_size)
    pools = {"max": (tf.nn.max_pool, tf.nn.max_pool3d), "avg": (tf.nn.avg_pool, tf.nn.avg_pool3d)}
    _format(data_format)  # is refused first
    if pool_mode not in pools:
        raise bad_value(f"Invalid pooling mode: {pool_mode}")
    return _with_channels_last(
        lambda x: pools[pool_mode][rank - 2](
            x,
            (1, *pool_size, 1),
            (1, *strides, 1),
            padding=_padding(padding),
            data_format={2: "NHWC", 3: "NDHWC"}[rank],
        ),
        x,
        rank,
        data_format,
    )


def pool2d(
    x: TensorLike,
    pool_size: Sequence[int],
    strides: Sequence[int] = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:
    """Max or average pooling of images.

    Args:
      x: of shape [batch, rows, columns, channels], or with channels first.
      pool_size: the window's sizes.
      strides: how far it moves each time.
      padding: `valid` or `same`.
      data_format: `channels_last` or `channels_first`.
      pool_mode: `max` or `avg`.

    Raises:
      ValueError: there is no such format, padding or mode, or sizes are not two.

    """
    for name, given in (("pool_size", pool_size), ("strides", strides)):
        if len(given) != 2:
            raise bad_value(f"`{name}` must be a tuple of 2 integers.")
    return _pooled(x, pool_size, strides, padding, data_format, pool_mode)


def pool3d(
    x: Tensor,
    pool_size: Sequence[int],
    strides: Sequence[int] = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:
    """As `pool2d`, of volumes."""
    return _pooled(x, pool_size, strides, padding, data_format, pool_mode)


def spatial_2d_padding(
    x: Tensor, padding: Sequence[Sequence[int]] = ((1, 1), (1, 1)), data_format: str | None = None
) -> Tensor:
    """Pad height and width of images with zeros."""
    return _surrounded(x, padding, data_format)


def spatial_3d_padding(
    x: TensorLike,
    padding: Sequence[Sequence[int]] = ((1, 1), (1, 1), (1, 1)),
    data_format: str | None = None,
) -> Tensor:
    """Pad depth, height and width of volumes with zeros."""
    return _surrounded(x, padding, data_format)


def _surrounded(x: TensorLike, padding: Sequence[Sequence[int]], data_format: str | None) -> Tensor:
    pairs = [list(pair) for pair in padding]
    is_first = _format(data_format) == "channels_first"
    return tf.pad(x, [[0, 0], [0, 0], *pairs] if is_first else [[0, 0], *pairs, [0, 0]])
