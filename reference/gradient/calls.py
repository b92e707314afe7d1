"""Gradients of calls: the Python function that a function came with, or another defined one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.api.functions.traces import CALLS as TRACED_CALLS
from sessrun.reference.base import dtypes
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.static_values import handle_shape
from sessrun.reference.gradient.traced_calls import of_traced_call
from sessrun.reference.gradient.variables import gradient_dtypes
from sessrun.reference.graph.operation import CALLS, Operation
from sessrun.spec.proto import NameAttrList

__all__ = ["of_call", "symbolic"]


def of_call(op: Operation) -> Callable[..., Any] | None:
    """What makes the gradients of an operation that calls a function; None if it calls none."""
    library = op.graph.functions
    if op in TRACED_CALLS:
        return of_traced_call
    if op.type in CALLS:
        return symbolic
    if op.type not in library:
        return None
    written: Callable[..., Any] | None = library.python_gradient(op.type)
    return symbolic if written is None else written


def symbolic(op: Operation, *grads: Any) -> list[Any]:
    """The gradients of a call, by another function or derived: that is found when it is run."""
    function = NameAttrList(name=op.type, attr=op.node_def.attr)
    if op.type in CALLS:
        function.name = op.get_attr("f").name
    inputs = {"input": [*op.inputs, *grads]}
    attrs = {"Tout": gradient_dtypes(op.inputs), "f": function}
    found = apply_op("SymbolicGradient", inputs, attrs).outputs
    for tensor, made in zip(op.inputs, found, strict=True):
        if tensor.dtype == dtypes.resource:
            made.set_shape(TensorShape(handle_shape(tensor)))
    return found
