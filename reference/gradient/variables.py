"""Gradients of reading variables; what changes one, or has a state, counts as a constant.

Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

from sessrun.reference.api.ops.array_ops import concat, expand_dims, reshape, squeeze
from sessrun.reference.api.ops.fill_ops import zeros, zeros_like
from sessrun.reference.api.ops.shape_ops import size, variable_shape
from sessrun.reference.base import dtypes
from sessrun.reference.build.gradient_nodes import constants, gradient, node
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.build.static_values import handle_dtype, maker_of
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "gradient_dtypes",
    "known_dtype",
    "tell_dtypes",
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

#: The dtypes of the variables that arguments of functions refer to, by their placeholders.
_TOLD: Final[WeakKeyDictionary[Operation, str]] = WeakKeyDictionary()

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
    whole = node("VariableShape", handle, out_type=indices.dtype)
    if indices.shape.rank == 2 and indices.shape[-1] == 1:
        return [IndexedSlices(grad, squeeze(indices, axis=-1), whole), None]
    return [node("ScatterNd", indices, grad, whole), None]


def zeros_of_variable(handle: Tensor) -> Tensor:
    """Zeros of the shape and dtype of the variable that a handle refers to."""
    return zeros(variable_shape(handle), variable_dtype(handle))


def zeros_behind(handle: Tensor, dtype: Any) -> Tensor:
    """Zeros of a dtype, of the shape that what a handle refers to has when they are made."""
    return zeros(node("VariableShape", handle, out_type=dtypes.int32), dtype)


def zeros_of_argument(argument: Tensor, dtype: str) -> Tensor:
    """The gradient by an argument that nothing depends on.

    Args:
      argument: the argument.
      dtype: that of the gradient.

    """
    if argument.dtype != dtypes.resource:
        return zeros_like(argument)
    return zeros(variable_shape(argument), dtype)


def tell_dtypes(arguments: Iterable[Tensor], kinds: Iterable[str | None]) -> None:
    """Say of what dtypes the variables are that a function's arguments refer to, where known."""
    for argument, dtype in zip(arguments, kinds, strict=False):
        if argument.dtype == dtypes.resource and dtype is not None:
            _TOLD[argument.op] = dtype


def known_dtype(handle: Tensor) -> str | None:
    """The dtype of the variable that a handle refers to; None where it is not known which it is."""
    while handle.op.type in {"While", "StatelessWhile"}:
        handle = handle.op.inputs[handle.value_index]
    return handle_dtype(handle) or _TOLD.get(maker_of(handle))


def variable_dtype(handle: Tensor) -> str:
    """The dtype of the variable that a handle refers to.

    Raises:
      ValueError: it is not known which variable that is.

    """
    found = known_dtype(handle)
    if found is None:
        raise ValueError(
            "Internal error: Tried to take gradients (or similar) of a variable without handle "
            f"data:\n{handle}"
        )
    return found


def gradient_dtypes(taken: Sequence[Tensor]) -> list[Any]:
    """The dtypes of the gradients by some arguments: for a handle that of its variable.

    Raises:
      ValueError: of a handle it is not known to which variable it refers.

    """
    return [
        variable_dtype(each) if each.dtype == dtypes.resource else each.dtype.base_dtype
        for each in taken
    ]
