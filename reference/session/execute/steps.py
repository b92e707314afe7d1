"""The steps of a plan: their form, how they are made, and the interpreter that runs them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any, Final, NamedTuple, Protocol, cast

from sessrun.reference import errors
from sessrun.reference.devices.variable_buffers import VariableBuffer
from sessrun.reference.graph.operation import Operation
from sessrun.reference.session.execute.op_errors import run_error

__all__ = [
    "STEP_REGISTER",
    "Call",
    "Kernel",
    "Reader",
    "Region",
    "Registers",
    "StepForm",
    "Value",
    "call_of",
    "copied_value",
    "make_step",
    "read_reference",
    "run_steps",
]

#: What a kernel takes and gives: an array of its device or of the host, a numpy scalar, the buffer
#: of a reference variable, or what a resource's handle is.
Value = Any
#: A function that is bound to an operation: from the values of its inputs to those of its outputs.
Kernel = Callable[..., Any]
#: A function that an input's value goes through: reads a reference, or copies to another device.
Reader = Callable[[Value], Value]

#: The values of one run, by the number of their register.
Registers = list[Value]

#: A step: (function, left, right, out, dying). With both inputs `r[out] = f(r[left], r[right])`,
#: with `right` below 0 `r[out] = f(r[left])`, with `left` below 0 too `f(r)`, which writes for
#: itself; then register `dying` is emptied unless it is 0.
StepForm = tuple[Kernel, int, int, int, int]

#: The register that holds the running `Step`.
STEP_REGISTER: Final = 0


class Region(Protocol):
    """The function of a step that executes a branch or a loop."""

    @property
    def registers(self) -> tuple[int, ...]:
        """Those that it reads, and maybe others."""

    def __call__(self, registers: Registers) -> None:
        """Execute it; raises OpError if a kernel fails."""


class Call(NamedTuple):
    """What a step does: one call of a kernel.

    Attributes:
      function: the bound kernel.
      inputs: registers of its arguments, in order.
      outputs: registers of its results; None for one that nobody reads.
      dying: registers to be emptied after this step.

    """

    function: Kernel
    inputs: Sequence[int]
    outputs: Sequence[int | None]
    dying: Sequence[int]

    def perform(self, registers: Registers) -> None:
        """Call the kernel, and write what it returns into the registers."""
        function, inputs, outputs, dying = self
        result = function(*[registers[index] for index in inputs])
        if len(outputs) == 1:
            if outputs[0] is not None:
                registers[outputs[0]] = result
        elif outputs:
            for index, value in zip(outputs, result, strict=True):
                if index is not None:
                    registers[index] = value
        for index in dying:
            registers[index] = None


def run_steps(
    steps: Sequence[StepForm],
    ops: Sequence[Operation],
    devices: Sequence[str],
    registers: Registers,
) -> None:
    """Execute steps in order.

    Args:
      steps: the steps.
      ops: the operation of each.
      devices: the name of its device.
      registers: what they read and write.

    Raises:
      OpError: a kernel failed; the error knows the operation.

    """
    remaining = iter(steps)
    try:
        for function, left, right, out, dying in remaining:
            if right >= 0:
                registers[out] = function(registers[left], registers[right])
            elif left >= 0:
                registers[out] = function(registers[left])
            else:
                function(registers)
            if dying:
                registers[dying] = None
    except errors.OpError:  # of a loop or a branch: it knows its operation
        raise
    except Exception as error:  # every kernel's failure becomes an OpError
        number = len(steps) - operator.length_hint(remaining) - 1
        raise run_error(error, ops[number], devices[number]) from error


def make_step(
    function: Kernel, inputs: Sequence[int], outputs: Sequence[int | None], dying: Sequence[int]
) -> StepForm:
    """The step of one kernel call; the arguments are those of `Call`."""
    if len(outputs) == 1 and outputs[0] is not None and len(dying) < 2 and len(inputs) in {1, 2}:
        left, right = inputs[0], inputs[1] if len(inputs) == 2 else -1
        return function, left, right, outputs[0], dying[0] if dying else 0
    call = Call(function, tuple(inputs), tuple(outputs), tuple(dying))
    return call.perform, -1, -1, -1, 0


def call_of(step: StepForm) -> Call:
    """The call that a step was made of; that of a branch or a loop tells only what it reads."""
    function, left, right, out, dying = step
    if left < 0:
        if not isinstance(function, MethodType):
            return Call(function, cast("Region", function).registers, (), ())
        assert isinstance(function.__self__, Call)
        return function.__self__
    inputs = (left,) if right < 0 else (left, right)
    return Call(function, inputs, (out,), (dying,) if dying else ())


def copied_value(value: Value) -> Value:
    """The same value, for another register."""
    return value


def read_reference(buffer: Value) -> Value:
    """What a reader of a reference sees now; a fed value stands for itself."""
    return buffer.read() if isinstance(buffer, VariableBuffer) else buffer
