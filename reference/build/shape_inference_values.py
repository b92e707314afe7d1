"""The values of tensors that shape inference knows: constants, shapes, folded operations.

TensorFlow's shape functions see a constant input's value, and evaluate small constant parts of
the graph to get one; so does this module, by the very kernels that a run would use.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sessrun.reference.base.tensor_proto import HeldTensor
from sessrun.reference.base.upper_functions import UPPER
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.rules.shapes import MAX_RANK, Table, merge

if TYPE_CHECKING:
    from sessrun.reference.base.tensor_shape import Shape
    from sessrun.reference.graph.operation import Operation
    from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "constant_value",
    "element_shape",
    "handle_dtype",
    "handle_shape",
    "maker_of",
    "note_kept_handles",
    "shape_value",
    "table_behind",
]

#: Operations that carry on another's value or resource under a new name.
_PASSING: Final = frozenset(
    {"Identity", "StopGradient", "PreventGradient", "Snapshot", "Enter", "Switch"}
)
#: Op types whose outputs correspond to the inputs of the same index.
_ONE_TO_ONE: Final = frozenset({"IdentityN", "StatelessWhile", "While"})
#: Op types of branches and loops, through which no value is known.
_CONTROL_FLOW: Final = frozenset(
    {
        "Enter",
        "Exit",
        "Merge",
        "NextIteration",
        "RefEnter",
        "RefExit",
        "RefMerge",
        "RefNextIteration",
        "RefSwitch",
        "Switch",
    }
)
#: What makes of an array or a list of tensors one of elements like its own.
_SAME_ELEMENTS: Final = frozenset(
    {
        "TensorArrayGradV3",
        "TensorListPopBack",
        "TensorListPushBack",
        "TensorListResize",
        "TensorListScatterIntoExistingList",
        "TensorListSetItem",
    }
)
#: What makes lists of tensors: which input says the shape of an element.
_LISTS: Final[Mapping[str, int]] = {
    "EmptyTensorList": 0,
    "TensorListReserve": 0,
    "TensorListFromTensor": 1,
    "TensorListSplit": 1,
    "TensorListScatter": 2,
    "TensorListScatterV2": 2,
}
#: Lookup tables whose key and value types TensorFlow knows while the graph is built.
_TABLES: Final = frozenset(
    {
        "AnonymousMutableDenseHashTable",
        "AnonymousMutableHashTable",
        "AnonymousMutableHashTableOfTensors",
        "MutableDenseHashTableV2",
        "MutableHashTableOfTensorsV2",
        "MutableHashTableV2",
    }
)
#: The loops that are known to return the handles they take unchanged.
_KEEPING: Final[weakref.WeakSet[Operation]] = weakref.WeakSet()
#: Larger parts of a graph are not evaluated while it is built.
_MAX_DEPTH: Final = 32
_MAX_ELEMENTS: Final = 1 << 16


def constant_value(tensor: Tensor, depth: int = _MAX_DEPTH) -> Any:
    """The tensor's value as an ndarray, which must not be written to; None if not known."""
    op = tensor.op
    if op.type == "Const":
        return _constant(op)
    known = _KNOWN.get(op.type)
    if known is not None:
        return known(op)
    if op.type == "StridedSlice" and op.inputs[0].op.type == "Shape":
        size = _one_size(op)
        if size is not None:
            return size
    if depth == 0 or not _is_foldable(tensor):
        return None
    values = []
    for source in op.inputs:
        value = constant_value(source, depth - 1)
        if value is None:
            return None
        values.append(value)
    return _folded(op, tensor.value_index, values)


def _constant(op: Operation) -> Any:
    """The value of a Const; an imported one may claim too much, or say none.

    Raises:
      InvalidArgumentValueError: the node has no value.

    """
    value = op.attrs["value"]
    if isinstance(value, HeldTensor):
        if value.size > _MAX_ELEMENTS:
            return None
        value = value.array()
    if value.dtype != op.outputs[0].dtype.as_numpy_dtype:
        raise bad_value(f"Const '{op.name}': type mismatch between value and dtype")
    return value


def _is_foldable(tensor: Tensor) -> bool:
    op = tensor.op
    if op.declaration.stateful or not op.inputs:
        return False
    if op.type == "PlaceholderWithDefault" or op.type in _CONTROL_FLOW:
        return False
    if tensor.dtype.spec_name in {"resource", "variant"}:
        return False
    return all(map(_is_small, (tensor, *op.inputs)))


def _is_small(tensor: Tensor) -> bool:
    return math.prod(size for size in tensor.sizes or () if size is not None) <= _MAX_ELEMENTS


def _folded(op: Operation, output: int, values: list[object]) -> np.ndarray | None:
    outputs = UPPER["outputs_of"](op, values)  # by the kernels that a run would use
    return None if outputs is None else outputs[output]


def _known_shape(op: Operation) -> np.ndarray | None:
    sizes = op.inputs[0].sizes
    if sizes is None or None in sizes:
        return None
    return np.array(sizes, op.outputs[0].dtype.as_numpy_dtype)


def _one_size(op: Operation) -> np.ndarray | None:
    """The value of a slice of one size out of a partially known shape, or None."""
    masks = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask")
    bounds = [constant_value(source) for source in op.inputs[1:]]
    sizes = op.inputs[0].op.inputs[0].sizes
    is_plain = op.attrs["shrink_axis_mask"] == 1 and not any(op.attrs[mask] for mask in masks)
    if sizes is None or not is_plain or any(b is None or b.shape != (1,) for b in bounds):
        return None
    axis = int(bounds[0][0])
    if not -len(sizes) <= axis < len(sizes) or sizes[axis] is None:
        return None
    return np.array(sizes[axis], op.outputs[0].dtype.as_numpy_dtype)


def _known_size(op: Operation) -> np.ndarray | None:
    sizes = op.inputs[0].sizes
    if sizes is None or None in sizes:
        return None
    count = math.prod(size for size in sizes if size is not None)
    return np.array(count, op.outputs[0].dtype.as_numpy_dtype)


def _known_rank(op: Operation) -> np.ndarray | None:
    sizes = op.inputs[0].sizes
    return None if sizes is None else np.array(len(sizes), np.int32)


_KNOWN: Final[Mapping[str, Callable[[Operation], Any]]] = {
    "Shape": _known_shape,
    "Size": _known_size,
    "Rank": _known_rank,
}


def shape_value(tensor: Tensor) -> Shape:
    """The shape that an integer vector denotes, of which some sizes may be unknown.

    -1 stays -1; None where nothing is known, not even the number of dimensions.
    """
    value = constant_value(tensor)
    if value is not None:
        return tuple(value.reshape(-1).tolist())
    op = tensor.op
    reader = _PARTIAL.get(op.type)
    known = reader(op) if reader is not None else None
    if known is not None:
        return known
    length = tensor.sizes
    if length is None or len(length) != 1 or length[0] is None or length[0] > MAX_RANK:
        return None
    return (None,) * length[0]


def _partial_shape(op: Operation) -> Shape:
    return op.inputs[0].sizes


def _partial_pack(op: Operation) -> Shape:
    if op.attrs["axis"] != 0 or op.inputs[0].sizes not in {(), None}:
        return None
    sizes = [_scalar(source) for source in op.inputs]
    return tuple(None if size is None or size < 0 else size for size in sizes)


def _scalar(tensor: Tensor) -> int | None:
    value = constant_value(tensor)
    if value is not None:
        return int(value)
    op = tensor.op
    if op.type == "StridedSlice" and op.attrs["shrink_axis_mask"] == 1:
        vector = shape_value(op.inputs[0])
        begin = constant_value(op.inputs[1])
        if vector is not None and begin is not None and -len(vector) <= int(begin[0]) < len(vector):
            return vector[int(begin[0])]
    return _scalar(op.inputs[0]) if op.type == "Cast" and _keeps_sizes(op) else None


def _keeps_sizes(cast: Operation) -> bool:
    """Whether a `Cast` passes the sizes of a shape on: one of int32 or int64 does."""
    return cast.inputs[0].dtype.name in {"int32", "int64"}


def _partial_cast(op: Operation) -> Shape:
    return shape_value(op.inputs[0]) if _keeps_sizes(op) else None


def _partial_concat(op: Operation) -> Shape:
    parts = [shape_value(source) for source in op.inputs[:-1]]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return tuple(size for part in known for size in part)


def _partial_slice(op: Operation) -> Shape:
    masks = ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    vector = shape_value(op.inputs[0])
    bounds = [constant_value(source) for source in op.inputs[1:]]
    if vector is None or any(op.attrs[mask] for mask in masks) or any(b is None for b in bounds):
        return None
    begin, end, stride = (int(bound[0]) for bound in bounds)
    start = None if op.attrs["begin_mask"] & 1 else begin
    stop = None if op.attrs["end_mask"] & 1 else end
    return vector[start:stop:stride]


_PARTIAL: Final[Mapping[str, Callable[[Operation], Shape]]] = {
    "VariableShape": lambda op: handle_shape(op.inputs[0]),
    "Shape": _partial_shape,
    "Pack": _partial_pack,
    "Cast": _partial_cast,
    "ConcatV2": _partial_concat,
    "StridedSlice": _partial_slice,
}


def handle_shape(tensor: Tensor) -> Shape:
    """The static shape of what a resource tensor refers to; None if not known.

    That is a variable, or the elements of an array of tensors.
    """
    known = _behind(tensor)
    return None if known is None else known[0]


def handle_dtype(tensor: Tensor) -> str | None:
    """The dtype of what a resource tensor refers to; None if not known."""
    known = _behind(tensor)
    return None if known is None else known[1]


def _behind(tensor: Tensor) -> tuple[Shape, str] | None:
    """Shape and dtype of the variable that a resource refers to."""
    op = maker_of(tensor)
    attrs = op.attrs
    if op.type == "VarHandleOp":
        return attrs["shape"], attrs["dtype"]
    if op.type == "TensorArrayV3":
        shape = attrs["element_shape"]
        if attrs["identical_element_shapes"] or (shape is not None and None not in shape):
            return shape, attrs["dtype"]
    if op.type == "TensorArrayGradWithShape":
        known, outer = _behind(op.inputs[0]), op.inputs[2].sizes
        if known is not None and known[0] is not None and outer and outer[0] is not None:
            return ((None,) * outer[0] + known[0], known[1])
    if op.type == "OptionalFromValue" and len(op.inputs) == 1:
        return op.inputs[0].sizes, op.inputs[0].dtype.base_dtype.spec_name
    if op.type == "TensorListConcatLists":
        return _behind_both(op)
    if op.type in _LISTS:
        return element_shape(op.inputs[_LISTS[op.type]]), attrs["element_dtype"]
    return None


def _behind_both(op: Operation) -> tuple[Shape, str]:
    """The element shape and dtype that two joined lists agree on."""
    shapes = [handle_shape(source) for source in op.inputs]
    return merge(*shapes), op.attrs["element_dtype"]


def element_shape(tensor: Tensor) -> Shape:
    """The element shape that a tensor denotes; a scalar or -1 denotes an unknown one."""
    if tensor.sizes is None or len(tensor.sizes) != 1:
        return None
    sizes = shape_value(tensor)
    return None if sizes is None else tuple(None if size == -1 else size for size in sizes)


def table_behind(tensor: Tensor) -> Table | None:
    """The lookup table that a resource tensor refers to, or None."""
    op = maker_of(tensor)
    if op.type not in _TABLES:
        return None
    key_shape = op.inputs[0].sizes if op.inputs else ()
    attrs = op.attrs
    return Table(attrs["key_dtype"], attrs["value_dtype"], key_shape, attrs.get("value_shape", ()))


def maker_of(tensor: Tensor) -> Operation:
    """The operation that created a resource, through those that pass it on."""
    tensor = tensor.graph.outer(tensor)
    while tensor.op.inputs and _passes(tensor):
        index = tensor.value_index if tensor.op.type in _ONE_TO_ONE else 0
        source = tensor.op.inputs[index]
        tensor = source.graph.outer(source)
    return tensor.op


def note_kept_handles(loop: Operation) -> None:
    """Record that a loop passes its handles on unchanged, as the Python that builds it knows.

    A loop that is imported says nothing of them.
    """
    _KEEPING.add(loop)


def _passes(tensor: Tensor) -> bool:
    """Whether it is a resource, or a list, that was passed on.

    IdentityN does where a gradient is overridden, a loop for its variables.
    """
    op = tensor.op
    if op.type == "IdentityN":
        return "_gradient_op_type" in op.node_def.attr
    if op.type in _ONE_TO_ONE:
        kind = tensor.dtype.spec_name
        return kind == "variant" or (kind == "resource" and op in _KEEPING)
    return op.type in _PASSING or op.type in _SAME_ELEMENTS
