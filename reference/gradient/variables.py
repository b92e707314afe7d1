"""Gradients of reading variables; operations that change variables or state are constants.

Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final
from weakref import WeakKeyDictionary

from sessrun.reference.api.ops.array_ops import concat, expand_dims, reshape, squeeze
from sessrun.reference.api.ops.fill_ops import zeros, zeros_like
from sessrun.reference.api.ops.shape_ops import size, variable_shape
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType
from sessrun.reference.build.gradient_nodes import constants, gradient, node
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.build.shape_inference_values import handle_dtype, maker_of
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "gradient_dtypes",
    "known_dtype",
    "note_dtypes",
    "variable_dtype",
    "zeros_behind",
    "zeros_of_argument",
    "zeros_of_variable",
]

constants(
    (
        "AsString",
        "Assert",
        "Assign",
        "AssignAdd",
        "AssignSub",
        "DecodeBase64",
        "DecodeRaw",
        "DeleteSessionTensor",
        "EncodeBase64",
        "GetSessionHandle",
        "GetSessionTensor",
        "HashTableV2",
        "HistogramSummary",
        "InitializeTableFromTextFileV2",
        "InitializeTableV2",
        "LookupTableFindV2",
        "LookupTableInsertV2",
        "LookupTableSizeV2",
        "MergeSummary",
        "Multinomial",
        "MutableDenseHashTableV2",
        "MutableHashTableOfTensorsV2",
        "MutableHashTableV2",
        "ParseTensor",
        "ReduceJoin",
        "RegexReplace",
        "ScalarSummary",
        "ScatterAdd",
        "ScatterDiv",
        "ScatterMul",
        "ScatterNdAdd",
        "ScatterNdSub",
        "ScatterNdUpdate",
        "ScatterSub",
        "SerializeTensor",
        "Stack",
        "StackClose",
        "StackPop",
        "StackPush",
        "StringJoin",
        "StringSplit",
        "StringToHashBucket",
        "StringToHashBucketFast",
        "StringToHashBucketStrong",
        "StringToNumber",
        "TensorArrayCloseV3",
        "TensorArrayGradV3",
        "TensorArraySizeV3",
        "TensorArrayV3",
        "TensorSummary",
        "TensorSummaryV2",
        "VarIsInitializedOp",
        "VariableShape",
    )
)

#: For the placeholders of handles in functions, the dtypes of the variables that they refer to.
_ARGUMENT_DTYPES: Final[WeakKeyDictionary[Operation, str]] = WeakKeyDictionary()

gradient("ReadVariableOp")(lambda op, grad: grad)
gradient("Print")(lambda op, *grads: [*grads, *[None] * (len(op.inputs) - 1)])


@gradient("ResourceGather")
def _resource_gather(op: Operation, grad: Tensor) -> Gradients:
    handle, indices = op.inputs
    sizes = variable_shape(handle)
    count = expand_dims(size(indices), 0)
    values = reshape(grad, concat([count, sizes[1:]], 0))
    return IndexedSlices(values, reshape(indices, count), sizes), None


@gradient("ResourceGatherNd")
def _resource_gather_nd(op: Operation, grad: Tensor) -> Gradients:
    handle, indices = op.inputs
    sizes = node("VariableShape", handle, out_type=indices.dtype)
    if indices.shape.rank == 2 and indices.shape[-1] == 1:
        return [IndexedSlices(grad, squeeze(indices, axis=-1), sizes), None]
    return [node("ScatterNd", indices, grad, sizes), None]


def zeros_of_variable(handle: Tensor) -> Tensor:
    """Zeros of the shape and dtype of the variable that a handle refers to."""
    return zeros(variable_shape(handle), variable_dtype(handle))


def zeros_behind(handle: Tensor, dtype: DType | str) -> Tensor:
    """Zeros of a dtype and of the shape that the variable has when they are computed."""
    return zeros(node("VariableShape", handle, out_type=dtypes.int32), dtype)


def zeros_of_argument(argument: Tensor, dtype: str) -> Tensor:
    """Zeros as the gradient by an argument of a function that no output depends on.

    Args:
      argument: the argument, perhaps the handle of a variable.
      dtype: the dtype of the variable.

    """
    if argument.dtype != dtypes.resource:
        return zeros_like(argument)
    return zeros(variable_shape(argument), dtype)


def note_dtypes(arguments: Iterable[Tensor], kinds: Iterable[str | None]) -> None:
    """Note the dtypes of the variables that a function's arguments refer to; None if not known."""
    for argument, dtype in zip(arguments, kinds, strict=False):
        if argument.dtype == dtypes.resource and dtype is not None:
            _ARGUMENT_DTYPES[argument.op] = dtype


def known_dtype(handle: Tensor) -> str | None:
    """The dtype of the variable that a handle refers to; None if the variable is not known."""
    while handle.op.type in {"While", "StatelessWhile"}:
        handle = handle.op.inputs[handle.value_index]
    return handle_dtype(handle) or _ARGUMENT_DTYPES.get(maker_of(handle))


def variable_dtype(handle: Tensor) -> str:
    """The dtype of the variable that a handle refers to.

    Raises:
      ValueError: the variable of the handle is not known.

    """
    dtype = known_dtype(handle)
    if dtype is None:
        raise ValueError(
            "Internal error: Tried to take gradients (or similar) of a variable without handle "
            f"data:\n{handle}"
        )
    return dtype


def gradient_dtypes(arguments: Sequence[Tensor]) -> list[DType | str]:
    """The dtypes of the gradients by arguments; for a handle the dtype of its variable.

    Raises:
      ValueError: the variable of a handle is not known.

    """
    return [
        variable_dtype(argument) if argument.dtype == dtypes.resource else argument.dtype.base_dtype
        for argument in arguments
    ]
