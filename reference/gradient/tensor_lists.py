"""Gradients of lists of tensors: the gradient of a list is a list of the gradients of its elements.

Source: TF 2.21.
"""

from __future__ import annotations

from sessrun.reference.api.ops.array_ops import concat, slice_
from sessrun.reference.api.ops.fill_ops import zeros_like
from sessrun.reference.api.ops.list_ops import (
    tensor_list_from_tensor,
    tensor_list_get_item,
    tensor_list_reserve,
    tensor_list_scatter,
    tensor_list_split,
)
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.base.dtypes import int32
from sessrun.reference.build.gradient_nodes import constants, gradient, node, nodes
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

constants(("TensorListConcatLists", "TensorListElementShape", "TensorListLength"))


def _element_shape(handle: Tensor) -> Tensor:
    return node("TensorListElementShape", handle, shape_type=int32)


def _row_shape(tensor: Tensor) -> Tensor:
    sizes: Tensor = slice_(shape(tensor), [1], [-1])
    return sizes


@gradient("TensorListPushBack")
def _push(op: Operation, grad: Tensor) -> Gradients:
    dtype = op.get_attr("element_dtype")
    return nodes("TensorListPopBack", grad, shape(op.inputs[1]), element_dtype=dtype)


@gradient("TensorListPopBack")
def _pop(_op: Operation, of_list: Tensor, of_element: Tensor) -> Gradients:
    return node("TensorListPushBack", of_list, of_element), None


@gradient("TensorListStack")
def _stack(_op: Operation, grad: Tensor) -> Gradients:
    return tensor_list_from_tensor(grad, element_shape=grad.shape[1:]), None


@gradient("TensorListConcat", "TensorListConcatV2")
def _concat(op: Operation, grad: Tensor, _lengths: Tensor) -> Gradients:
    by_list = tensor_list_split(grad, _element_shape(op.inputs[0]), op.outputs[1])
    return [by_list] + [None] * (len(op.inputs) - 1)


@gradient("TensorListSplit")
def _split(op: Operation, grad: Tensor) -> Gradients:
    tensor, _, lengths = op.inputs
    element_shape = concat([[-1], _row_shape(tensor)], axis=0)
    outputs = nodes("TensorListConcatV2", grad, element_shape, lengths, element_dtype=tensor.dtype)
    return outputs[0], None, None


@gradient("TensorListFromTensor")
def _from_tensor(op: Operation, grad: Tensor) -> Gradients:
    tensor = op.inputs[0]
    known = tensor.shape.dims
    count = known[0].value if known else None
    by_tensor = node(
        "TensorListStack",
        grad,
        _row_shape(tensor),
        element_dtype=tensor.dtype,
        num_elements=-1 if count is None else count,
    )
    return by_tensor, None


@gradient("TensorListGetItem")
def _get_item(op: Operation, grad: Tensor) -> Gradients:
    handle = op.inputs[0]
    count = node("TensorListLength", handle)
    unset = node("TensorListReserve", _element_shape(handle), count, element_dtype=grad.dtype)
    return node("TensorListSetItem", unset, op.inputs[1], grad), None, None


@gradient("TensorListSetItem")
def _set_item(op: Operation, grad: Tensor) -> Gradients:
    handle, index, item = op.inputs
    of_list = node("TensorListSetItem", grad, index, zeros_like(item))
    of_item = tensor_list_get_item(grad, index, item.dtype, element_shape=shape(item))
    if op.get_attr("resize_if_index_out_of_bounds"):
        of_list = node("TensorListResize", of_list, node("TensorListLength", handle))
    return of_list, None, of_item


@gradient("TensorListResize")
def _resize(op: Operation, grad: Tensor) -> Gradients:
    return node("TensorListResize", grad, node("TensorListLength", op.inputs[0])), None


@gradient("TensorListGather")
def _gather(op: Operation, grad: Tensor) -> Gradients:
    handle, indices, _ = op.inputs
    element_shape = _element_shape(handle)
    unset = tensor_list_reserve(element_shape, node("TensorListLength", handle), grad.dtype)
    return tensor_list_scatter(grad, indices, input_handle=unset), None, None


def _gathered(grad: Tensor, indices: Tensor, tensor: Tensor) -> Tensor:
    """The elements of a list's gradient at these indices, as rows of the shape of `tensor`'s."""
    rows = _row_shape(tensor)
    return node("TensorListGather", grad, indices, rows, element_dtype=tensor.dtype)


@gradient("TensorListScatter", "TensorListScatterV2")
def _scatter(op: Operation, grad: Tensor) -> Gradients:
    return [_gathered(grad, op.inputs[1], op.inputs[0])] + [None] * (len(op.inputs) - 1)


@gradient("TensorListScatterIntoExistingList")
def _scatter_into(op: Operation, grad: Tensor) -> Gradients:
    _, tensor, indices = op.inputs
    by_tensor = _gathered(grad, indices, tensor)
    return tensor_list_scatter(zeros_like(tensor), indices, indices, grad), by_tensor, None
