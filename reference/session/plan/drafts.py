"""Drafts: the steps of a plan while it is compiled, and the plan that keeps them to be traced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sessrun.reference.devices.devices import LocalDevice
from sessrun.reference.graph.operation import Operation
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.execute.steps import Call, Kernel

__all__ = ["Draft", "Role", "TracedPlan"]

#: What a step does for its operation: computes it, reads a reference for it, copies a value, or
#: executes a branch or a loop that begins with it.
Role = Literal["kernel", "read", "copy", "region"]


@dataclass(slots=True)
class Draft:
    """A step of a plan before registers are allocated: each value still has a separate register.

    Attributes:
      op: the operation it belongs to.
      device: where the operation is placed.
      function: the bound kernel, or a copy between devices.
      inputs: registers of the arguments.
      outputs: registers of the results; None for a result that is discarded.
      role: what the step does.

    """

    op: Operation
    device: LocalDevice
    function: Kernel
    inputs: tuple[int, ...]
    outputs: tuple[int | None, ...]
    role: Role = "kernel"


@dataclass(frozen=True, slots=True)
class TracedPlan(Plan):
    """A plan in which every operation has a step, so that each step can be timed.

    Attributes:
      drafts: what each step does, and its call.

    """

    drafts: tuple[tuple[Draft, Call], ...] = ()
