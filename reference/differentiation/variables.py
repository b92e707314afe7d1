"""Gradients of reading variables; what changes one, or has a state, counts as a constant.

Source: TF 2.21.
"""

from __future__ import annotations

from typing import Any

from sessrun.reference.differentiation.nodes import constants, gradient, node
from sessrun.reference.indexed_slices import IndexedSlices
from sessrun.reference.operation import Operation
from sessrun.reference.ops.array_ops import concat, expand_dims, reshape, squeeze
from sessrun.reference.ops.fill_ops import zeros
from sessrun.reference.ops.shape_ops import size, variable_shape
from sessrun.reference.static_values import handle_dtype
from sessrun.reference.tensor import Tensor

__all__ = ["zeros_of_variable"]

constants((
    "AsString", "Assert", "Assign", "AssignAdd", "AssignSub", "DecodeBase64", "DecodeRaw",
    "DeleteSessionTensor", "EncodeBase64", "GetSessionHandle", "GetSessionTensor", "HashTableV2",
    "HistogramSummary", "InitializeTableFromTextFileV2", "InitializeTableV2", "LookupTableFindV2",
    "LookupTableInsertV2", "LookupTableSizeV2", "MergeSummary", "Multinomial",
    "MutableDenseHashTableV2", "MutableHashTableOfTensorsV2", "MutableHashTableV2", "ParseTensor",
    "ReduceJoin", "RegexReplace", "ScalarSummary", "ScatterAdd",
    "ScatterDiv", "ScatterMul", "ScatterNdAdd", "ScatterNdSub", "ScatterNdUpdate", "ScatterSub",
    "SerializeTensor", "Stack", "StackClose", "StackPop", "StackPush", "StringJoin", "StringSplit",
    "StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong", "StringToNumber",
    "TensorArrayCloseV3", "TensorArrayGradV3", "TensorArraySizeV3", "TensorArrayV3",
    "TensorSummary", "TensorSummaryV2", "VarIsInitializedOp", "VariableShape",
))  # fmt: skip

gradient("ReadVariableOp")(lambda op, grad: grad)
gradient("Print")(lambda op, *grads: [*grads, *[None] * (len(op.inputs) - 1)])


@gradient("ResourceGather")
def _resource_gather(op: Operation, grad: Any) -> Any:
    handle, indices = op.inputs
    whole = variable_shape(handle)
    count = expand_dims(size(indices), 0)
    values = reshape(grad, concat([count, whole[1:]], 0))
    return IndexedSlices(values, reshape(indices, count), whole), None


@gradient("ResourceGatherNd")
def _resource_gather_nd(op: Operation, grad: Any) -> Any:
    handle, indices = op.inputs
    whole = variable_shape(handle, indices.dtype)
    if indices.shape.rank == 2 and indices.shape[-1] == 1:
        return [IndexedSlices(grad, squeeze(indices, axis=-1), whole), None]
    return [node("ScatterNd", indices, grad, whole), None]


def zeros_of_variable(handle: Tensor) -> Tensor:
    """Zeros of the shape and dtype of the variable that a handle refers to."""
    return zeros(variable_shape(handle), handle_dtype(handle))
