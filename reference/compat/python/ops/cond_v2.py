"""`cond_v2`: branches as functions, even if control flow of version 2 is off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.api.argument_types import Structure
from sessrun.reference.api.control_flow.functional_branches import bodies_of, functional_cond
from sessrun.reference.api.control_flow.switch_case import indexed_case
from sessrun.reference.api.functions.branch_graphs import BranchGraph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["cond_v2", "get_func_graphs", "indexed_case"]


def cond_v2(
    pred: bool | Tensor,
    true_fn: Callable[[], Structure],
    false_fn: Callable[[], Structure],
    name: str | None = "cond",
) -> Any:
    """As `tf.cond`, with the same arguments."""
    return functional_cond(pred, true_fn, false_fn, name)


def get_func_graphs(op: Operation) -> tuple[BranchGraph, ...]:
    """The graphs of the branches of an operation."""
    return tuple(bodies_of(op))
