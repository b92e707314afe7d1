"""`control_flow_util`: which operations of a graph make its branches and loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessrun.reference.control_flow.functional_mode import control_flow_v2_enabled

if TYPE_CHECKING:
    from sessrun.reference.graph import Graph
    from sessrun.reference.operation import Operation

__all__ = ["EnableControlFlowV2", "IsLoopEnter", "IsLoopExit", "IsMerge", "IsSwitch"]


def __getattr__(name: str) -> Any:
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
    return op.type in {"Enter", "RefEnter"}


def IsLoopExit(op: Operation) -> bool:  # noqa: N802 - TensorFlow's name
    """Whether it takes a tensor out of a loop."""
    return op.type in {"Exit", "RefExit"}
