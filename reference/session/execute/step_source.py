"""The part of a run's source that is its steps; its names are those of `source`.

A branch is an `if` in the same function, and a loop a `while`:

    r4 = r1 > c3
    if r4 is true or r4 is not false and scalar(r4):
     r6 = r1 + c5
    else:
     r6 = r1 - c5
    r8 = c7
    r9 = r6
    while True:
     r10 = r8 < c11
     if not (r10 is true or r10 is not false and scalar(r10)): break
     if over: c0.check()
     r12 = r9 * r9
     r13 = r8 + c5
     r8, r9 = r13, r12
    r7 = r9

The registers of a loop are numbered after those of what is around it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import UnionType
from typing import Final

import numpy as np

from sessrun.reference.devices.variable_buffers import VariableBuffer
from sessrun.reference.graph.operation import Operation
from sessrun.reference.kernels.constants import identity
from sessrun.reference.session.execute.infix import gives_scalar, infix_of
from sessrun.reference.session.execute.steps import (
    STEP_REGISTER,
    Call,
    Kernel,
    Registers,
    call_of,
    copied_value,
    read_reference,
)
from sessrun.reference.session.execute.straight_flow import (
    Branch,
    InnerLoop,
    Steps,
    checked_scalar,
)

__all__ = ["Lines", "StepWriter"]

#: Operations that move values and compute none, so that numpy has nothing to warn of.
_HANDLING: Final = frozenset({"QueueDequeueV2", "QueueEnqueueV2", "Stage", "Unstage"})
#: What every run's text may name.
_NAMES: Final = {"abs": abs, "false": np.False_, "scalar": checked_scalar, "true": np.True_}
#: An operation, and the name of its device.
_Origin = tuple[Operation, str]


@dataclass(slots=True)
class Lines:
    """The lines of the steps, and what they share.

    Attributes:
      texts: the lines, each indented by one space for each block that it is in.
      ops: the operation that each line executes.
      devices: the name of its device.
      names: what the names in the lines stand for; they fill as lines are written.
      needs_quiet: whether numpy may warn of what a line computes.
      kernels: the name of each kernel, by identity.
      registers: how many registers have a number.
      step: the name of the running step.
      check: the line in each iteration of a loop that raises if the session has ended.

    """

    texts: list[str] = field(default_factory=list)
    ops: list[Operation] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    names: dict[str, object] = field(default_factory=lambda: dict(_NAMES))
    needs_quiet: bool = False
    kernels: dict[int, str] = field(default_factory=dict)
    registers: int = 0
    step: str = f"c{STEP_REGISTER}"
    check: str = f"if over: c{STEP_REGISTER}.check()"

    def add(self, text: str, origin: _Origin, depth: int) -> None:
        """Add a line."""
        self.texts.append(" " * depth + text)
        self.ops.append(origin[0])
        self.devices.append(origin[1])


class StepWriter:
    """Writes the lines of the steps on the registers of a run, or of a loop.

    Args:
      lines: where they are written.
      template: the registers as an execution begins with them.
      written: those that have a value of the run then, such as feeds.

    Attributes:
      scalars: the names of registers that hold a numpy scalar now.

    """

    def __init__(self, lines: Lines, template: Registers, written: Iterable[int]) -> None:
        self._lines = lines
        self._template = template
        self._first = lines.registers
        self._written = set(written)  # registers that a run writes
        self.scalars: set[str] = set()
        lines.registers += len(template)

    def write(self, steps: Steps, depth: int, left_out: frozenset[int] = frozenset()) -> None:
        """Write the lines of a list.

        Args:
          steps: the list.
          depth: how many blocks it is in.
          left_out: the numbers of steps that are not needed.

        """
        for number, form in enumerate(steps.forms):
            if number in left_out:
                continue
            origin = steps.ops[number], steps.devices[number]
            match form[0]:
                case Branch() as branch:
                    self._branch(branch, depth)
                case InnerLoop() as inner:
                    self._loop(inner, origin, depth)
                case _:
                    self._lines.add(self._step(call_of(form), origin[0]), origin, depth)

    # -- steps

    def _step(self, call: Call, op: Operation) -> str:
        """The line of a kernel's call."""
        function, inputs, outputs, dying = call
        arguments = [self.name(register) for register in inputs]
        expression = self._expression(function, op, arguments)
        reads_variable = function is read_reference and self.keeps(inputs[0], VariableBuffer)
        self._written.update(output for output in outputs if output is not None)
        is_scalar = self._is_scalar_result(function, op, arguments)
        targets = ["q" if output is None else self.name(output) for output in outputs]
        (self.scalars.update if is_scalar else self.scalars.difference_update)(targets)
        if reads_variable and not dying and targets != ["q"]:
            (target,), (buffer,) = targets, arguments
            return f"if ({target} := {buffer}.value) is None: {target} = {expression}"
        if targets == ["q"] or not targets:
            line = expression
        else:
            line = f"{', '.join(targets)} = {expression}"
        emptied = [name for name in map(self.name, dying) if name not in self.scalars]
        emptied += ["q"] if len(targets) > 1 and "q" in targets else []
        return "; ".join([line, *(f"{name} = None" for name in emptied)])

    def _expression(self, function: Kernel, op: Operation, arguments: Sequence[str]) -> str:
        """The expression of a step's result."""
        if _is_identity(function):
            return arguments[0]
        form = infix_of(function, op.inputs)
        lines = self._lines
        lines.needs_quiet |= function is not read_reference and op.type not in _HANDLING
        if form is not None:
            return form.format(*arguments)
        kernel = lines.kernels.setdefault(id(function), f"k{len(lines.kernels)}")
        lines.names[kernel] = function
        return f"{kernel}({', '.join(arguments)})"

    def _is_scalar_result(self, function: Kernel, op: Operation, arguments: Sequence[str]) -> bool:
        """Whether the result of a step is a numpy scalar in every run."""
        if _is_identity(function):
            return arguments[0] in self.scalars
        return infix_of(function, op.inputs) is not None and gives_scalar(op.inputs)

    # -- branches and loops

    def _branch(self, branch: Branch, depth: int) -> None:
        no, yes = branch.sides
        pred = self._condition(branch.pred)
        first = self.scalars.copy()
        test = f"if {pred}:" if yes.forms else f"if not ({pred}):"
        self._lines.add(test, branch.switch, depth)
        self.write(yes if yes.forms else no, depth + 1)
        after_first, self.scalars = self.scalars, first
        if yes.forms and no.forms:
            self._lines.add("else:", branch.switch, depth)
            self.write(no, depth + 1)
        self.scalars &= after_first
        self._empty(branch.dying, branch.switch, depth)

    def _loop(self, inner: InnerLoop, origin: _Origin, depth: int) -> None:
        loop, lines = inner.loop, self._lines
        enters = range(1, len(inner.inputs) + 1)
        within = StepWriter(lines, loop.template, enters)
        for register, source in zip(enters, inner.inputs, strict=True):
            lines.add(f"{within.name(register)} = {self.name(source)}", origin, depth)
        self._empty(inner.spent, origin, depth)
        lines.add("while True:", origin, depth)
        within.write(loop.condition, depth + 1)
        pred = within._condition(loop.condition_register)
        if loop.after.forms:
            lines.add(f"if not ({pred}):", loop.switch, depth + 1)
            within.write(loop.after, depth + 2)
            lines.add("break", loop.switch, depth + 2)
        else:
            lines.add(f"if not ({pred}): break", loop.switch, depth + 1)
        lines.add(lines.check, loop.switch, depth + 1)
        within.write(loop.body, depth + 1)
        moves = [(within.name(source), within.name(target)) for source, target in loop.moves]
        moves = [(source, target) for source, target in moves if source != target]
        if moves:
            sources, targets = (", ".join(names) for names in zip(*moves, strict=True))
            lines.add(f"{targets} = {sources}", loop.switch, depth + 1)
        within._empty(loop.spent, loop.switch, depth + 1)
        self._written.update(inner.targets)
        for target, register in zip(inner.targets, loop.exits, strict=True):
            self.scalars.discard(self.name(target))
            lines.add(f"{self.name(target)} = {within.name(register)}", origin, depth)
        within._empty(sorted(within._written), origin, depth)
        self._empty(inner.dying, origin, depth)

    def _condition(self, register: int) -> str:
        """The expression of a condition.

        Comparisons give `np.True_` or `np.False_` themselves, so that `is` decides without a call.
        """
        name = self.name(register)
        return f"{name} is true or {name} is not false and scalar({name})"

    def _empty(self, registers: Iterable[int], origin: _Origin, depth: int) -> None:
        """Write what empties registers."""
        names = [name for name in map(self.name, registers) if name not in self.scalars]
        if names:
            self._lines.add(" = ".join([*names, "None"]), origin, depth)

    # -- registers

    def name(self, register: int) -> str:
        """The name of a register."""
        if register == STEP_REGISTER:
            return self._lines.step
        number = self._first + register
        if register in self._written:
            return f"r{number}"
        self._lines.names[f"c{number}"] = self._template[register]
        return f"c{number}"

    def keeps(self, register: int, kind: type | UnionType) -> bool:
        """Whether a register keeps the same object, of this type, in every run."""
        return register not in self._written and isinstance(self._template[register], kind)

    def is_written(self, register: int) -> bool:
        """Whether a run writes the register."""
        return register in self._written


def _is_identity(function: Kernel) -> bool:
    """Whether a kernel hands its input on."""
    is_kernel = isinstance(function, functools.partial) and function.func is identity
    return is_kernel or function is copied_value
