"""How a string, or an object that stands for one, is read as a tensor or operation of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

if TYPE_CHECKING:
    from sessrun.reference.graph.graph import Graph

__all__ = ["graph_element"]

_FORM = 'Tensor names must be of the form "<op_name>:<output_index>".'


def graph_element(graph: Graph, obj: Any, *, allow_tensor: bool, allow_operation: bool) -> Any:
    """The Tensor or Operation of `graph` that `obj` is, names, or converts to.

    Raises:
      TypeError: `obj` is of a type that is neither.
      ValueError: it is of another graph, or a string of the wrong form.
      KeyError: it names what the graph does not have.

    """
    wanted = _words(allow_tensor=allow_tensor, allow_operation=allow_operation)
    convert = getattr(obj, "_as_graph_element", None)
    if convert is not None:
        obj = convert()
    if isinstance(obj, bytes):
        obj = obj.decode()
    if isinstance(obj, str):
        if ":" in obj and allow_tensor:
            return _tensor(graph, obj)
        return _operation(graph, obj, allow_operation=allow_operation)
    if isinstance(obj, Tensor) and allow_tensor:
        if obj.op.graph is not graph:
            raise ValueError(f"Tensor {obj} is not an element of this graph.")
        return obj
    if isinstance(obj, Operation) and allow_operation:
        if obj.graph is not graph:
            raise ValueError(f"Operation {obj.name} is not an element of this graph.")
        return obj
    raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.")


def _words(*, allow_tensor: bool, allow_operation: bool) -> str:
    if allow_tensor and allow_operation:
        return "Tensor or Operation"
    if not allow_tensor and not allow_operation:
        raise ValueError("allow_tensor and allow_operation can't both be False.")
    return "Tensor" if allow_tensor else "Operation"


def _tensor(graph: Graph, name: str) -> Tensor:
    op_name, _, digits = name.partition(":")
    if not digits.isascii() or not digits.isdigit():
        raise ValueError(
            f"The name '{name}' looks a like a Tensor name, but is not a valid one. {_FORM}"
        )
    op = graph.operations_by_name.get(op_name)
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


def _operation(graph: Graph, name: str, *, allow_operation: bool) -> Operation:
    op = graph.operations_by_name.get(name)
    if not allow_operation:
        what = "refers to an Operation" if op else "looks like an (invalid) Operation name"
        raise ValueError(f"The name '{name}' {what}, not a Tensor. {_FORM}")
    if ":" in name:
        raise ValueError(f"Name '{name}' appears to refer to a Tensor, not a Operation.")
    if op is None:
        raise KeyError(f"The name '{name}' refers to an Operation not in the graph.")
    return op
