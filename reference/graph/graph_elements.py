"""How a string, or an object that stands for one, is read as a tensor or operation of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["Kinds", "graph_element"]

_FORM = 'Tensor names must be of the form "<op_name>:<output_index>".'


@dataclass(frozen=True, slots=True)
class Kinds:
    """Which kinds of graph elements are accepted: tensors, operations."""

    tensor: bool
    operation: bool


def graph_element(
    graph: object, operations: Mapping[str, Operation], obj: object, allowed: Kinds
) -> Tensor | Operation:
    """The Tensor or Operation that `obj` is, names, or converts to.

    Args:
      graph: the graph that it must belong to.
      operations: the operations of that graph by name.
      obj: a Tensor, an Operation, the name of one, or an object with `_as_graph_element`.
      allowed: what it may be.

    Raises:
      TypeError: `obj` is of a type that is neither.
      ValueError: `obj` is of another graph, or a string of the wrong form.
      KeyError: the graph does not have the named element.

    """
    wanted = _words(allowed)
    convert = getattr(obj, "_as_graph_element", None)
    if convert is not None:
        obj = convert()
    if isinstance(obj, bytes):
        obj = obj.decode()
    if isinstance(obj, str):
        if ":" in obj and allowed.tensor:
            return _tensor(operations, obj)
        return _operation(operations, obj, allowed)
    if isinstance(obj, Tensor) and allowed.tensor:
        if obj.op.graph is not graph:
            raise ValueError(f"Tensor {obj} is not an element of this graph.")
        return obj
    if isinstance(obj, Operation) and allowed.operation:
        if obj.graph is not graph:
            raise ValueError(f"Operation {obj.name} is not an element of this graph.")
        return obj
    raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.")


def _words(allowed: Kinds) -> str:
    if allowed.tensor and allowed.operation:
        return "Tensor or Operation"
    if not allowed.tensor and not allowed.operation:
        raise ValueError("allow_tensor and allow_operation can't both be False.")
    return "Tensor" if allowed.tensor else "Operation"


def _tensor(operations: Mapping[str, Operation], name: str) -> Tensor:
    op_name, _, digits = name.partition(":")
    if not digits.isascii() or not digits.isdigit():
        raise ValueError(
            f"The name '{name}' looks a like a Tensor name, but is not a valid one. {_FORM}"
        )
    op = operations.get(op_name)
    if op is None:
        raise KeyError(
            f"The name '{name}' refers to a Tensor which does not exist. "
            f"The operation, '{op_name}', does not exist in the graph."
        )
    try:
        return op.outputs[int(digits)]
    except IndexError:
        raise KeyError(
            f"The name '{name}' refers to a Tensor which does not exist. "
            f"The operation, '{op_name}', exists but only has {len(op.outputs)} outputs."
        ) from None


def _operation(operations: Mapping[str, Operation], name: str, allowed: Kinds) -> Operation:
    op = operations.get(name)
    if not allowed.operation:
        what = "refers to an Operation" if op else "looks like an (invalid) Operation name"
        raise ValueError(f"The name '{name}' {what}, not a Tensor. {_FORM}")
    if ":" in name:
        raise ValueError(f"Name '{name}' appears to refer to a Tensor, not a Operation.")
    if op is None:
        raise KeyError(f"The name '{name}' refers to an Operation not in the graph.")
    return op
