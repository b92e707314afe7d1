"""`control_flow_util`: which operations of a graph make its branches and loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessrun.reference.api.control_flow.conditional import Conditional
from sessrun.reference.api.control_flow.context import (
    constant_enter_of,
    containing_loop,
    contains,
    is_constant_enter,
    is_loop_switch,
    is_switch_of_branch,
    output_context,
)
from sessrun.reference.api.control_flow.functional_mode import control_flow_v2_enabled
from sessrun.reference.api.control_flow.loops import Loop
from sessrun.reference.base.flow_ops import ENTERS

if TYPE_CHECKING:
    from sessrun.reference.graph.graph import Graph
    from sessrun.reference.graph.operation import Operation
    from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "EnableControlFlowV2",
    "GetContainingCondContext",
    "GetContainingWhileContext",
    "GetLoopConstantEnter",
    "GetOutputContext",
    "IsCondMerge",
    "IsCondSwitch",
    "IsContainingContext",
    "IsInCond",
    "IsInWhileLoop",
    "IsLoopConstantEnter",
    "IsLoopEnter",
    "IsLoopExit",
    "IsLoopMerge",
    "IsLoopSwitch",
    "IsMerge",
    "IsSwitch",
    "OpInContext",
    "TensorInContext",
]

GetLoopConstantEnter = constant_enter_of
GetOutputContext = output_context
IsLoopConstantEnter = is_constant_enter
IsLoopSwitch = is_loop_switch


def __getattr__(name: str) -> bool:
    """`ENABLE_CONTROL_FLOW_V2`: whether `tf.cond` and `tf.while_loop` make functions."""
    if name == "ENABLE_CONTROL_FLOW_V2":
        return control_flow_v2_enabled()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def EnableControlFlowV2(graph: Graph) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether branches and loops that are made in a graph are functions."""
    return control_flow_v2_enabled() or graph.makes_functions


def IsSwitch(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether it sends its input on to one of two outputs."""
    return op.type in {"Switch", "RefSwitch"}


def IsMerge(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether it sends on whichever of its inputs comes."""
    return op.type in {"Merge", "RefMerge"}


def IsLoopEnter(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether it takes a tensor into a loop."""
    return op.type in ENTERS


def IsLoopExit(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether it takes a tensor out of a loop."""
    return op.type in {"Exit", "RefExit"}


def IsCondSwitch(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether it sends a tensor into a branch: all that takes its outputs is in branches."""
    return IsSwitch(op) and is_switch_of_branch(op)


def IsCondMerge(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether it joins branches: all that it takes comes out of branches."""
    sources = [output_context(tensor.op) for tensor in op.inputs]
    return IsMerge(op) and all(isinstance(tensor, Conditional) for tensor in sources)


def IsLoopMerge(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether a loop's variable comes through it."""
    return IsMerge(op) and isinstance(_context(op), Loop) and not IsCondMerge(op)


def IsInWhileLoop(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether it is in a loop."""
    return containing_loop(_context(op)) is not None


def IsInCond(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether it is in a branch."""
    return GetContainingCondContext(_context(op)) is not None


def GetContainingCondContext(ctxt: Any) -> Any:  # noqa: N802 - TensorFlow's name
    """The innermost branch that a context is, or is in; None without one."""
    while ctxt is not None and not isinstance(ctxt, Conditional):
        ctxt = ctxt.outer_context
    return ctxt


def GetContainingWhileContext(ctxt: Any, stop_ctxt: Any = None) -> Any:  # noqa: N802 - TensorFlow's name
    """The innermost loop that a context is, or is in, or a given context if that comes first."""
    while ctxt is not None and not isinstance(ctxt, Loop) and ctxt is not stop_ctxt:
        ctxt = ctxt.outer_context
    return ctxt


def IsContainingContext(ctxt: Any, maybe_containing_ctxt: Any) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether the second context is, or is around, the first one."""
    return contains(maybe_containing_ctxt, ctxt)


def OpInContext(op: Operation, ctxt: Any) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether an operation is in a context."""
    return contains(ctxt, _context(op))


def TensorInContext(tensor: Tensor, ctxt: Any) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether a tensor is made in a context."""
    return OpInContext(tensor.op, ctxt)


def _context(op: Operation) -> Any:
    return op._get_control_flow_context()  # noqa: SLF001 - TensorFlow's own name
