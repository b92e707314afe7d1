"""Branches and loops as steps: each executes lists of steps on the registers of a run.

Most graphs have no operation in a branch or a loop that may block. Which of their steps execute
follows from conditions alone, so that values need not find their way edge by edge: a branch is a
step that chooses between two lists of steps, a loop one that executes the list of its condition
and that of its body in turn. `plan/run_straightening` and `plan/loop_straightening` make them;
`dataflow` executes all other graphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sessrun.reference.base.kernel_errors import InvalidArgument, KernelError
from sessrun.reference.graph.operation import Operation
from sessrun.reference.session.execute.op_errors import run_error
from sessrun.reference.session.execute.steps import (
    STEP_REGISTER,
    Registers,
    StepForm,
    Value,
    run_steps,
)
from sessrun.reference.state.steps import Step

__all__ = ["Branch", "InnerLoop", "Steps", "StraightLoop", "checked_scalar", "lists_of"]


@dataclass(frozen=True, slots=True)
class Steps:
    """A list of steps.

    Attributes:
      forms: the steps in order.
      ops: for each step the operation that it belongs to.
      devices: for each step the name of its device.

    """

    forms: tuple[StepForm, ...] = ()
    ops: tuple[Operation, ...] = ()
    devices: tuple[str, ...] = ()

    def run(self, registers: Registers) -> None:
        """Execute them; raises OpError if a kernel fails."""
        run_steps(self.forms, self.ops, self.devices, registers)


@dataclass(frozen=True, slots=True)
class StraightLoop:
    """A loop as lists of steps, which have registers of their own.

    Attributes:
      enters: the Enter operations; the value of the first is in register 1, and so on.
      template: the registers as an execution begins with them, constants in theirs.
      condition: the steps up to the condition.
      condition_register: the register of the condition.
      switch: a Switch, which errors of the condition's shape are those of, and its device.
      body: the steps after it, if it holds.
      after: the steps after it, if it does not.
      moves: from which register to which a value goes into the next iteration.
      spent: registers to be emptied before the next iteration.
      exits: for each Exit the register of its value.
      runs_when_dead: whether a step would be executed although the variables are dead.
      depth: how many loops there are in one another, this one included.
      blocks: how many blocks are in one another in its text.

    """

    enters: tuple[Operation, ...]
    template: Registers
    condition: Steps
    condition_register: int
    switch: tuple[Operation, str]
    body: Steps
    after: Steps
    moves: tuple[tuple[int, int], ...]
    spent: tuple[int, ...]
    exits: tuple[int, ...]
    runs_when_dead: bool
    depth: int
    blocks: int

    def run(self, values: list[Value], step: Step | None) -> list[Value]:
        """Execute it.

        Args:
          values: what the Enters bring, in their order; the list is emptied.
          step: the running step, if the plan has one.

        Returns:
          The values of the exits, in order.

        Raises:
          OpError: a kernel failed, a condition is no scalar, or the step has ended.

        """
        registers = self.template.copy()
        registers[STEP_REGISTER] = step
        registers[1 : len(values) + 1] = values
        values.clear()
        while True:
            self.condition.run(registers)
            if not _holds(registers[self.condition_register], self.switch):
                self.after.run(registers)
                return [registers[register] for register in self.exits]
            if step is not None:
                self._check(step)
            self.body.run(registers)
            following = [registers[source] for source, _ in self.moves]
            for (_, target), value in zip(self.moves, following, strict=True):
                registers[target] = value
            del following
            for register in self.spent:
                registers[register] = None

    def _check(self, step: Step) -> None:
        try:
            step.check()
        except KernelError as error:
            raise run_error(error, *self.switch) from error


def checked_scalar(pred: Value) -> Value:
    """The condition of a Switch.

    Raises:
      InvalidArgument: it is not a scalar.

    """
    if pred.ndim:
        raise InvalidArgument(f"pred must be a scalar, not of shape {list(pred.shape)}")
    return pred


def _holds(pred: Value, switch: tuple[Operation, str]) -> bool:
    """Whether the condition of a Switch holds; raises InvalidArgumentError if it is no scalar."""
    try:
        return bool(checked_scalar(pred))
    except KernelError as error:
        raise run_error(error, *switch) from error


@dataclass(frozen=True, slots=True)
class Branch:
    """A step that executes one of two lists, on the same registers.

    Attributes:
      pred: the register of the condition.
      switch: a Switch by this condition, and its device.
      sides: the steps if it does not hold, and if it does.
      registers: those that it reads or writes.
      dying: registers to be emptied after it.

    """

    pred: int
    switch: tuple[Operation, str]
    sides: tuple[Steps, Steps]
    registers: tuple[int, ...] = ()
    dying: tuple[int, ...] = ()

    @property
    def lists(self) -> tuple[Steps, ...]:
        """The two lists."""
        return self.sides

    def __call__(self, registers: Registers) -> None:
        """Execute the list of the side that the condition chooses."""
        self.sides[_holds(registers[self.pred], self.switch)].run(registers)
        for register in self.dying:
            registers[register] = None


@dataclass(frozen=True, slots=True)
class InnerLoop:
    """A step that executes a loop.

    Attributes:
      loop: the loop.
      inputs: the registers of what enters it.
      targets: the registers of what leaves it.
      spent: registers to be emptied when their values have entered.
      dying: registers to be emptied after it.

    """

    loop: StraightLoop
    inputs: tuple[int, ...]
    targets: tuple[int, ...]
    spent: tuple[int, ...] = ()
    dying: tuple[int, ...] = ()

    @property
    def lists(self) -> tuple[Steps, ...]:
        """The lists of the loop."""
        return self.loop.condition, self.loop.body, self.loop.after

    @property
    def registers(self) -> tuple[int, ...]:
        """Those that it reads."""
        return self.inputs

    def __call__(self, registers: Registers) -> None:
        """Execute all iterations of the loop."""
        entering = [registers[source] for source in self.inputs]
        for register in self.spent:
            registers[register] = None
        leaving = self.loop.run(entering, registers[STEP_REGISTER])
        for target, value in zip(self.targets, leaving, strict=True):
            registers[target] = value
        for register in self.dying:
            registers[register] = None


def lists_of(steps: Steps) -> Iterator[Steps]:
    """A list of steps, and those of the branches and loops within it."""
    yield steps
    for form in steps.forms:
        if form[1] < 0 and isinstance(form[0], Branch | InnerLoop):
            for inner in form[0].lists:
                yield from lists_of(inner)
