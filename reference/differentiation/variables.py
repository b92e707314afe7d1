"""Gradients of reading variables; what changes one, or has a state, counts as a constant.

Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sessrun.reference import dtypes
from sessrun.reference.differentiation.nodes import constants, gradient, node
from sessrun.reference.dtypes import as_dtype
from sessrun.reference.indexed_slices import IndexedSlices
from sessrun.reference.operation import Operation
from sessrun.reference.ops.array_ops import concat, expand_dims, reshape, squeeze
from sessrun.reference.ops.fill_ops import zeros, zeros_like
from sessrun.reference.ops.shape_ops import size, variable_shape
from sessrun.reference.static_values import handle_dtype
from sessrun.reference.tensor import Tensor
from sessrun.spec.proto import NameAttrList

__all__ = ["gradient_dtypes", "variable_dtype", "zeros_behind", "zeros_of_argument",
           "zeros_of_variable"]  # fmt: skip

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

#: What reads a variable, and tells its dtype.
_READS: Final = frozenset({"ReadVariableOp", "ResourceGather", "ResourceGatherNd"})
#: Whose first input is no argument of the functions that they call.
_CHOOSING: Final = frozenset({"Case", "If", "StatelessCase", "StatelessIf"})

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
    return zeros(variable_shape(handle), variable_dtype(handle))


def zeros_behind(handle: Tensor, dtype: Any) -> Tensor:
    """Zeros of a dtype, of the shape that what a handle refers to has when they are made."""
    return zeros(node("VariableShape", handle, out_type=dtypes.int32), dtype)


def zeros_of_argument(argument: Tensor, dtype: str) -> Tensor:
    """The gradient by an argument that nothing depends on.

    Args:
      argument: the argument.
      dtype: that of the gradient; `resource` where nobody reads what a handle refers to.

    """
    if argument.dtype != dtypes.resource:
        return zeros_like(argument)
    return argument if dtype == "resource" else zeros(variable_shape(argument), dtype)


def variable_dtype(handle: Tensor) -> str | None:
    """The dtype of the variable that a handle refers to; None if nothing tells.

    Behind an argument of a function there is no variable; what reads it tells the dtype then.
    """
    while handle.op.type in {"While", "StatelessWhile"}:
        handle = handle.op.inputs[handle.value_index]
    found = handle_dtype(handle)
    for user in handle.consumers() if found is None else ():
        found = found or _read_as(user, handle)
    return found


def gradient_dtypes(taken: Sequence[Tensor]) -> list[Any]:
    """The dtypes of the gradients by some arguments: for a handle that of its variable."""
    return [
        (each.dtype == dtypes.resource and variable_dtype(each)) or each.dtype.base_dtype
        for each in taken
    ]


def _read_as(user: Operation, handle: Tensor) -> str | None:
    """The dtype that an operation, or a function that it calls, reads a variable as."""
    if user.type in _READS:
        dtype: str = user.attrs["dtype"]
        return dtype
    if user.type in {"Identity", "Switch", "Enter"}:
        return variable_dtype(user.outputs[-1])
    first = 1 if user.type in _CHOOSING else 0
    places = [place for place, tensor in enumerate(user.inputs[first:]) if tensor is handle]
    library = user.graph.functions
    calls = [(each.name, place) for each in _functions(user) for place in places]
    while calls:
        name, place = calls.pop()
        definition = library.definition(name)
        if definition is None:
            continue
        argument = definition.signature.input_arg[place].name
        for each in definition.node_def:
            if argument not in each.input:
                continue
            if each.op in _READS:
                return as_dtype(each.attr["dtype"].type).name
            first = 1 if each.op in _CHOOSING else 0
            inner = list(each.input).index(argument) - first
            calls += [(value.func.name, inner) for value in each.attr.values()
                      if value.WhichOneof("value") == "func"]  # fmt: skip
    return None


def _functions(op: Operation) -> list[NameAttrList]:
    """The functions that an operation names."""
    found: list[NameAttrList] = []
    for value in op.attrs.values():
        items = value if isinstance(value, list | tuple) else [value]
        found += [item for item in items if isinstance(item, NameAttrList)]
    return [*found, NameAttrList(name=op.type)]
