"""Lists that hold tensors, shapes and dimensions as tensors: registered conversions."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.reference.base import dtypes
from sessrun.reference.base.dimension import Dimension
from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import (
    constant,
    convert_to_tensor,
    first_tensor,
    is_symbolic,
    register_tensor_conversion_function,
)
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.default_graph import get_default_graph, graph_for
from sessrun.reference.graph.tensor import Tensor


def _packed(value: object, dtype: DType | None, name: str | None, as_ref: bool) -> Any:
    """A `Pack` of a list that holds tensors, and of its inner lists; others are constants."""
    del as_ref
    first = first_tensor(value)
    if first is None:
        return NotImplemented
    wanted = dtype or first.dtype.base_dtype
    with graph_for(first.graph).as_default():
        if first.dtype.base_dtype is not wanted:
            value = _cast_items(value, wanted)
        return _pack_items(value, wanted, name or "packed")


def _cast_items(value: Any, wanted: DType) -> object:
    """Cast the tensors of nested lists to one dtype."""
    if isinstance(value, list | tuple):
        return [_cast_items(item, wanted) for item in value]
    if not is_symbolic(value) or value.dtype.base_dtype is wanted:
        return value
    return apply_op("Cast", {"x": value}, {"DstT": wanted}).outputs[0]


def _pack_items(value: Any, wanted: DType, name: str) -> object:
    """A `Pack` of a list, whose inner lists come first; the list if no tensor is in it."""
    with get_default_graph().name_scope(name) as scope:
        items = []
        for index, item in enumerate(value):
            if is_symbolic(item) and item.dtype.base_dtype is not wanted:
                raise bad_type(
                    f"Cannot convert a list containing a tensor of dtype {item.dtype} to "
                    f"{wanted} (Tensor is: {item!r})"
                )
            inner = isinstance(item, list | tuple)
            items.append(_pack_items(item, wanted, str(index)) if inner else item)
        if not any(is_symbolic(item) for item in items):
            return items
        tensors = [
            item if is_symbolic(item) else convert_to_tensor(item, wanted, name=str(index))
            for index, item in enumerate(items)
        ]
        return apply_op("Pack", {"values": tensors}, {"axis": 0}, scope).outputs[0]


def _of_shape(shape: TensorShape, dtype: DType | None, name: str | None, as_ref: bool) -> Tensor:
    """An integer vector of the sizes."""
    del as_ref
    if not shape.is_fully_defined():
        raise bad_value(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    sizes = shape.as_list()
    if dtype is None:
        small = all(size is not None and size < 2**31 for size in sizes)
        dtype = dtypes.int32 if small else dtypes.int64
    elif dtype not in {dtypes.int32, dtypes.int64}:
        raise bad_type(
            f"Cannot convert TensorShape {shape} to dtype {dtype}. "
            "Allowed dtypes are tf.int32 and tf.int64."
        )
    if dtype is dtypes.int32 and any(size is not None and size >= 2**31 for size in sizes):
        raise bad_value(
            f"Cannot convert TensorShape {shape} to dtype int32; a dimension is too large. "
            "Consider using tf.int64."
        )
    return constant(np.array(sizes, dtype.as_numpy_dtype), name or "shape_as_tensor")


def _of_dimension(
    dimension: Dimension, dtype: DType | None, name: str | None, as_ref: bool
) -> Tensor:
    """An integer scalar."""
    del as_ref
    if dimension.value is None:
        raise bad_value(f"Cannot convert unknown Dimension {dimension} to a Tensor.")
    wanted = dtype or dtypes.int32
    if wanted not in {dtypes.int32, dtypes.int64}:
        raise bad_type(
            f"Cannot convert Dimension {dimension} to dtype {dtype}. "
            "Allowed dtypes are tf.int32 and tf.int64."
        )
    return constant(np.array(dimension.value, wanted.as_numpy_dtype), name or "shape_as_tensor")


# Before what programs register: TensorFlow's priorities.
register_tensor_conversion_function((list, tuple), _packed, 99)
register_tensor_conversion_function(TensorShape, _of_shape)
register_tensor_conversion_function(Dimension, _of_dimension)
