"""Which function makes the gradients of an operation that calls a function of the graph."""

from __future__ import annotations

from sessrun.reference.api.functions.concrete_function import CALLS as TRACED_CALLS
from sessrun.reference.build.gradient_registry import GradientFunction, register_call_gradients
from sessrun.reference.gradient.symbolic_gradients import symbolic_gradient
from sessrun.reference.gradient.traced_calls import traced_call_gradient
from sessrun.reference.graph.operation import CALLS, Operation


def _gradient_function(op: Operation) -> GradientFunction | None:
    """That of a traced call, the Python function that a Defun came with, or SymbolicGradient."""
    library = op.graph.functions
    if op in TRACED_CALLS:
        return traced_call_gradient
    if op.type in CALLS:
        return symbolic_gradient
    if op.type not in library:
        return None
    return library.python_gradient(op.type) or symbolic_gradient


register_call_gradients(_gradient_function)
