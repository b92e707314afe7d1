"""How gradient functions make operations: by type and position, and once the gradient is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sessrun.reference.build.build import apply_op
from sessrun.reference.build.gradient_registry import register
from sessrun.reference.build.raw_wrappers import results
from sessrun.reference.build.signature import signature
from sessrun.reference.graph import stacks
from sessrun.reference.graph.operation import Operation

__all__ = ["constants", "gradient", "late", "node"]

Function = Callable[..., Any]


def node(op_type: str, *inputs: Any, name: str | None = None, **attrs: Any) -> Any:
    """The tensors of a new operation, its inputs in the order of its declaration."""
    named = {arg.name: value for arg, value in zip(signature(op_type).inputs, inputs, strict=True)}
    return results(apply_op(op_type, named, attrs, name))


def gradient(*op_types: str) -> Callable[[Function], Function]:
    """A decorator: the function `f(op, *grads)` is the gradient of these op types."""

    def decorate(function: Function) -> Function:
        for op_type in op_types:
            register(op_type, function)
        return function

    return decorate


def late(*op_types: str) -> Callable[[Function], Function]:
    """As `gradient`; what the function makes waits for the gradient, which frees memory."""

    def decorate(function: Function) -> Function:
        def waiting(op: Operation, grad: Any) -> Any:
            with stacks.get_default_graph().control_dependencies([grad]):
                return function(op, grad)

        return gradient(*op_types)(waiting)

    return decorate


def constants(op_types: Iterable[str]) -> None:
    """Say of these op types that their outputs count as constants."""
    for op_type in op_types:
        register(op_type, None)
