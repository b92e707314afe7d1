"""Arguments of convolution and pooling windows: validation and output lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.settings import image_data_format

__all__ = [
    "format_of_ops",
    "normalized_format",
    "normalized_padding",
    "normalized_tuple",
    "output_length",
    "output_lengths",
    "transposed_length",
]

_FORMS: Final = {
    ("channels_last", 3): "NWC",
    ("channels_last", 4): "NHWC",
    ("channels_last", 5): "NDHWC",
    ("channels_first", 3): "NCW",
    ("channels_first", 4): "NCHW",
    ("channels_first", 5): "NCDHW",
}


def format_of_ops(data_format: str, ndim: int) -> str:
    """The data format in the operations' notation, such as `NHWC`.

    Raises:
      ValueError: operations have no such format for tensors of this rank.

    """
    if (data_format, ndim) not in _FORMS:
        raise bad_value(f"Invalid data_format for rank {ndim}: {data_format}")
    return _FORMS[data_format, ndim]


def normalized_format(data_format: str | None) -> str:
    """`channels_last` or `channels_first`, the default for None.

    Raises:
      ValueError: `data_format` is neither.

    """
    given = image_data_format() if data_format is None else data_format
    if given.lower() not in {"channels_first", "channels_last"}:
        raise bad_value(
            'The `data_format` argument must be one of "channels_first", "channels_last". '
            f"Received: {given}"
        )
    return given.lower()


def normalized_padding(padding: Any) -> Any:
    """The validated padding: `valid`, `same` or `causal`; explicit paddings are unchanged.

    Raises:
      ValueError: `padding` is none of these.

    """
    if isinstance(padding, list | tuple):
        return padding
    if padding.lower() not in {"valid", "same", "causal"}:
        raise bad_value(
            'The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", '
            f"only for `Conv1D`). Received: {padding}"
        )
    return padding.lower()


def normalized_tuple(
    value: int | Sequence[int], n: int, name: str, *, zero: bool = False
) -> tuple[int, ...]:
    """A tuple of `n` integers, from one integer or a sequence.

    Args:
      value: an integer or a sequence.
      n: how many.
      name: the argument, for messages.
      zero: whether 0 may be among them.

    Raises:
      ValueError: `value` is not `n` integers, or an integer is too small.

    """
    wrong = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    try:
        given = (value,) * n if isinstance(value, int) else tuple(value)
        numbers = [int(item) for item in given]
    except (TypeError, ValueError):
        raise bad_value(wrong) from None
    if len(given) != n:
        raise bad_value(wrong)
    if min(numbers, default=1) < (0 if zero else 1):
        raise bad_value(f"{wrong}, of which one is too small")
    return given


def output_length(
    size: int | None, window: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """The output length of a convolution or pooling axis; None if the input's is unknown."""
    if size is None:
        return None
    reach = window + (window - 1) * (dilation - 1)
    longer = {"same": 0, "causal": 0, "valid": 1 - reach, "full": reach - 1}[padding]
    return (size + longer + stride - 1) // stride


def output_lengths(
    sizes: Sequence[int | None],
    windows: Sequence[int],
    padding: str,
    strides: Sequence[int],
    dilations: Sequence[int],
) -> list[int | None]:
    """The output sizes of all spatial axes of a convolution."""
    axes = zip(sizes, windows, strides, dilations, strict=True)
    return [
        output_length(size, window, padding, stride, dilation)
        for size, window, stride, dilation in axes
    ]


def transposed_length(
    size: int | Tensor | None,
    window: int,
    padding: str,
    output_padding: int | None = None,
    stride: int = 0,
    dilation: int = 1,
) -> int | Tensor | None:
    """The output length of a transposed convolution axis; None if the input's is unknown.

    Args:
      size: an integer or a scalar tensor.
      window: the size of the window.
      padding: `valid`, `same` or `full`.
      output_padding: how much longer the axis is than it must be; None for the default.
      stride: how far the window moves each time.
      dilation: the distance of elements of the window.

    """
    if size is None:
        return None
    reach = window + (window - 1) * (dilation - 1)
    if output_padding is not None:
        cut = {"same": reach // 2, "valid": 0, "full": reach - 1}[padding]
        return (size - 1) * stride + reach - 2 * cut + output_padding
    if padding == "valid":
        return size * stride + max(reach - stride, 0)
    if padding == "full":
        return size * stride - (stride + reach - 2)
    return size * stride
