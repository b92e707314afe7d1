"""Lists of tensors as values of dtype variant: what makes them, changes them, and reads them.

Public nowhere but as `tensorflow.python.ops.list_ops`, which tests and other libraries import.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.reference.base.dimension import Dimension
from sessrun.reference.base.dtypes import int32, int64
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.raw_wrappers import wrapper
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


def _element_shape(shape: Any) -> Any:
    """A shape as the operations take it: sizes with -1 for unknown ones, or -1 for all of it."""
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
    element_shape: Any, element_dtype: Any, max_num_elements: Any = None, name: str | None = None
) -> Tensor:
    """A list without elements, of at most `max_num_elements` if that is given."""
    found: Tensor = wrapper("EmptyTensorList")(
        element_shape=_element_shape(element_shape),
        element_dtype=element_dtype,
        max_num_elements=-1 if max_num_elements is None else max_num_elements,
        name=name,
    )
    return found


def tensor_list_reserve(
    element_shape: Any, num_elements: Any, element_dtype: Any, name: str | None = None
) -> Tensor:
    """A list of so many elements, none of which is set."""
    found: Tensor = wrapper("TensorListReserve")(
        element_shape=_element_shape(element_shape),
        num_elements=num_elements,
        element_dtype=element_dtype,
        name=name,
    )
    return found


def tensor_list_from_tensor(tensor: Any, element_shape: Any, name: str | None = None) -> Tensor:
    """The rows of a tensor as a list."""
    value = convert_to_tensor(tensor)
    found: Tensor = wrapper("TensorListFromTensor")(
        tensor=value, element_shape=_element_shape(element_shape), name=name
    )
    return found


def tensor_list_get_item(
    input_handle: Any,
    index: Any,
    element_dtype: Any,
    element_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """The element at an index; zeros of the shape if it is not set."""
    found: Tensor = wrapper("TensorListGetItem")(
        input_handle=input_handle,
        index=index,
        element_shape=_element_shape(element_shape),
        element_dtype=element_dtype,
        name=name,
    )
    return found


def tensor_list_pop_back(input_handle: Any, element_dtype: Any, name: str | None = None) -> Any:
    """A list without its last element, and that element."""
    return wrapper("TensorListPopBack")(
        input_handle=input_handle, element_shape=-1, element_dtype=element_dtype, name=name
    )


def tensor_list_gather(
    input_handle: Any,
    indices: Any,
    element_dtype: Any,
    element_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """The elements at these indices as the rows of a tensor."""
    found: Tensor = wrapper("TensorListGather")(
        input_handle=input_handle,
        indices=indices,
        element_shape=_element_shape(element_shape),
        element_dtype=element_dtype,
        name=name,
    )
    return found


def tensor_list_scatter(
    tensor: Any,
    indices: Any,
    element_shape: Any = None,
    input_handle: Any = None,
    name: str | None = None,
) -> Tensor:
    """A list with the rows of a tensor at these indices: a new one, or `input_handle` changed."""
    value = convert_to_tensor(tensor)
    found: Tensor
    if input_handle is not None:
        found = wrapper("TensorListScatterIntoExistingList")(
            input_handle=input_handle, tensor=value, indices=indices, name=name
        )
    else:
        found = wrapper("TensorListScatterV2")(
            tensor=value,
            indices=indices,
            element_shape=_element_shape(element_shape),
            num_elements=-1,
            name=name,
        )
    return found


def tensor_list_stack(
    input_handle: Any,
    element_dtype: Any,
    num_elements: int = -1,
    element_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """The elements as the rows of a tensor; `num_elements` of them if that is not -1."""
    found: Tensor = wrapper("TensorListStack")(
        input_handle=input_handle,
        element_shape=_element_shape(element_shape),
        element_dtype=element_dtype,
        num_elements=num_elements,
        name=name,
    )
    return found


def tensor_list_concat(
    input_handle: Any, element_dtype: Any, element_shape: Any = None, name: str | None = None
) -> Tensor:
    """The elements behind one another along their first dimension."""
    found: Tensor = wrapper("TensorListConcatV2")(
        input_handle=input_handle,
        element_dtype=element_dtype,
        element_shape=_element_shape(element_shape),
        leading_dims=constant([], dtype=int64),
        name=name,
    )[0]
    return found


def tensor_list_split(
    tensor: Any, element_shape: Any, lengths: Any, name: str | None = None
) -> Tensor:
    """A list of the parts of a tensor that have these lengths along the first dimension."""
    found: Tensor = wrapper("TensorListSplit")(
        tensor=tensor, element_shape=_element_shape(element_shape), lengths=lengths, name=name
    )
    return found


def tensor_list_set_item(
    input_handle: Any,
    index: Any,
    item: Any,
    resize_if_index_out_of_bounds: bool = False,
    name: str | None = None,
) -> Tensor:
    """A list with another element at an index."""
    found: Tensor = wrapper("TensorListSetItem")(
        input_handle=input_handle,
        index=index,
        item=item,
        resize_if_index_out_of_bounds=resize_if_index_out_of_bounds,
        name=name,
    )
    return found


def tensor_list_length(input_handle: Any, name: str | None = None) -> Tensor:
    """How many elements a list has."""
    found: Tensor = wrapper("TensorListLength")(input_handle=input_handle, name=name)
    return found
