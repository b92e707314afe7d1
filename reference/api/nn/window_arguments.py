"""Arguments of convolutions and poolings: sizes for each dimension, paddings, formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Any, TypeAlias

import numpy as np

from sessrun.reference.api.ops.array_ops import concat, reshape, shape
from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "Padding",
    "SizesLike",
    "is_first",
    "one_batch",
    "padding_of",
    "per_dimension",
    "row_format",
    "window_op",
]

#: Sizes, strides or dilations of windows: one number for all dimensions, or one for each.
SizesLike: TypeAlias = "int | Sequence[int] | np.ndarray"
#: `SAME`, `VALID`, or for each dimension how many elements are added before and behind it.
Padding: TypeAlias = "str | list[Sequence[int]] | tuple[Sequence[int], ...]"


def is_first(data_format: str) -> bool:
    """Whether the channels come before the spatial dimensions."""
    return data_format.startswith("NC")


def per_dimension(value: Any, spatial: int, name: str, *, first: bool = False) -> list[int]:
    """Sizes of windows with a number for each dimension, batch and channels included.

    Args:
      value: one number, one for each spatial dimension, or one for each dimension; None for ones.
      spatial: the number of spatial dimensions.
      name: the argument's name.
      first: whether the channels come before the spatial dimensions.

    Raises:
      ValueError: there are too few or too many numbers.

    """
    if value is None:
        return [1] * (spatial + 2)
    numbers = list(value) if isinstance(value, Sized) else [value]  # type: ignore[call-overload]  # sized sequences
    if len(numbers) == spatial + 2:
        return numbers
    if len(numbers) == 1:
        numbers *= spatial
    elif len(numbers) != spatial:
        raise bad_value(
            f"{name} should be of length 1, {spatial} or {spatial + 2}. Received: "
            f"{name}={numbers} of length {len(numbers)}"
        )
    return [1, 1, *numbers] if first else [1, *numbers, 1]


def padding_of(padding: Padding | None, rank: int = 4) -> tuple[str | None, list[int]]:
    """The attributes `padding` and `explicit_paddings` of an argument.

    Args:
      padding: `SAME`, `VALID`, or a list of pairs.
      rank: the required number of pairs.

    Raises:
      ValueError: `padding` is `EXPLICIT`, or a list with another number of pairs.

    """
    if padding == "EXPLICIT":
        raise bad_value("'EXPLICIT' is no valid `padding`: give the paddings in a list.")
    if not isinstance(padding, list | tuple):
        return padding, []
    numbers: list[int] = []
    for index, pair in enumerate(padding):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise bad_value(
                f"Each element of a list `padding` must be a list/tuple of size 2. "
                f"Received: padding={padding}, element {index}"
            )
        numbers.extend(pair)
    if len(padding) != rank:
        raise bad_value(
            f"When padding is a list, it must be of size {rank}. Received: padding="
            f"{padding} of size {len(padding)}"
        )
    return "EXPLICIT", numbers


def window_op(
    op_type: str, inputs: Mapping[str, object], name: str | None = None, **attrs: object
) -> Tensor:
    """The output of a new operation; attributes that are None keep their defaults."""
    given = {key: value for key, value in attrs.items() if value is not None}
    return one(op_type, inputs, name, **given)


def one_batch(
    value: TensorLike, function: Callable[[Tensor], Tensor], inner: int, name: str | None = None
) -> Tensor:
    """Apply a function of tensors of rank `inner` + 1 to one with several batch dimensions.

    Args:
      value: the tensor.
      function: applied to the tensor with its leading dimensions folded into one.
      inner: the rank of an element of the batch.
      name: the operations' scope.

    """
    with name_scope(name, "squeeze_batch_dims", [value]):
        x = convert_to_tensor(value, name="input")
        static = x.shape
        last: Any = static[-inner:]
        if not last.is_fully_defined():
            last = shape(x)[-inner:]
        first: Any = static[:-inner]
        if not first.is_fully_defined():
            first = shape(x)[:-inner]
        if isinstance(last, Tensor):
            flat = reshape(x, concat(([-1], last), axis=-1))
        else:
            flat = reshape(x, [-1, *last.as_list()])
        result = function(flat)
        ending: Any = result.shape[-inner:]
        if not ending.is_fully_defined():
            ending = shape(result)[-inner:]
        unflattened = reshape(result, concat((first, ending), axis=-1))
        unflattened.set_shape(static[:-inner].concatenate(unflattened.shape[-inner:]))
        return unflattened


def row_format(data_format: str | None, formats: tuple[str, ...]) -> tuple[str, bool]:
    """The format of rows as images of height 1, and whether the channels come first.

    Raises:
      ValueError: the format is unknown.

    """
    if data_format is None:
        return "NHWC", False
    if data_format not in formats:
        raise bad_value(
            f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={data_format}"
        )
    return ("NCHW", True) if is_first(data_format) else ("NHWC", False)
