"""Kernels of control flow: that these operations can be placed, and those that only hand on.

What Switch, Merge and the operations at the borders of frames do is not a function of values:
`session/execute/dataflow.py` does it, and never calls their kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.reference.base.flow_ops import FLOW
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.registry import Bind, binder

__all__: list[str] = []


@binder(*sorted(FLOW), host_inputs=("pred",), host_outputs=("value_index",))
def flow(bind: Bind) -> Callable[..., Any]:
    """Never called."""

    def refuse(*_: Any) -> Any:
        raise AssertionError(f"{bind.node.type} is not a function of its inputs")

    return refuse


@binder("LoopCond", host_inputs=("input",), host_outputs=("output",))
@binder("DebugGradientRefIdentity", "RefIdentity")
def same(_: Bind) -> Callable[..., Any]:
    """Hands its input on."""
    return lambda value: value


@binder("ControlTrigger")
def trigger(_: Bind) -> Callable[..., Any]:
    """Does nothing."""
    return lambda: None


@binder("RefSelect", host_inputs=("index",))
def selected(_: Bind) -> Callable[..., Any]:
    """The reference of that number; all must have been initialized, as TensorFlow demands."""

    def compute(index: Any, *references: Any) -> Any:
        for reference in references:
            reference.read()
        if index.ndim:
            shape = bracketed(index.shape)
            raise InvalidArgument(f"the index must be a scalar, not of shape {shape}")
        number, count = int(index), len(references)
        if not 0 <= number < count:
            raise InvalidArgument(f"the index must be in [0, {count}), not {number}")
        return references[number]

    return compute
