"""The input values that shape errors report: those that shape inference looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from sessrun.reference.build import shape_inference_values
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.operations import Name, Operation, RuleCall
from sessrun.spec.rules.shapes import RANKS

__all__ = ["seen_values"]

#: Arguments of a shape rule that are values of inputs.
_VALUES: Final = frozenset({*RANKS, "known", "single"})
_SIZES: Final = frozenset({"dims", "elements"})
#: So many elements are shown.
_MOST: Final = 256


def seen_values(declaration: Operation, groups: Sequence[object]) -> str:
    """The known values of the inputs that the operation's shape rule looks at.

    Args:
      declaration: the operation's.
      groups: its inputs, tensors or lists of tensors.

    """
    tensors, shapes = [], []
    for position, tensor, as_shape in sorted(
        _looked_at(declaration, groups), key=lambda one: one[0]
    ):
        if as_shape:
            dims = shape_inference_values.shape_value(tensor)
            if dims is not None:
                known = tuple(None if dim == -1 else dim for dim in dims)
                shapes.append(f"input[{position}] = {bracketed(known)}")
        else:
            value = shape_inference_values.constant_value(tensor)
            if value is not None:
                tensors.append(f"input[{position}] = <{_summarized(np.asarray(value))}>")
    parts = [""]
    if tensors:
        parts.append(f"with computed input tensors: {', '.join(tensors)}")
    if shapes:
        parts.append(f"with input tensors computed as partial shapes: {', '.join(shapes)}")
    return " and ".join(parts)


def _looked_at(
    declaration: Operation, groups: Sequence[object]
) -> Iterator[tuple[int, Tensor, bool]]:
    """The index of every such input, the tensor, and whether it denotes a shape."""
    places = {}
    count = 0
    for arg, group in zip(declaration.inputs, groups, strict=True):
        places[arg.name] = (count, group)
        count += len(group) if isinstance(group, list) else 1
    for call in declaration.shape.args:
        if not isinstance(call, RuleCall) or call.name not in _VALUES | _SIZES:
            continue
        (inner,) = call.args
        assert isinstance(inner, Name)
        first, group = places[inner.text]
        for at, tensor in enumerate(group if isinstance(group, list) else [group]):
            yield first + at, tensor, call.name in _SIZES


def _summarized(value: np.ndarray) -> str:
    """The elements as TensorFlow shows a tensor's: `1 2`, `[1 2][3 4]`."""
    if value.ndim < 2:
        flat = value.reshape(-1)
        shown = " ".join(str(item) for item in flat[:_MOST].tolist())
        return shown + "..." if flat.size > _MOST else shown
    return "".join(f"[{_summarized(row)}]" for row in value)
