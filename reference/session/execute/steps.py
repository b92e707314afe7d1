"""The steps of a plan: their form, how they are made, and the interpreter that runs them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from sessrun.reference import errors
from sessrun.reference.devices.variable_buffers import VariableBuffer
from sessrun.reference.graph.operation import Operation
from sessrun.reference.session.execute.op_errors import run_error

__all__ = [
    "STEP_REGISTER",
    "Call",
    "Kernel",
    "Reader",
    "Registers",
    "StepForm",
    "Value",
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


def run_steps(
    steps: Sequence[StepForm], ops: Sequence[tuple[Operation, str]], registers: Registers
) -> None:
    """Execute steps in order; `ops` has the operation and the device of each.

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
        op, device = ops[len(steps) - operator.length_hint(remaining) - 1]
        raise run_error(error, op, device) from error


def make_step(call: Call) -> StepForm:
    """The step of one kernel call."""
    function, inputs, outputs, dying = call
    if len(outputs) == 1 and outputs[0] is not None and len(dying) < 2 and len(inputs) in {1, 2}:
        left, right = inputs[0], inputs[1] if len(inputs) == 2 else -1
        return function, left, right, outputs[0], dying[0] if dying else 0
    return _general_step(function, tuple(inputs), tuple(outputs), tuple(dying)), -1, -1, -1, 0


def _general_step(
    function: Kernel,
    inputs: tuple[int, ...],
    outputs: tuple[int | None, ...],
    dying: tuple[int, ...],
) -> Callable[[Registers], None]:
    single = outputs[0] if len(outputs) == 1 else None

    def step(registers: Registers) -> None:
        result = function(*[registers[index] for index in inputs])
        if single is not None:
            registers[single] = result
        elif len(outputs) > 1:
            for index, value in zip(outputs, result, strict=True):
                if index is not None:
                    registers[index] = value
        for index in dying:
            registers[index] = None

    return step


def read_reference(buffer: Value) -> Value:
    """What a reader of a reference sees now; a fed value stands for itself."""
    return buffer.read() if isinstance(buffer, VariableBuffer) else buffer
