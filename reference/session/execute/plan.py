"""Plan: the steps that a signature of a session is compiled to, and their execution.

Each step calls one bound kernel on values in registers and stores the results in registers, or
executes a branch or a loop. A register whose last reader is done is reused for the next result, or
emptied in the same step. Registers belong to one run, so threads need no lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sessrun.reference import errors
from sessrun.reference.base.quiet_arithmetic import quietly
from sessrun.reference.graph.operation import Operation
from sessrun.reference.session.execute.steps import (
    STEP_REGISTER,
    Registers,
    StepForm,
    Value,
    run_steps,
)
from sessrun.reference.session.execute.straight_flow import Steps, lists_of
from sessrun.reference.session.resolve.feeds import KernelView
from sessrun.reference.state.steps import Step
from sessrun.spec.feeds import StringElementError

__all__ = ["Plan"]

#: The longest plan that becomes generated code: Python compiles 100,000 steps in a second, and in
#: proportion.
_MOST_STEPS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Plan:
    """The compiled form of one signature (fetches and fed tensors) of one session.

    Attributes:
      steps: the steps in order.
      ops: for each step the operation that it is part of.
      devices: for each step the name of its device.
      template: the registers at the beginning of a run, which hold constants and handles.
      feeds: the register of each fed tensor, in the order of the signature.
      fetches: the register of each computed tensor of the signature, in order.
      cancellable: whether a step may block, or is a loop.
      only_takes: whether of the running `Step` nothing is called but what a `LateStep` has.
      may_wait: whether an operation may have to wait for others.

    """

    steps: tuple[StepForm, ...]
    ops: tuple[Operation, ...]
    devices: tuple[str, ...]
    template: Registers
    feeds: tuple[int, ...]
    fetches: tuple[int, ...]
    cancellable: bool
    only_takes: bool = True
    may_wait: bool = False

    @property
    def can_be_text(self) -> bool:
        """Whether its steps can be Python code: it is no other kind of plan, and is on CPUs."""
        if type(self) is not Plan:
            return False
        lists = list(lists_of(Steps(self.steps, self.ops, self.devices)))
        devices = set().union(*(steps.devices for steps in lists))
        count = sum(len(steps.forms) for steps in lists)
        return count <= _MOST_STEPS and all("device:CPU" in device for device in devices)

    def execute(
        self, arrays: Sequence[np.ndarray], views: Sequence[KernelView], step: Step | None = None
    ) -> list[Value]:
        """The execute stage of a run: all steps, on registers of this run.

        Args:
          arrays: the arrays of the feeds.
          views: for each feed the function from its array to the value that kernels take.
          step: the state of this run, if the plan is cancellable.

        Returns:
          The values of the signature's computed tensors, as the kernels returned them.

        Raises:
          OpError: a kernel failed; the error has the operation as `op`.
          InternalError: an element fed for a string tensor is not a string.

        """
        registers = self.template.copy()
        if arrays:
            try:
                for register, view, array in zip(self.feeds, views, arrays, strict=False):
                    registers[register] = view(array)
            except StringElementError as error:
                raise errors.InternalError(None, None, str(error)) from error
        registers[STEP_REGISTER] = step
        self.run(registers)
        fetches = self.fetches
        if len(fetches) == 1:  # half the time of the next line
            return [registers[fetches[0]]]
        return list(map(registers.__getitem__, fetches))

    def run(self, registers: Registers) -> None:
        """Execute every step.

        Args:
          registers: a copy of `template` with the fed values in their registers, and the
            running `Step` in the first one if the plan is cancellable.

        Raises:
          OpError: a kernel failed; the error has the operation as `op`.

        """
        quietly(run_steps, self.steps, self.ops, self.devices, registers)

    def run_within(self, registers: Registers) -> None:
        """As `run`, within a kernel of another plan, where numpy's warnings are off already.

        Raises:
          OpError: as `run`.

        """
        run_steps(self.steps, self.ops, self.devices, registers)

    def run_some(self, registers: Registers, steps: Iterable[int]) -> None:
        """Execute the steps with these indices, such as those that one `partial_run` enables.

        Raises:
          OpError: as `run`.

        """
        chosen = list(steps)
        forms = [self.steps[number] for number in chosen]
        ops = [self.ops[number] for number in chosen]
        devices = [self.devices[number] for number in chosen]
        quietly(run_steps, forms, ops, devices, registers)
