"""Plan: what one signature of a session is compiled to, and how it is executed.

A plan is a list of steps; each calls one bound kernel on registers and writes its result to a
register. A register whose value nobody reads any more is overwritten by the next result or
emptied in the same step. Registers belong to one run, so threads need no lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sessrun.reference import errors
from sessrun.reference.graph.operation import Operation
from sessrun.reference.session.execute.quiet_arithmetic import quietly
from sessrun.reference.session.execute.steps import (
    STEP_REGISTER,
    Call,
    Registers,
    StepForm,
    Value,
    run_steps,
)
from sessrun.reference.session.resolve.feeds import KernelView
from sessrun.reference.state.steps import Step
from sessrun.spec.feeds import StringElementError

__all__ = ["Plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What one signature (fetches, fed tensors) of one session compiles to.

    Attributes:
      steps: the steps in order.
      ops: for each step the operation it belongs to, and the device's name.
      template: the registers as a run begins: constants and handles are there already.
      feeds: the register of each fed tensor, in the order of the signature.
      fetches: the register of each computed tensor of the signature, in order.
      cancellable: whether any step may wait.
      calls: what each step does.

    """

    steps: tuple[StepForm, ...]
    ops: tuple[tuple[Operation, str], ...]
    template: Registers
    feeds: tuple[int, ...]
    fetches: tuple[int, ...]
    cancellable: bool
    calls: tuple[Call, ...] = ()

    def execute(
        self, arrays: Sequence[np.ndarray], views: Sequence[KernelView], step: Step | None = None
    ) -> list[Value]:
        """The execute stage: every step, on registers of this run.

        Args:
          arrays: the arrays of the feeds.
          views: for each feed the function from its array to what kernels see.
          step: the run, if the plan is cancellable.

        Returns:
          The values of the signature's computed tensors, as kernels gave them.

        Raises:
          OpError: a kernel failed; the error knows the operation.
          InternalError: no string tensor holds an element that is fed.

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
          OpError: a kernel failed; the error knows the operation.

        """
        quietly(run_steps, self.steps, self.ops, registers)

    def run_within(self, registers: Registers) -> None:
        """As `run`, within a kernel of another plan, where arithmetic is quiet already.

        Raises:
          OpError: as `run`.

        """
        run_steps(self.steps, self.ops, registers)

    def run_some(self, registers: Registers, steps: Iterable[int]) -> None:
        """Execute these steps, by number: what a partial run has got the feeds for.

        Raises:
          OpError: as `run`.

        """
        chosen = list(steps)
        forms, ops = [self.steps[i] for i in chosen], [self.ops[i] for i in chosen]
        quietly(run_steps, forms, ops, registers)
