"""How the steps of a plan share registers: a value gives its register up after its last reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from sessrun.reference.graph.operation import Operation
    from sessrun.reference.session.plan.kernel_bindings import Device

__all__ = ["Draft", "Form", "Role", "SharedOut", "kept", "shared_out"]

#: What a step does for its operation: computes it, reads a reference for it, or copies a value.
Role = Literal["kernel", "read", "copy"]


@dataclass(slots=True)
class Draft:
    """A step while each value still has a register of its own.

    Attributes:
      op: the operation it belongs to.
      device: where the operation is placed.
      function: the bound kernel, or a copy between devices.
      inputs: registers of the arguments.
      outputs: registers of the results; None for one that is thrown away.
      role: what the step does.

    """

    op: Operation
    device: Device
    function: Callable[..., Any]
    inputs: list[int]
    outputs: list[int | None]
    role: Role = "kernel"


class Form(NamedTuple):
    """A step's registers in the end: what it reads, what it writes, what it empties."""

    inputs: Sequence[int]
    outputs: Sequence[int | None]
    dying: Sequence[int]


@dataclass(frozen=True, slots=True)
class SharedOut:
    """The registers of a plan.

    Attributes:
      forms: those of each step.
      place: the register of each value that has one from the start, or to the end.
      size: how many there are.

    """

    forms: Sequence[Form]
    place: Mapping[int, int]
    size: int


def kept(drafts: Iterable[Draft], size: int) -> SharedOut:
    """Every value in its own register for good."""
    forms = [Form(draft.inputs, draft.outputs, ()) for draft in drafts]
    return SharedOut(forms, {register: register for register in range(size)}, size)


def shared_out(drafts: Sequence[Draft], first: Iterable[int], lasting: Iterable[int]) -> SharedOut:
    """Registers used again once their value is dead.

    Args:
      drafts: the steps in order.
      first: values that are there before the first step, in order: they get registers 0, 1, ...
      lasting: values that must be there after the last step, or in every run.

    """
    last = _last_readers(drafts)
    for register in lasting:
        last.pop(register, None)
    place: dict[int, int] = {}
    for register in first:
        place.setdefault(register, len(place))
    size = len(place)
    free: list[int] = []
    forms = []
    for index, draft in enumerate(drafts):
        inputs = [place[register] for register in draft.inputs]
        dying = [place[r] for r in dict.fromkeys(draft.inputs) if last.get(r) == index]
        outputs: list[int | None] = []
        for output in draft.outputs:
            if output is None or last.get(output) == index:  # nobody reads it
                outputs.append(None)
                continue
            spare = dying or free
            if not spare:
                spare = [size]
                size += 1
            place[output] = spare.pop()
            outputs.append(place[output])
        forms.append(Form(inputs, outputs, dying))
        free.extend(dying)
    return SharedOut(forms, place, size)


def _last_readers(drafts: Sequence[Draft]) -> dict[int, int]:
    """For each value the index of the step that reads it last, or else makes it."""
    last: dict[int, int] = {}
    for index, draft in enumerate(drafts):
        for register in (*draft.outputs, *draft.inputs):
            if register is not None:
                last[register] = index
    return last
