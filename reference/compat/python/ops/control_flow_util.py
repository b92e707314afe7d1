"""`control_flow_util`: which operations of a graph belong to its branches and loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessrun.reference.api.control_flow.conditional import Conditional
from sessrun.reference.api.control_flow.context import (
    Context,
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
    """`ENABLE_CONTROL_FLOW_V2`: whether `tf.cond` and `tf.while_loop` build `If` and `While`."""
    if name == "ENABLE_CONTROL_FLOW_V2":
        return control_flow_v2_enabled()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def EnableControlFlowV2(graph: Graph) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether `tf.cond` and `tf.while_loop` build `If` and `While` in a graph."""
    return control_flow_v2_enabled() or graph.makes_functions


def IsSwitch(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether an operation is a Switch, which passes its input on to one of two outputs."""
    return op.type in {"Switch", "RefSwitch"}


def IsMerge(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether an operation is a Merge, which passes on the first input that is available."""
    return op.type in {"Merge", "RefMerge"}


def IsLoopEnter(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether an operation is an Enter, which passes a tensor into a loop."""
    return op.type in ENTERS


def IsLoopExit(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether an operation is an Exit, which passes a tensor out of a loop."""
    return op.type in {"Exit", "RefExit"}


def IsCondSwitch(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether an operation is a Switch of a `cond`: its outputs are consumed in branches only."""
    return IsSwitch(op) and is_switch_of_branch(op)


def IsCondMerge(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether an operation is the Merge of a `cond`: all its inputs come from branches."""
    sources = [output_context(tensor.op) for tensor in op.inputs]
    return IsMerge(op) and all(isinstance(tensor, Conditional) for tensor in sources)


def IsLoopMerge(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether an operation is the Merge of a loop variable."""
    return IsMerge(op) and isinstance(_context(op), Loop) and not IsCondMerge(op)


def IsInWhileLoop(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether an operation is in a loop."""
    return containing_loop(_context(op)) is not None


def IsInCond(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether an operation is in a branch."""
    return GetContainingCondContext(_context(op)) is not None


def GetContainingCondContext(ctxt: Context | None) -> Context | None:  # noqa: N802 - TensorFlow's name
    """The innermost branch that contains a context, which may be a branch itself; or None."""
    while ctxt is not None and not isinstance(ctxt, Conditional):
        ctxt = ctxt.outer_context
    return ctxt


def GetContainingWhileContext(  # noqa: N802 - TensorFlow's name
    ctxt: Context | None, stop_ctxt: Context | None = None
) -> Context | None:
    """The innermost loop that contains a context, or `stop_ctxt` if the walk outwards meets it."""
    while ctxt is not None and not isinstance(ctxt, Loop) and ctxt is not stop_ctxt:
        ctxt = ctxt.outer_context
    return ctxt


def IsContainingContext(ctxt: Context | None, maybe_containing_ctxt: Context | None) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether the second context is the first one or encloses it."""
    return contains(maybe_containing_ctxt, ctxt)


def OpInContext(op: Operation, ctxt: Context | None) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether an operation is in a context."""
    return contains(ctxt, _context(op))


def TensorInContext(tensor: Tensor, ctxt: Context | None) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether a tensor's operation is in a context."""
    return OpInContext(tensor.op, ctxt)


def _context(op: Operation) -> Context | None:
    context: Context | None = op._get_control_flow_context()  # noqa: SLF001 - TensorFlow's own name
    return context
