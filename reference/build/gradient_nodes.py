"""Helpers of gradient functions: operations by type and positional inputs; deferred gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sessrun.reference.build.build import apply_op
from sessrun.reference.build.gradient_registry import GradientFunction, Gradients, register
from sessrun.reference.build.signature import signature
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["constants", "gradient", "late", "node", "nodes"]

F = TypeVar("F", bound=GradientFunction)


def node(op_type: str, *inputs: object, name: str | None = None, **attrs: Any) -> Tensor:
    """The tensor of a new operation that has one output.

    Args:
      op_type: its type.
      *inputs: what it takes, in the order of its declaration: tensors, or what becomes tensors.
      name: its name; its type by default.
      **attrs: its attributes.

    """
    (output,) = nodes(op_type, *inputs, name=name, **attrs)
    return output


def nodes(op_type: str, *inputs: object, name: str | None = None, **attrs: Any) -> list[Tensor]:
    """The tensors of a new operation that has several outputs; arguments as for `node`."""
    by_name = {
        arg.name: value for arg, value in zip(signature(op_type).inputs, inputs, strict=True)
    }
    return apply_op(op_type, by_name, attrs, name).outputs


def gradient(*op_types: str) -> Callable[[F], F]:
    """A decorator: the function `f(op, *grads)` is the gradient of these op types."""

    def decorate(function: F) -> F:
        for op_type in op_types:
            register(op_type, function)
        return function

    return decorate


def late(*op_types: str) -> Callable[[GradientFunction], GradientFunction]:
    """As `gradient`; what the function makes waits for the gradient, which frees memory."""

    def decorate(function: GradientFunction) -> GradientFunction:
        def waiting(op: Operation, grad: Tensor) -> Gradients:
            with default_graph.get_default_graph().control_dependencies([grad]):
                return function(op, grad)

        return gradient(*op_types)(waiting)

    return decorate


def constants(op_types: Iterable[str]) -> None:
    """Say of these op types that their outputs count as constants."""
    for op_type in op_types:
        register(op_type, None)
