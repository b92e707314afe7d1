"""Whether `cond` and `while_loop` make functions of what they are given. Source: TF 2.21.

A graph of version 1 has switches and loops of single operations; after `enable_control_flow_v2`,
and always within a branch or body that is a function itself, there is one operation that calls
functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sessrun.reference.graph import stacks
from sessrun.reference.public import public

__all__ = [
    "control_flow_v2_enabled",
    "gives_all",
    "giving_all",
    "is_functional",
    "output_all_intermediates",
    "say_lowering",
    "says_lowering",
    "switched_to",
]


class _Mode:
    """The switch that `enable_control_flow_v2` sets.

    Attributes:
      is_on: whether branches and loops are functions in every graph.
      gives_all: whether operations that call functions give what these compute on the way.
      says_lowering: whether they say that they are to be lowered to switches.

    """

    is_on = False
    says_lowering = True
    gives_all = False


@public("enable_control_flow_v2")
def enable_control_flow_v2() -> None:
    """Let `cond` and `while_loop` make functions from now on."""
    _Mode.is_on = True


@public("disable_control_flow_v2")
def disable_control_flow_v2() -> None:
    """Let `cond` and `while_loop` make switches and loops from now on."""
    _Mode.is_on = False


@public("control_flow_v2_enabled")
def control_flow_v2_enabled() -> bool:
    """Whether `cond` and `while_loop` make functions in every graph."""
    return _Mode.is_on


def is_functional() -> bool:
    """Whether they make functions here."""
    return _Mode.is_on or stacks.get_default_graph().makes_functions


@public("experimental.output_all_intermediates")
def output_all_intermediates(state: bool | None) -> None:
    """Whether operations that call functions give what these compute on the way, for gradients.

    They may be asked for after the graph was run, then.

    Args:
      state: whether they do; None for what is usual, that they do not.

    """
    _Mode.gives_all = bool(state)


def gives_all() -> bool:
    """Whether operations give what their functions compute on the way."""
    return _Mode.gives_all


def say_lowering(state: bool) -> None:
    """Let operations say that they are to be lowered to switches, or not, from now on."""
    _Mode.says_lowering = state


def says_lowering() -> bool:
    """Whether new operations that call functions get `_lower_using_switch_merge`."""
    return _Mode.says_lowering


@contextmanager
def switched_to(is_on: bool) -> Iterator[None]:
    """The `with` in which branches and loops are functions, or not."""
    before = _Mode.is_on
    _Mode.is_on = is_on
    try:
        yield
    finally:
        _Mode.is_on = before


@contextmanager
def giving_all() -> Iterator[None]:
    """Let operations give what their functions compute on the way, within it."""
    before = _Mode.gives_all
    _Mode.gives_all = True
    try:
        yield
    finally:
        _Mode.gives_all = before
