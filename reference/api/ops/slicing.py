"""`tensor[...]`: indexing by a `StridedSlice`, or by `boolean_mask` for masks."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sessrun.reference.api.ops.array_ops import stack
from sessrun.reference.base import dtypes
from sessrun.reference.base.dimension import Dimension
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build import conversion
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type
from sessrun.reference.graph.default_graph import graph_for
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessrun.reference.base.dtypes import DType

__all__ = ["SLICE_TYPE_ERROR", "strided_slice"]

_MASKS: Final = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
#: The error for an index of another type.
SLICE_TYPE_ERROR: Final = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
    "tf.int32/tf.int64 tensors are valid indices"
)
#: The dtypes of indices, the widest first.
_INDICES: Final = (dtypes.int64, dtypes.int32, dtypes.int16)


def strided_slice(tensor: Tensor, key: Any, name: str = "strided_slice") -> Tensor:
    """Index a tensor or variable: `tensor[key]`.

    Args:
      tensor: the tensor.
      key: integers, scalar integer tensors, slices of them, `...`, None; or a tuple of these;
        or an array or tensor of bools, a mask.
      name: the operation's name.

    Raises:
      InvalidArgumentTypeError: an index has an unsupported type.
      InvalidArgumentValueError: an index is out of range, or there are more than dimensions.

    """
    if _is_mask(key):
        from sessrun.reference.api.ops.array_ops import boolean_mask  # noqa: PLC0415 - imports this module

        return boolean_mask(tensor, key)
    items = key if isinstance(key, tuple | list) else (key,)
    bounds: tuple[list[TensorLike], list[TensorLike], list[TensorLike]] = ([], [], [])
    masks = dict.fromkeys(_MASKS, 0)
    graph = graph_for(tensor.graph)
    with graph.as_default():
        for index, item in enumerate(items):
            for list_, bound in zip(bounds, _bounds(item, 1 << index, masks), strict=True):
                list_.append(bound)
        with graph.name_scope(name) as scope:
            begin, end, strides = _vectors(bounds)
            inputs = {"input": tensor, "begin": begin, "end": end, "strides": strides}
            return apply_op("StridedSlice", inputs, masks, scope).outputs[0]


def _is_mask(key: object) -> bool:
    if isinstance(key, Tensor):
        return key.dtype.is_bool
    return isinstance(key, bool) or (isinstance(key, np.ndarray) and key.dtype == bool)


def _bounds(
    item: Any, bit: int, masks: dict[str, int]
) -> tuple[TensorLike, TensorLike, TensorLike]:
    """Begin, end and stride of an index item, whose bits are set in the masks."""
    if isinstance(item, slice):
        given = [
            None if _is_unknown(bound) else bound for bound in (item.start, item.stop, item.step)
        ]
        masks["begin_mask"] |= bit if given[0] is None else 0
        masks["end_mask"] |= bit if given[1] is None else 0
        dtype = _widest(given)
        begin, end, stride = (
            _like(dtype, default) if bound is None else _index(bound)
            for bound, default in zip(given, (0, 0, 1), strict=True)
        )
        return begin, end, stride
    if item is Ellipsis:
        masks["ellipsis_mask"] |= bit
        return 0, 0, 1
    if item is None:
        masks["new_axis_mask"] |= bit
        return 0, 0, 1
    index = _index(item)
    masks["shrink_axis_mask"] |= bit
    narrow = not isinstance(index, Tensor) or index.dtype.base_dtype is dtypes.int32
    return index, index + 1, 1 if narrow else _like(index.dtype, 1)


def _is_unknown(bound: TensorLike) -> bool:
    return isinstance(bound, Dimension) and bound.value is None


def _widest(bounds: Sequence[object]) -> DType | None:
    """The widest dtype of the tensors among the bounds; None if there are no tensors."""
    index_dtypes = {bound.dtype.base_dtype for bound in bounds if isinstance(bound, Tensor)}
    return next((dtype for dtype in _INDICES if dtype in index_dtypes), None)


def _like(dtype: DType | None, number: int) -> int | Tensor:
    """The default of an omitted bound: a tensor if other bounds are tensors of this dtype."""
    if dtype is None:
        return number
    return conversion.constant(np.array(number, dtype.as_numpy_dtype), "Const")


def _index(item: Any) -> Any:
    if isinstance(item, numbers.Integral | Dimension):
        return item
    try:
        dtype = dtypes.as_dtype(item.dtype)
    except (AttributeError, TypeError):
        dtype = dtypes.string
    if dtype.base_dtype in _INDICES and not _is_vector(item):
        return item
    raise bad_type(f"{SLICE_TYPE_ERROR}, got {item!r}")


def _is_vector(item: Tensor) -> bool:
    return TensorShape(item.shape).ndims == 1


def _vectors(bounds: Sequence[list[TensorLike]]) -> list[Tensor]:
    """Begin, end and strides as vectors of one dtype: int64 if one of them has it."""
    if not bounds[0]:
        return [conversion.constant(np.zeros(0, np.int32), "Const")] * 3
    vectors = [_vector(bound) for bound in bounds]
    if any(vector.dtype is dtypes.int64 for vector in vectors):
        return [
            vector
            if vector.dtype is dtypes.int64
            else apply_op("Cast", {"x": vector}, {"DstT": dtypes.int64}).outputs[0]
            for vector in vectors
        ]
    return vectors


def _vector(bounds: list[TensorLike]) -> Tensor:
    if all(type(bound) is int and -(2**31) <= bound < 2**31 for bound in bounds):  # most are
        return conversion.constant(np.array(bounds, np.int32), "stack")
    return stack(bounds)


public("newaxis")(None)
