"""Allocation of the registers of a plan: when the register of a value is used for another value.

Drafts of steps number every value; the numbers become registers here. A register is free again
after the last step that reads its value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sessrun.reference.session.execute.steps import StepForm, make_step
from sessrun.reference.session.plan.drafts import Draft

__all__ = ["Registers", "separate_registers", "shared_registers"]

#: No step of a plan has this number.
_NEVER: Final = -1


@dataclass(frozen=True, slots=True)
class Registers:
    """The registers of a plan.

    Attributes:
      steps: the steps on them.
      numbers: by value, as the drafts number them, its register.
      size: the number of registers.

    """

    steps: Sequence[StepForm]
    numbers: Sequence[int]
    size: int


def separate_registers(drafts: Iterable[Draft], count: int) -> Registers:
    """One register for each value, never used again; `count` is how many values there are."""
    steps = [make_step(draft.function, draft.inputs, draft.outputs, ()) for draft in drafts]
    return Registers(steps, range(count), count)


def shared_registers(
    drafts: Sequence[Draft], count: int, first: Iterable[int], lasting: Iterable[int]
) -> Registers:
    """Registers that are used again after the last step that reads their value.

    Args:
      drafts: the steps in the order of execution.
      count: how many values there are.
      first: the values that exist before the first step, in order: they get registers 0, 1, ...
      lasting: the values that keep their registers: those read after the last step or by later
        runs.

    """
    last = _last_readers(drafts, count)
    for value in lasting:
        last[value] = _NEVER
    numbers = [0] * count
    size = 0
    for value in first:
        numbers[value] = size
        size += 1
    free: list[int] = []
    steps = []
    for index, draft in enumerate(drafts):
        inputs = []
        dying = []
        for value in draft.inputs:
            register = numbers[value]
            inputs.append(register)
            if last[value] == index:
                last[value] = _NEVER  # it may be read twice
                dying.append(register)
        outputs: list[int | None] = []
        for output in draft.outputs:
            if output is None or last[output] == index:  # no step reads it
                outputs.append(None)
                continue
            spare = dying or free
            if spare:
                register = spare.pop()
            else:
                register = size
                size += 1
            numbers[output] = register
            outputs.append(register)
        steps.append(make_step(draft.function, inputs, outputs, dying))
        free += dying
    return Registers(steps, numbers, size)


def _last_readers(drafts: Sequence[Draft], count: int) -> list[int]:
    """For each value the index of the last step that reads it; of an unread one, that writes it."""
    last = [_NEVER] * count
    for index, draft in enumerate(drafts):
        for output in draft.outputs:
            if output is not None:
                last[output] = index
        for value in draft.inputs:
            last[value] = index
    return last
