"""TensorLists: lists of tensors as values of dtype variant.

They have no public names; programs import `tensorflow.python.ops.list_ops`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.reference.base.dimension import Dimension
from sessrun.reference.base.dtypes import DTypeLike, int32, int64
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.raw_wrappers import wrapper
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "empty_tensor_list",
    "tensor_list_concat",
    "tensor_list_from_tensor",
    "tensor_list_gather",
    "tensor_list_get_item",
    "tensor_list_length",
    "tensor_list_pop_back",
    "tensor_list_reserve",
    "tensor_list_scatter",
    "tensor_list_set_item",
    "tensor_list_split",
    "tensor_list_stack",
]


def _element_shape(shape: Any) -> int | Tensor | list[int]:
    """A shape as the operations take it: -1 for an unknown size, or for an unknown rank."""
    if isinstance(shape, Tensor):
        return shape
    if isinstance(shape, TensorShape):
        shape = shape.as_list() if shape else None
    if shape is None:
        return -1
    if isinstance(shape, np.ndarray | np.generic) or not shape:
        return convert_to_tensor(shape, dtype=int32)
    sizes = [size.value if isinstance(size, Dimension) else size for size in shape]
    return [-1 if size is None else size for size in sizes]


def empty_tensor_list(
    element_shape: TensorLike | ShapeLike,
    element_dtype: DTypeLike,
    max_num_elements: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """An empty list, of at most `max_num_elements` elements if that is given."""
    handle: Tensor = wrapper("EmptyTensorList")(
        element_shape=_element_shape(element_shape),
        element_dtype=element_dtype,
        max_num_elements=-1 if max_num_elements is None else max_num_elements,
        name=name,
    )
    return handle


def tensor_list_reserve(
    element_shape: TensorLike | ShapeLike,
    num_elements: TensorLike | None,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """A list of `num_elements` elements that are not set."""
    handle: Tensor = wrapper("TensorListReserve")(
        element_shape=_element_shape(element_shape),
        num_elements=num_elements,
        element_dtype=element_dtype,
        name=name,
    )
    return handle


def tensor_list_from_tensor(
    tensor: TensorLike, element_shape: TensorLike | ShapeLike, name: str | None = None
) -> Tensor:
    """The rows of a tensor as a list."""
    value = convert_to_tensor(tensor)
    handle: Tensor = wrapper("TensorListFromTensor")(
        tensor=value, element_shape=_element_shape(element_shape), name=name
    )
    return handle


def tensor_list_get_item(
    input_handle: Tensor,
    index: TensorLike,
    element_dtype: DTypeLike,
    element_shape: TensorLike | ShapeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The element at an index; zeros of the shape if it is not set."""
    element: Tensor = wrapper("TensorListGetItem")(
        input_handle=input_handle,
        index=index,
        element_shape=_element_shape(element_shape),
        element_dtype=element_dtype,
        name=name,
    )
    return element


def tensor_list_pop_back(
    input_handle: Tensor, element_dtype: DTypeLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The list without its last element, and that element."""
    popped: tuple[Tensor, Tensor] = wrapper("TensorListPopBack")(
        input_handle=input_handle, element_shape=-1, element_dtype=element_dtype, name=name
    )
    return popped


def tensor_list_gather(
    input_handle: Tensor,
    indices: TensorLike,
    element_dtype: DTypeLike,
    element_shape: TensorLike | ShapeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The elements at the indices, as the rows of a tensor."""
    elements: Tensor = wrapper("TensorListGather")(
        input_handle=input_handle,
        indices=indices,
        element_shape=_element_shape(element_shape),
        element_dtype=element_dtype,
        name=name,
    )
    return elements


def tensor_list_scatter(
    tensor: TensorLike,
    indices: TensorLike,
    element_shape: TensorLike | ShapeLike | None = None,
    input_handle: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """A list with the rows of a tensor at indices: a new one, or `input_handle` updated."""
    value = convert_to_tensor(tensor)
    handle: Tensor
    if input_handle is not None:
        handle = wrapper("TensorListScatterIntoExistingList")(
            input_handle=input_handle, tensor=value, indices=indices, name=name
        )
    else:
        handle = wrapper("TensorListScatterV2")(
            tensor=value,
            indices=indices,
            element_shape=_element_shape(element_shape),
            num_elements=-1,
            name=name,
        )
    return handle


def tensor_list_stack(
    input_handle: Tensor,
    element_dtype: DTypeLike,
    num_elements: int = -1,
    element_shape: TensorLike | ShapeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The elements as the rows of a tensor; `num_elements` is their expected number, if not -1."""
    stacked: Tensor = wrapper("TensorListStack")(
        input_handle=input_handle,
        element_shape=_element_shape(element_shape),
        element_dtype=element_dtype,
        num_elements=num_elements,
        name=name,
    )
    return stacked


def tensor_list_concat(
    input_handle: Tensor,
    element_dtype: DTypeLike,
    element_shape: TensorLike | ShapeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The elements, concatenated along their first dimension."""
    joined: Tensor = wrapper("TensorListConcatV2")(
        input_handle=input_handle,
        element_dtype=element_dtype,
        element_shape=_element_shape(element_shape),
        leading_dims=constant([], dtype=int64),
        name=name,
    )[0]
    return joined


def tensor_list_split(
    tensor: TensorLike,
    element_shape: TensorLike | ShapeLike,
    lengths: TensorLike,
    name: str | None = None,
) -> Tensor:
    """A list of the parts of a tensor, split by lengths along the first dimension."""
    handle: Tensor = wrapper("TensorListSplit")(
        tensor=tensor, element_shape=_element_shape(element_shape), lengths=lengths, name=name
    )
    return handle


def tensor_list_set_item(
    input_handle: Tensor,
    index: TensorLike,
    item: TensorLike,
    resize_if_index_out_of_bounds: bool = False,
    name: str | None = None,
) -> Tensor:
    """The list with another element at an index."""
    handle: Tensor = wrapper("TensorListSetItem")(
        input_handle=input_handle,
        index=index,
        item=item,
        resize_if_index_out_of_bounds=resize_if_index_out_of_bounds,
        name=name,
    )
    return handle


def tensor_list_length(input_handle: Tensor, name: str | None = None) -> Tensor:
    """The number of elements of a list."""
    length: Tensor = wrapper("TensorListLength")(input_handle=input_handle, name=name)
    return length
