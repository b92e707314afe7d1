"""Attributes of a GraphDef's nodes as Python values; an EngineError if they are ill-formed."""

from __future__ import annotations

from typing import Any

from sessrun.adapters.client_layer.engine import EngineError
from sessrun.spec import node_attributes
from sessrun.spec.node_attributes import shape_of
from sessrun.spec.operations import Operation
from sessrun.spec.proto import NodeDef

__all__ = ["attributes_of", "dtype_of", "shape_of"]


def attributes_of(node: NodeDef, operation: Operation) -> dict[str, Any]:
    """Every declared attribute of a node, as `sessrun.spec.node_attributes` has it.

    Raises:
      EngineError: code 3, an attribute is missing, or a dtype is unknown.

    """
    try:
        return node_attributes.attributes_of(node, operation)
    except ValueError as error:
        raise EngineError(3, str(error), node.name) from error


def dtype_of(number: int, node: NodeDef) -> str:
    """The dtype with a number of the enumeration; a reference's number gives its base dtype.

    Raises:
      EngineError: code 3, no dtype has this number; the error names the node.

    """
    try:
        return node_attributes.dtype_of(number, node)
    except ValueError as error:
        raise EngineError(3, str(error), node.name) from error
