"""Control flow v2: whether `cond` and `while_loop` build `If` and `While` with functions.

Otherwise they build Switch, Merge, Enter, Exit and NextIteration. Control flow v2 is on after
`enable_control_flow_v2`, and always in the body of a branch or loop that is a function itself.
Source: TF 2.21.
"""

from __future__ import annotations

from sessrun.reference.graph import default_graph
from sessrun.reference.public import public

__all__ = [
    "control_flow_v2_enabled",
    "is_functional",
    "output_all_intermediates",
    "outputs_intermediates",
    "say_lowering",
    "says_lowering",
]


class _Mode:
    """The switch that `enable_control_flow_v2` sets.

    Attributes:
      is_on: whether branches and loops are functions in every graph.
      outputs_intermediates: whether `If` and `While` also output their functions' intermediate
        tensors.
      says_lowering: whether they get the attribute `_lower_using_switch_merge`.

    """

    is_on = False
    says_lowering = True
    outputs_intermediates = False


@public("enable_control_flow_v2")
def enable_control_flow_v2() -> None:
    """Let `cond` and `while_loop` build `If` and `While` with functions from now on."""
    _Mode.is_on = True


@public("disable_control_flow_v2")
def disable_control_flow_v2() -> None:
    """Let `cond` and `while_loop` build Switch, Merge, Enter and Exit from now on."""
    _Mode.is_on = False


@public("control_flow_v2_enabled")
def control_flow_v2_enabled() -> bool:
    """Whether `cond` and `while_loop` build `If` and `While` with functions in every graph."""
    return _Mode.is_on


def is_functional() -> bool:
    """Whether they build `If` and `While` with functions in the default graph."""
    return _Mode.is_on or default_graph.get_default_graph().makes_functions


@public("experimental.output_all_intermediates")
def output_all_intermediates(state: bool | None) -> None:
    """Set whether `If` and `While` also output their functions' intermediate tensors.

    Then gradients may be built after a session has run the graph.

    Args:
      state: whether they do; None means that they do not.

    """
    _Mode.outputs_intermediates = bool(state)


def outputs_intermediates() -> bool:
    """Whether `If` and `While` also output their functions' intermediate tensors."""
    return _Mode.outputs_intermediates


def say_lowering(state: bool) -> None:
    """Set whether new operations that call functions get `_lower_using_switch_merge`."""
    _Mode.says_lowering = state


def says_lowering() -> bool:
    """Whether new operations that call functions get `_lower_using_switch_merge`."""
    return _Mode.says_lowering
