"""`tf.get_static_value`: a tensor's value as the operations that make it tell it, without a run.

`seen_shape` does the same for a vector that denotes a shape, of which some sizes may be known.

A program that has seen a tensor's value may build on it: from then on the tensor may not be fed.
Only the operations listed here are looked through; shape inference sees more (`static_values`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from sessrun.reference.base.tensor_shape import Shape, TensorShape
from sessrun.reference.build import shape_inference_values
from sessrun.reference.build.conversion import is_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["get_static_value", "seen_shape"]


@public("get_static_value")
def get_static_value(tensor: TensorLike, partial: bool = False) -> Any:
    """The value of a tensor if it is known while the graph is built.

    Args:
      tensor: a tensor; any other value is returned unchanged.
      partial: whether a stack of tensors may come back as an array of objects, None for those
        that are not known.

    Returns:
      An ndarray of the tensor's dtype and shape, or None.

    """
    if not isinstance(tensor, Tensor):
        return None if is_tensor(tensor) else tensor
    value = _seen(tensor, partial=partial)
    if value is not None:
        tensor.graph.prevent_feeding(tensor)
    return value


def _seen(tensor: Tensor, *, partial: bool) -> Any:
    reader = _READERS.get(tensor.op.type)
    return None if reader is None else reader(tensor, partial)


def _folded(tensor: Tensor, _partial: bool) -> np.ndarray | None:
    """The value of an operation of no input, or of the shape of one."""
    value = shape_inference_values.constant_value(tensor)
    return None if value is None else np.array(value)


def _of_inputs(tensor: Tensor, _partial: bool) -> np.ndarray | None:
    """The value of an operation all of whose inputs are known."""
    if any(_seen(source, partial=False) is None for source in tensor.op.inputs):
        return None
    return _folded(tensor, _partial)


def _passed_on(tensor: Tensor, partial: bool) -> Any:
    return _seen(tensor.op.inputs[0], partial=partial)


def _stacked(tensor: Tensor, partial: bool) -> np.ndarray | None:
    if tensor.op.attrs["axis"] != 0 or not tensor.op.inputs:
        return None
    values = [_seen(source, partial=partial) for source in tensor.op.inputs]
    if any(value is None for value in values):
        if not partial:
            return None
        stack = np.empty(len(values), object)
        stack[:] = values
        return stack
    return np.array(values)


def _unstacked(tensor: Tensor, partial: bool) -> Any:
    stacked = _seen(tensor.op.inputs[0], partial=partial)
    if tensor.op.attrs["axis"] != 0 or stacked is None:
        return None
    return stacked[tensor.value_index]


def _cut(tensor: Tensor, partial: bool) -> np.ndarray | None:
    axis, value = (_seen(source, partial=partial) for source in tensor.op.inputs)
    if axis is None or value is None:
        return None
    return np.split(value, tensor.op.attrs["num_split"], int(axis))[tensor.value_index]


def _filled(tensor: Tensor, partial: bool) -> Any:
    value = _seen(tensor.op.inputs[1], partial=partial)
    if value is None or not tensor.shape.is_fully_defined():
        return None
    return np.full(tensor.shape.as_list(), value, value.dtype)


_READERS: Final[Mapping[str, Callable[[Tensor, bool], Any]]] = {
    **dict.fromkeys(("Const", "Shape", "Size", "Rank"), _folded),
    **dict.fromkeys(("Range", "Cast", "Concat", "ConcatV2", "Equal", "NotEqual"), _of_inputs),
    **dict.fromkeys(("Identity", "StopGradient"), _passed_on),
    "Fill": _filled,
    "Pack": _stacked,
    "Split": _cut,
    "Unpack": _unstacked,
}


def seen_shape(tensor: Tensor) -> TensorShape:
    """The shape that a vector denotes, as far as it is known; a scalar -1 is an unknown shape.

    Raises:
      ValueError: the tensor is a scalar that is not known to be -1, or has a rank above 1.

    """
    if tensor.ndim == 0:
        value = get_static_value(tensor)
        if value is None or value != -1:
            known = "of unknown value" if value is None else f"value '{value}'"
            raise bad_value(
                f"Received a scalar {known} as shape: the scalar '{tensor.name}' denotes an "
                "unknown shape only where it is statically known to be -1. Give a vector."
            )
        return TensorShape(None)
    return TensorShape.of(_sizes(tensor))


def _sizes(tensor: Tensor) -> Shape:
    (length,) = tensor.shape.with_rank(1).as_list()
    if length == 0:
        return ()
    reader = _SHAPE_READERS.get(tensor.op.type)
    if reader is not None:
        return reader(tensor)
    value = get_static_value(tensor)
    if value is not None:
        return tuple(map(_size, value.tolist()))
    return None if length is None else (None,) * length


def _size(value: int | None) -> int | None:
    return None if value is None or value < 0 else value


def _sizes_cast(tensor: Tensor) -> Shape:
    before = _sizes(tensor.op.inputs[0])
    if before is None:
        return None
    if tensor.dtype.spec_name not in {"int32", "int64"}:
        return (None,) * len(before)
    plain = np.array([-1 if size is None else size for size in before])
    return tuple(map(_size, plain.astype(tensor.dtype.as_numpy_dtype).tolist()))


def _sizes_stacked(tensor: Tensor) -> Shape:
    values = [get_static_value(source) for source in tensor.op.inputs]
    return tuple(_size(None if value is None else int(value)) for value in values)


def _sizes_joined(tensor: Tensor) -> Shape:
    inputs = tensor.op.inputs
    parts = [_sizes(part) for part in (inputs[1:] if tensor.op.type == "Concat" else inputs[:-1])]
    if any(part is None for part in parts):
        return None
    return tuple(size for part in parts for size in part or ())


def _sizes_sliced(tensor: Tensor) -> Shape:
    """A plain slice of a shape; of any other, only the length is known."""
    attrs, (sliced, *ends) = tensor.op.attrs, tensor.op.inputs
    (length,) = tensor.shape.as_list()
    unknown = None if length is None else (None,) * length
    bounds = [get_static_value(end) for end in ends]
    if any(bound is None for bound in bounds) or any(
        attrs[mask] for mask in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    ):
        return unknown
    if attrs["begin_mask"] not in {0, 1} or attrs["end_mask"] not in {0, 1}:
        return unknown
    start, stop, stride = (int(bound[0]) for bound in bounds)
    first = None if attrs["begin_mask"] else start
    last = None if attrs["end_mask"] else stop
    try:
        return seen_shape(sliced)[first:last:stride].sizes
    except ValueError:
        return unknown


def _sizes_of_outside(tensor: Tensor) -> Shape:
    """The sizes of a captured shape: those that it has in the outer graph."""
    outside = tensor.graph.outer(tensor) if tensor.graph.makes_functions else tensor
    if outside is not tensor:
        return _sizes(outside)
    (length,) = tensor.shape.with_rank(1).as_list()
    return None if length is None else (None,) * length


_SHAPE_READERS: Final[Mapping[str, Callable[[Tensor], Shape]]] = {
    "Cast": _sizes_cast,
    "Concat": _sizes_joined,
    "ConcatV2": _sizes_joined,
    "Pack": _sizes_stacked,
    "Placeholder": _sizes_of_outside,
    "Shape": lambda tensor: tensor.op.inputs[0].sizes,
    "StridedSlice": _sizes_sliced,
}
