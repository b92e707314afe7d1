"""Constant folding: operations on known values are evaluated by kernels while a graph is built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.graph.operation import Operation
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.registry import Bind, Node, lookup
from sessrun.reference.state.resources import ResourceStore

__all__ = ["outputs_of"]


def outputs_of(op: Operation, values: list[Any]) -> Sequence[Any] | None:
    """The outputs of an operation; None if its kernel needs a run, or refuses the values.

    Args:
      op: the operation.
      values: its inputs, as ndarrays.

    """
    entry = lookup(op.type, "CPU")
    if entry is None or entry.needs_step:
        return None
    bind = Bind(HOST, op.attrs, Node(op.name, op.type), "", ResourceStore())
    try:
        with HOST.errstate(all="ignore"):
            outputs: Any = entry.bind(bind)(*values)
            parts = (outputs,) if len(op.outputs) == 1 else outputs
            return [*map(HOST.asarray, parts)]
    except (KernelError, ValueError, TypeError, ArithmeticError, IndexError):
        return None  # the same error comes when the operation is run
