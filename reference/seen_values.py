"""`tf.get_static_value`: a tensor's value as the operations that make it tell it, without a run.

A program that has seen a tensor's value may build on it: from then on the tensor may not be fed.
Only the operations listed here are looked through; shape inference sees more (`static_values`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from sessrun.reference.conversion import is_tensor
from sessrun.reference.static_values import constant_value
from sessrun.reference.tensor import Tensor

__all__ = ["EXPORTS", "get_static_value"]


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor if it can be told while the graph is built.

    Args:
      tensor: a tensor; anything that is none comes back as it is.
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


def _folded(tensor: Tensor, _partial: bool) -> Any:
    """The value of an operation of no input, or of the shape of one."""
    value = constant_value(tensor)
    return None if value is None else np.array(value)


def _of_inputs(tensor: Tensor, _partial: bool) -> Any:
    """The value of an operation all of whose inputs are known."""
    if any(_seen(source, partial=False) is None for source in tensor.op.inputs):
        return None
    return _folded(tensor, _partial)


def _passed_on(tensor: Tensor, partial: bool) -> Any:
    return _seen(tensor.op.inputs[0], partial=partial)


def _stacked(tensor: Tensor, partial: bool) -> Any:
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
    whole = _seen(tensor.op.inputs[0], partial=partial)
    if tensor.op.attrs["axis"] != 0 or whole is None:
        return None
    return whole[tensor.value_index]


def _cut(tensor: Tensor, partial: bool) -> Any:
    axis, whole = (_seen(source, partial=partial) for source in tensor.op.inputs)
    if axis is None or whole is None:
        return None
    return np.split(whole, tensor.op.attrs["num_split"], int(axis))[tensor.value_index]


def _filled(tensor: Tensor, partial: bool) -> Any:
    value = _seen(tensor.op.inputs[1], partial=partial)
    if value is None or not tensor.shape.is_fully_defined():
        return None
    return np.full(tensor.shape.as_list(), value, value.dtype)


_READERS: Final[Mapping[str, Callable[[Tensor, bool], Any]]] = {
    **dict.fromkeys(("Const", "Shape", "Size", "Rank"), _folded),
    **dict.fromkeys(
        ("Range", "Cast", "Concat", "ConcatV2", "Equal", "NotEqual"), _of_inputs
    ),
    **dict.fromkeys(("Identity", "StopGradient"), _passed_on),
    "Fill": _filled,
    "Pack": _stacked,
    "Split": _cut,
    "Unpack": _unstacked,
}  # fmt: skip

EXPORTS: Final[Mapping[str, Any]] = {"get_static_value": get_static_value}
