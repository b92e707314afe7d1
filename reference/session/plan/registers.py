"""Registers of a plan: a value gives its register up after the last step that reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sessrun.reference.session.plan.drafts import Draft, Form

__all__ = ["Registers", "separate_registers", "shared_registers"]


@dataclass(frozen=True, slots=True)
class Registers:
    """The registers of a plan.

    Attributes:
      forms: those of each step.
      numbers: the register of each value that has one from the start, or to the end.
      size: how many there are.

    """

    forms: Sequence[Form]
    numbers: Mapping[int, int]
    size: int


def separate_registers(drafts: Iterable[Draft], size: int) -> Registers:
    """Registers for steps of which every value keeps its own."""
    forms = [Form(draft.inputs, draft.outputs, ()) for draft in drafts]
    return Registers(forms, {register: register for register in range(size)}, size)


def shared_registers(
    drafts: Sequence[Draft], first: Iterable[int], lasting: Iterable[int]
) -> Registers:
    """Registers for steps in order, used again after the last step that reads their value.

    Args:
      drafts: the steps in order.
      first: values that are there before the first step, in order: they get registers 0, 1, ...
      lasting: values that must be there after the last step, or in every run.

    """
    last = _last_readers(drafts)
    for register in lasting:
        last.pop(register, None)
    numbers: dict[int, int] = {}
    for register in first:
        numbers.setdefault(register, len(numbers))
    size = len(numbers)
    free: list[int] = []
    forms = []
    for index, draft in enumerate(drafts):
        inputs = [numbers[register] for register in draft.inputs]
        dying = [numbers[r] for r in dict.fromkeys(draft.inputs) if last.get(r) == index]
        outputs: list[int | None] = []
        for output in draft.outputs:
            if output is None or last.get(output) == index:  # nobody reads it
                outputs.append(None)
                continue
            spare = dying or free
            if not spare:
                spare = [size]
                size += 1
            numbers[output] = spare.pop()
            outputs.append(numbers[output])
        forms.append(Form(inputs, outputs, dying))
        free.extend(dying)
    return Registers(forms, numbers, size)


def _last_readers(drafts: Sequence[Draft]) -> dict[int, int]:
    """For each value the index of the last step that reads it; of an unread one, that writes it."""
    last: dict[int, int] = {}
    for index, draft in enumerate(drafts):
        for register in (*draft.outputs, *draft.inputs):
            if register is not None:
                last[register] = index
    return last
