"""`control_flow_util`: which operations of a graph make its branches and loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sessrun.reference.operation import Operation

__all__ = ["ENABLE_CONTROL_FLOW_V2", "IsLoopEnter", "IsLoopExit", "IsMerge", "IsSwitch"]

#: Whether `tf.cond` and `tf.while_loop` make functions: in graphs of version 1 they do not.
ENABLE_CONTROL_FLOW_V2: Final = False


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
