"""Branches and loops as data: what meta graphs say of them, so that gradients go through them.

A message names the tensors that a context knows, those created inside among them. Source:
TF 2.21, control_flow.proto.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from sessrun.reference.base.upper_functions import UPPER
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.name_prefixes import under, without
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import CondContextDef, ControlFlowContextDef, ValuesDef

__all__ = ["nested_defs", "restore_nested", "restored_values", "values_def"]

#: For each field of a ControlFlowContextDef, the function that makes a context of its message.
_FROM_PROTO: Final = {"cond_ctxt": "Conditional.from_proto", "while_ctxt": "Loop.from_proto"}


def values_def(
    known: Iterable[Tensor], inside: Mapping[Tensor, Tensor], scope: str | None
) -> ValuesDef:
    """The ValuesDef of a context.

    Args:
      known: the tensors that operations in it may take.
      inside: for tensors from outside, the tensors to use in it instead.
      scope: a name scope that is taken out of names, or None.

    """
    message = ValuesDef(
        values=[without(scope, name) for name in sorted(tensor.name for tensor in known)]
    )
    for outer, inner in inside.items():
        message.external_values[without(scope, outer.name)] = without(scope, inner.name)
    return message


def nested_defs(contexts: Iterable[Any], scope: str | None) -> list[ControlFlowContextDef]:
    """The messages of contexts within another one; `scope` as for `values_def`."""
    messages = []
    for context in contexts:
        message = context.to_proto(scope)
        kind = "cond_ctxt" if isinstance(message, CondContextDef) else "while_ctxt"
        messages.append(ControlFlowContextDef(**{kind: message}))
    return messages


def restore_nested(message: ControlFlowContextDef, scope: str | None) -> None:
    """Restore a context from its message; it is nested in the context that is entered now."""
    kind = message.WhichOneof("ctxt")
    UPPER[_FROM_PROTO[kind]](getattr(message, kind), scope)


def restored_values(
    graph: Graph, definition: ValuesDef, scope: str | None, set_context_of: Callable[[Any], None]
) -> tuple[set[Tensor], dict[Tensor, Tensor]]:
    """The tensors that a `values_def` message names, in a graph that has them.

    Args:
      graph: the graph.
      definition: the message.
      scope: the name scope that the graph's operations were imported under, or None.
      set_context_of: called with every operation that was created inside.

    Returns:
      The tensors known in the context, and for tensors from outside those to use in it instead.

    Raises:
      KeyError: the graph lacks an operation or tensor that the message names.

    """
    known: set[Tensor] = set()
    for name in definition.values:
        if name not in definition.external_values:
            tensor = graph.get_tensor_by_name(under(scope, name))
            known.add(tensor)
            set_context_of(tensor.op)
    inside: dict[Tensor, Tensor] = {}
    for outer, inner in definition.external_values.items():
        tensor_inside = graph.get_tensor_by_name(under(scope, inner))
        try:
            tensor = graph.get_tensor_by_name(under(scope, outer))
        except KeyError:  # the tensor was not exported, so no operation refers to it
            continue
        inside[tensor] = tensor_inside
        if outer in definition.values:
            known.add(tensor)
    return known, inside
