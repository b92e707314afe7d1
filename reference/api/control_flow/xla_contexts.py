"""What XLA is to compile, as a context: nothing is compiled here, but some rules hold inside.

A gradient's stacks have a size that is known when the graph is built: the product of the
`maximum_iterations` of the loops around. Source: TF 2.21.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from sessrun.reference.api.control_flow.context import Context, containing_loop, contains
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.graph import stacks
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["XLAControlFlowContext", "is_in_xla_context", "size_of_stack"]


class XLAControlFlowContext(Context):
    """A context that changes nothing about the operations inside of it."""

    def __init__(self) -> None:
        super().__init__("XLAControlFlowContext")
        self._open: list[AbstractContextManager[None]] = []

    def Enter(self) -> None:  # noqa: N802 - TensorFlow's name
        """Enter the context: new operations belong to it."""
        entered = self.entered()
        entered.__enter__()
        self._open.append(entered)

    def Exit(self) -> None:  # noqa: N802 - TensorFlow's name
        """Leave the context: new operations belong to the one it was entered from."""
        self._open.pop().__exit__(None, None, None)

    def IsXLAContext(self) -> bool:  # noqa: N802 - TensorFlow's name
        """True."""
        return True

    @property
    def pivot(self) -> Tensor | None:
        """Nothing: no control input is changed."""
        return None

    def value_inside(self, value: Tensor) -> Tensor:
        """The tensor itself."""
        return value

    def add_op(self, op: Operation) -> None:
        """Add an operation: nothing about it changes."""

    def to_proto(self, export_scope: str | None = None) -> None:
        """None: it is not exported."""


def is_in_xla_context(op: Operation) -> bool:
    """Whether an operation is to be compiled by XLA."""
    attr = op.extra.get("_XlaCompile")
    if attr is not None and attr.b:
        return True
    context: Tensor = op._control_flow_context  # noqa: SLF001 - the two belong together
    while context is not None and not isinstance(context, XLAControlFlowContext):
        context = context.outer_context
    return context is not None


def size_of_stack(value: Tensor, loop: Any) -> Tensor:
    """The capacity of a stack that keeps a value of every iteration.

    Args:
      value: the value, inside of the loop.
      loop: the loop.

    Raises:
      ValueError: an enclosing loop has no `maximum_iterations`, or one that is neither a constant
        nor computed where the gradients are built.

    """
    here = stacks.get_default_graph().scopes.control_flow
    name = "" if here is None else here.name
    size = constant(1)
    reason = f"Cannot create a gradient accumulator for tensor '{value.name}' inside XLA while_loop"
    while loop is not None and loop is not here:
        most = loop.options.maximum_iterations
        if most is None:
            raise ValueError(
                f"{reason} because maximum_iterations was not passed to the tf.while_loop call "
                f"('{loop.name}')."
            )
        there = most.op._control_flow_context  # noqa: SLF001 - the two belong together
        if contains(there, here):
            size = size * most
        else:
            known = constant_value(most)
            if known is None:
                raise ValueError(
                    f"{reason}. maximum_iterations tensor '{most.name}' for while_loop context "
                    f"'{loop.name}' must be statically known (e.g. a constant value or known shape "
                    "dimension), or be defined at or outside the while loop context "
                    f"'{name}' (currently defined in '{there.name}')."
                )
            size = size * known
        loop = _around(loop.outer_context, here)
    return size


def _around(context: Any, here: Any) -> Any:
    """The next enclosing loop, or the context that gradients are asked for in."""
    while context is not None and context is not here and containing_loop(context) is not context:
        context = context.outer_context
    return context
