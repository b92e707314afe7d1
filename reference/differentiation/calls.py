"""Gradients of calls: the Python function that a function came with, or another defined one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference import stacks
from sessrun.reference.build import apply_flat
from sessrun.reference.operation import Operation

__all__ = ["of_call"]


def of_call(op: Operation) -> Callable[..., Any] | None:
    """What makes the gradients of an operation that calls a function; None if it calls none.

    Raises:
      NotImplementedError: the function says nothing of its gradient.

    """
    library = op.graph.functions
    if op.type not in library:
        return None
    written: Callable[..., Any] | None = library.python_gradient(op.type)
    if written is not None:
        return written
    defined = library.gradient(op.type)
    if defined is None:
        raise NotImplementedError(
            f"sessrun.reference does not derive the gradient of a function yet: {op.type}. Give "
            "it a grad_func or a python_grad_func."
        )

    def call(called: Operation, *grads: Any) -> list[Any]:
        graph = stacks.get_default_graph()
        return apply_flat(graph, defined, [*called.inputs, *grads], {}, None).outputs

    return call
