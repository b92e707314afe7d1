"""`tensor[...]`: a Python index becomes one `StridedSlice`, a mask what `boolean_mask` makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sessrun.reference import conversion, dtypes
from sessrun.reference.build import apply_op
from sessrun.reference.dimension import Dimension
from sessrun.reference.errors import bad_type
from sessrun.reference.stacks import graph_for
from sessrun.reference.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["strided_slice"]

_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def strided_slice(tensor: Any, key: Any, name: str = "strided_slice") -> Tensor:
    """The part of a tensor (or variable) that an index names.

    Args:
      tensor: the tensor.
      key: integers, scalar integer tensors, slices of them, `...`, None; or a tuple of these;
        or an array or tensor of bools, a mask.
      name: the operation's name.

    Raises:
      InvalidArgumentTypeError: an index is of another type.
      InvalidArgumentValueError: an index is out of range, or there are too many.

    """
    if _is_mask(key):
        from sessrun.reference.array_ops import boolean_mask  # noqa: PLC0415 - imports this module

        return boolean_mask(tensor, key)
    items = key if isinstance(key, tuple | list) else (key,)
    bounds: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    masks = dict.fromkeys(_MASKS, 0)
    for place, item in enumerate(items):
        for list_, bound in zip(bounds, _bounds(item, 1 << place, masks), strict=True):
            list_.append(bound)
    graph = graph_for(tensor.graph)
    with graph.as_default(), graph.name_scope(name) as scope:
        begin, end, strides = (
            _vector(bound, text)
            for bound, text in zip(bounds, ("stack", "stack_1", "stack_2"), strict=True)
        )
        inputs = {"input": tensor, "begin": begin, "end": end, "strides": strides}
        return apply_op("StridedSlice", inputs, masks, scope).outputs[0]


def _is_mask(key: Any) -> bool:
    if isinstance(key, Tensor):
        return key.dtype.is_bool
    return isinstance(key, bool | np.bool_) or (isinstance(key, np.ndarray) and key.dtype == bool)


def _bounds(item: Any, bit: int, masks: dict[str, int]) -> tuple[Any, Any, Any]:
    """Begin, end and stride of one index; sets its bits in the masks."""
    if isinstance(item, slice):
        if item.start is None:
            masks["begin_mask"] |= bit
        if item.stop is None:
            masks["end_mask"] |= bit
        return (
            0 if item.start is None else _index(item.start),
            0 if item.stop is None else _index(item.stop),
            1 if item.step is None else _index(item.step),
        )
    if item is Ellipsis:
        masks["ellipsis_mask"] |= bit
        return 0, 0, 1
    if item is None:
        masks["new_axis_mask"] |= bit
        return 0, 0, 1
    index = _index(item)
    masks["shrink_axis_mask"] |= bit
    return index, index + 1, 1


def _index(item: Any) -> Any:
    if isinstance(item, Dimension) and item.value is not None:
        return item.value
    if isinstance(item, bool | np.bool_) or not (
        isinstance(item, int | np.integer)
        or (
            isinstance(item, Tensor)
            and item.dtype.base_dtype in {dtypes.int32, dtypes.int64, dtypes.int16}
            and item.ndim in {None, 0}
        )
    ):
        raise bad_type(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
            f"tf.int32/tf.int64 tensors are valid indices, got {item!r}"
        )
    return item


def _vector(bounds: Sequence[Any], name: str) -> Tensor:
    if any(isinstance(bound, Tensor) for bound in bounds):
        return conversion.convert_to_tensor(list(bounds), name=name)
    return conversion.constant(np.array(bounds, np.int32), name)
