"""The execute stage: a register interpreter over the steps of a plan, and its errors.

A plan is a list of steps, each a closure that reads registers, calls one bound kernel, writes
registers and frees those that die there. Registers belong to one run, so threads need no lock.
"""

from __future__ import annotations

import contextvars
import functools
import operator
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sessrun.reference import errors
from sessrun.reference.resources import KernelError, Step, VariableBuffer

if TYPE_CHECKING:
    from sessrun.reference.operation import Operation
    from sessrun.reference.session.trace import Trace

__all__ = ["Plan", "StepFunction", "make_step", "run_error"]

Registers = list[Any]
StepFunction = Callable[[Registers], None]

#: The register that holds the running `Step`.
STEP_REGISTER: Final = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What one signature (fetches, fed tensors) of one session compiles to.

    Attributes:
      steps: the steps in order.
      ops: for each step the operation it belongs to, and the device's name.
      size: how many registers a run needs.
      feeds: the register of each fed tensor, in the order of the signature; None if unread.
      fetches: for each fetched tensor a function from registers to the value handed out.
      cancellable: whether any step may wait.

    """

    steps: tuple[StepFunction, ...]
    ops: tuple[tuple[Operation, str], ...]
    size: int
    feeds: tuple[int | None, ...]
    fetches: tuple[Callable[[Registers], Any], ...]
    cancellable: bool

    def run(
        self, values: Sequence[Any], step: Step | None = None, trace: Trace | None = None
    ) -> list[Any]:
        """Execute the plan.

        Args:
          values: the fed values in the order of the signature, already converted and checked.
          step: the running step, for kernels that wait.
          trace: told the times of each step, or None.

        Returns:
          The fetched values in order: arrays, numpy scalars for rank 0.

        Raises:
          OpError: a kernel failed; the error knows the operation.

        """
        registers: Registers = [None] * self.size
        registers[STEP_REGISTER] = step
        for register, value in zip(self.feeds, values, strict=True):
            if register is not None:
                registers[register] = value
        try:
            loop = self._loop if trace is None else functools.partial(self._timed_loop, trace)
            _quietly(loop, registers)
            return [fetch(registers) for fetch in self.fetches]
        except KernelError as error:  # a fetched reference variable without a value
            raise _op_error(error.code, error.message, None, "") from error

    def _loop(self, registers: Registers) -> None:
        remaining = iter(self.steps)
        try:
            for step in remaining:
                step(registers)
        except Exception as error:  # every kernel's failure becomes an OpError
            index = len(self.steps) - operator.length_hint(remaining) - 1
            op, device = self.ops[index]
            raise run_error(error, op, device) from error

    def _timed_loop(self, trace: Trace, registers: Registers) -> None:
        for step, (op, device) in zip(self.steps, self.ops, strict=True):
            start = time.perf_counter_ns()
            try:
                step(registers)
            except Exception as error:  # every kernel's failure becomes an OpError
                raise run_error(error, op, device) from error
            trace.note(op, device, start, time.perf_counter_ns())


# --- quiet arithmetic -----------------------------------------------------------------------

_LOCAL: Final = threading.local()


def _quietly(function: Callable[[Registers], None], registers: Registers) -> None:
    """Call without numpy's floating-point warnings: an inf or NaN is a value here.

    A context with `errstate` set once per thread costs 0.02 µs a run, `with errstate` 1.5 µs.
    """
    context = getattr(_LOCAL, "context", None)
    if context is None:
        context = _LOCAL.context = contextvars.copy_context()
        context.run(np.seterr, all="ignore")
    try:
        context.run(function, registers)
    except RuntimeError as error:
        if "already entered" not in str(error):
            raise
        with np.errstate(all="ignore"):  # a run inside a run of this thread
            function(registers)


# --- steps ----------------------------------------------------------------------------------


def make_step(
    function: Callable[..., Any],
    inputs: Sequence[int],
    outputs: Sequence[int | None],
    dying: Sequence[int],
) -> StepFunction:
    """The closure of one kernel call.

    Args:
      function: the bound kernel.
      inputs: registers of its arguments, in order.
      outputs: registers of its results; None for one that nobody reads.
      dying: registers that nobody reads after this step.

    """
    if len(outputs) == 1 and outputs[0] is not None and len(inputs) in {0, 1, 2}:
        return _small_step(function, inputs, outputs[0], tuple(dying))
    return _general_step(function, tuple(inputs), tuple(outputs), tuple(dying))


def _small_step(
    function: Callable[..., Any], inputs: Sequence[int], out: int, dying: tuple[int, ...]
) -> StepFunction:
    if len(inputs) == 0:

        def step(registers: Registers) -> None:
            registers[out] = function()

    elif len(inputs) == 1:
        (only,) = inputs

        def step(registers: Registers) -> None:
            registers[out] = function(registers[only])

    else:
        left, right = inputs

        def step(registers: Registers) -> None:
            registers[out] = function(registers[left], registers[right])

    return _freeing(step, dying)


def _general_step(
    function: Callable[..., Any],
    inputs: tuple[int, ...],
    outputs: tuple[int | None, ...],
    dying: tuple[int, ...],
) -> StepFunction:
    single = outputs[0] if len(outputs) == 1 else None

    def step(registers: Registers) -> None:
        result = function(*[registers[index] for index in inputs])
        if single is not None:
            registers[single] = result
        elif len(outputs) > 1:
            for index, value in zip(outputs, result, strict=True):
                if index is not None:
                    registers[index] = value

    return _freeing(step, dying)


def _freeing(step: StepFunction, dying: tuple[int, ...]) -> StepFunction:
    if not dying:
        return step
    if len(dying) == 1:
        (only,) = dying

        def step_and_free(registers: Registers) -> None:
            step(registers)
            registers[only] = None

        return step_and_free

    def step_and_free_all(registers: Registers) -> None:
        step(registers)
        for index in dying:
            registers[index] = None

    return step_and_free_all


# --- errors ---------------------------------------------------------------------------------


def run_error(error: Exception, op: Operation, device: str) -> errors.OpError:
    """The OpError of what a kernel raised: its own code, or what a numpy exception means."""
    if isinstance(error, errors.OpError):
        return error
    if isinstance(error, KernelError):
        return _op_error(error.code, error.message, op, device)
    if isinstance(error, MemoryError):
        text = f"OOM when allocating tensor: {error} on {device} by allocator {_allocator(device)}"
        return _op_error(8, text, op, device)
    if isinstance(error, ValueError | TypeError | IndexError | ArithmeticError):
        return _op_error(3, str(error), op, device)
    return _op_error(13, f"{type(error).__name__}: {error}", op, device)


def _allocator(device: str) -> str:
    kind, _, number = device.rpartition("device:")[2].partition(":")
    return "cpu" if kind == "CPU" else f"{kind}_{number}_bfc"


def _op_error(code: int, message: str, op: Operation | None, device: str) -> errors.OpError:
    if op is None:
        return errors.exception_type_from_error_code(code)(None, None, message)
    text = f"{message}\n\t [[{{{{node {op.name}}}}}]]"
    if op.site is not None:
        text += f"\n\nOperation {op.name!r} ({op.type}, on {device}) was created at:\n{op.site}"
    return errors.exception_type_from_error_code(code)(op.node_def, op, text)


def read_reference(buffer: Any) -> Any:
    """What a reader of a reference sees now; a fed value stands for itself."""
    return buffer.read() if isinstance(buffer, VariableBuffer) else buffer
