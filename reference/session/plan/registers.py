"""Allocation of the registers of a plan: when the register of a value is used for another value.

Drafts of steps number every value; the numbers become registers here. A register is free again
after the last step that reads its value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sessrun.reference.session.plan.drafts import Draft, Form

__all__ = ["Registers", "separate_registers", "shared_registers"]


@dataclass(frozen=True, slots=True)
class Registers:
    """The registers of a plan.

    Attributes:
      forms: the registers of each step.
      numbers: by value, as the drafts number them, its register.
      size: the number of registers.

    """

    forms: Sequence[Form]
    numbers: Mapping[int, int]
    size: int


def separate_registers(drafts: Iterable[Draft], size: int) -> Registers:
    """One register for each value, never used again."""
    forms = [Form(draft.inputs, draft.outputs, ()) for draft in drafts]
    return Registers(forms, {register: register for register in range(size)}, size)


def shared_registers(
    drafts: Sequence[Draft], first: Iterable[int], lasting: Iterable[int]
) -> Registers:
    """Registers that are used again after the last step that reads their value.

    Args:
      drafts: the steps in the order of execution.
      first: the values that exist before the first step, in order: they get registers 0, 1, ...
      lasting: the values that keep their registers: those read after the last step or by later
        runs.

    """
    last = _last_readers(drafts)
    for value in lasting:
        last.pop(value, None)
    numbers: dict[int, int] = {}
    for value in first:
        numbers.setdefault(value, len(numbers))
    size = len(numbers)
    free: list[int] = []
    forms = []
    for index, draft in enumerate(drafts):
        inputs = [numbers[value] for value in draft.inputs]
        dying = [numbers[v] for v in dict.fromkeys(draft.inputs) if last.get(v) == index]
        outputs: list[int | None] = []
        for output in draft.outputs:
            if output is None or last.get(output) == index:  # no step reads it
                outputs.append(None)
                continue
            spare = dying or free
            if not spare:
                spare = [size]
                size += 1
            numbers[output] = spare.pop()
            outputs.append(numbers[output])
        # Tuples of numbers, unlike lists, are nothing that the garbage collector visits.
        forms.append(Form(tuple(inputs), tuple(outputs), tuple(dying)))
        free.extend(dying)
    return Registers(forms, numbers, size)


def _last_readers(drafts: Sequence[Draft]) -> dict[int, int]:
    """For each value the index of the last step that reads it; of an unread one, that writes it."""
    last: dict[int, int] = {}
    for index, draft in enumerate(drafts):
        for value in (*draft.outputs, *draft.inputs):
            if value is not None:
                last[value] = index
    return last
