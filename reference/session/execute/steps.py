"""The execute stage: a register interpreter over the steps of a plan, and its errors.

A plan is a list of steps; each calls one bound kernel on registers and writes its result to a
register. A register whose value nobody reads any more is overwritten by the next result or
emptied in the same step. Registers belong to one run, so threads need no lock.
"""

from __future__ import annotations

import contextvars
import operator
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sessrun.reference import errors
from sessrun.reference.base.kernel_errors import KernelError, ResourceExhausted
from sessrun.reference.devices.allocators import allocator_of, out_of_memory
from sessrun.reference.state.resources import VariableBuffer

if TYPE_CHECKING:
    from sessrun.reference.graph.operation import Operation
    from sessrun.reference.session.plan.registers import Draft, Form

__all__ = [
    "Plan",
    "Registers",
    "StepForm",
    "apart",
    "handed_out",
    "make_step",
    "quietly",
    "read_reference",
    "run_error",
    "run_steps",
]

Registers = list[Any]

#: A step: (function, left, right, out, dying). With both inputs `r[out] = f(r[left], r[right])`,
#: with `right` below 0 `r[out] = f(r[left])`, with `left` below 0 too `f(r)`, which writes for
#: itself; then register `dying` is emptied unless it is 0.
StepForm = tuple[Callable[..., Any], int, int, int, int]

#: The register that holds the running `Step`.
STEP_REGISTER: Final = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What one signature (fetches, fed tensors) of one session compiles to.

    Attributes:
      steps: the steps in order.
      ops: for each step the operation it belongs to, and the device's name.
      template: the registers as a run begins: constants and handles are there already.
      feeds: the register of each fed tensor, in the order of the signature.
      fetches: the register of each fetched tensor, in order; `handed_out` makes its value.
      cancellable: whether any step may wait.
      told: what each step does, and on which registers; only of a plan that is to be traced.

    """

    steps: tuple[StepForm, ...]
    ops: tuple[tuple[Operation, str], ...]
    template: Registers
    feeds: tuple[int, ...]
    fetches: tuple[int, ...]
    cancellable: bool
    told: tuple[tuple[Draft, Form], ...] = ()

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


# --- quiet arithmetic -----------------------------------------------------------------------

_LOCAL: Final = threading.local()


def quietly(function: Callable[..., None], *arguments: Any) -> None:
    """Call without numpy's floating-point warnings: an inf or NaN is a value here.

    A context with `errstate` set once per thread costs 0.02 µs a run, `with errstate` 1.5 µs.
    """
    try:
        inside = _LOCAL.inside
    except AttributeError:
        context = contextvars.copy_context()
        context.run(np.seterr, all="ignore")
        inside = _LOCAL.inside = context.run
    try:
        inside(function, *arguments)
    except RuntimeError as error:
        if "already entered" not in str(error):
            raise
        with np.errstate(all="ignore"):  # a run inside a run of this thread
            function(*arguments)


# --- steps ----------------------------------------------------------------------------------


def make_step(
    function: Callable[..., Any],
    inputs: Sequence[int],
    outputs: Sequence[int | None],
    dying: Sequence[int],
) -> StepForm:
    """The step of one kernel call.

    Args:
      function: the bound kernel.
      inputs: registers of its arguments, in order.
      outputs: registers of its results; None for one that nobody reads.
      dying: registers to be emptied after this step.

    """
    if len(outputs) == 1 and outputs[0] is not None and len(dying) < 2 and len(inputs) in {1, 2}:
        left, right = inputs[0], inputs[1] if len(inputs) == 2 else -1
        return function, left, right, outputs[0], dying[0] if dying else 0
    return _general_step(function, tuple(inputs), tuple(outputs), tuple(dying)), -1, -1, -1, 0


def _general_step(
    function: Callable[..., Any],
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


# --- what is fetched ------------------------------------------------------------------------


def handed_out(value: Any) -> Any:
    """What the caller gets of a register's value.

    Constants, variables and feeds are read-only arrays, and so is every view of one: those are
    copied, so that the caller may write to what was fetched; and so are arrays that are not in C
    order, such as a sum of a transpose. A rank-0 value is handed out as a
    numpy scalar, quantized elements as plain integers.

    Raises:
      OpError: it is a reference variable without a value.

    """
    if isinstance(value, VariableBuffer):
        try:
            value = value.read()
        except KernelError as error:
            raise _op_error(error.code, error.message, None, "") from error
    if isinstance(value, np.ndarray):
        if value.dtype.names is not None:
            value = value.view(value.dtype[0])
        if value.ndim == 0:
            return value[()]
        flags = value.flags
        if not flags.writeable or not flags.c_contiguous:
            return value.copy()
    return value


def apart(values: list[Any], sources: Sequence[tuple[bool, int] | None]) -> list[Any]:
    """The values of one run, in place, of which no two computed ones share memory.

    What an identity or a reshape computes is its input itself or a view of it. A caller may write
    to each array that was fetched, so of those that share memory all but one are copied.

    Args:
      values: the fetched values, as they are handed out.
      sources: for each whether it was fed: the caller's own arrays are left as they are.

    """
    seen: set[int] = set()
    for index, (value, source) in enumerate(zip(values, sources, strict=True)):
        if source is None or source[0] or not isinstance(value, np.ndarray):
            continue
        if value.base is not None or id(value) in seen:
            values[index] = value.copy()
        seen.add(id(values[index]))
    return values


# --- errors ---------------------------------------------------------------------------------

#: What numpy says of two operands of an elementwise operation.
_NOT_TOGETHER: Final = re.compile(r"broadcast together with shapes \(([\d, ]*)\) \(([\d, ]*)\) *$")
_HINT: Final = (
    "\nHint: If you want to see a list of allocated tensors when OOM happens, add "
    "report_tensor_allocations_upon_oom to RunOptions for current allocation info."
)


def run_error(
    error: Exception, op: Operation, device: str, allocations: Callable[[], str] | None = None
) -> errors.OpError:
    """The OpError of what a kernel raised: its own code, or what a numpy exception means.

    Args:
      error: what was raised.
      op: the operation.
      device: where it ran.
      allocations: gives the report of what was allocated, for want of memory; or None.

    """
    if isinstance(error, errors.OpError):
        return error
    if isinstance(error, MemoryError):
        error = ResourceExhausted(_want_of_memory(error, device))
    if isinstance(error, KernelError):
        more = ""
        if isinstance(error, ResourceExhausted):
            more = _HINT if allocations is None else allocations()
        return _op_error(error.code, error.message, op, device, more)
    if isinstance(error, ValueError | TypeError | IndexError | ArithmeticError):
        return _op_error(errors.INVALID_ARGUMENT, _said(error), op, device)
    return _op_error(errors.INTERNAL, f"{type(error).__name__}: {error}", op, device)


def _said(error: Exception) -> str:
    """The text of a numpy exception; of shapes that do not go together, in TensorFlow's words."""
    found = _NOT_TOGETHER.search(str(error))
    if found is None:
        return str(error)
    return "Incompatible shapes: " + " vs. ".join(_shown(shape) for shape in found.groups())


def _shown(shape: str) -> str:
    """`[2,3]` of `2, 3`."""
    return f"[{shape.replace(' ', '').rstrip(',')}]"


def _want_of_memory(error: MemoryError, device: str) -> str:
    """What the device's allocator says; numpy's own error knows what it was asked for."""
    kind, _, number = device.rpartition("device:")[2].partition(":")
    allocator = allocator_of(device, kind, int(number)).name
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    if shape is None or dtype is None:
        return f"OOM when allocating tensor on {device} by allocator {allocator}: {error}"
    return out_of_memory(shape, dtype, device, allocator)


def _op_error(
    code: int, message: str, op: Operation | None, device: str, more: str = ""
) -> errors.OpError:
    if op is None:
        return errors.exception_type_from_error_code(code)(None, None, message)
    text = f"{message}\n\t [[{{{{node {op.name}}}}}]]{more}"
    if op.site is not None:
        text += f"\n\nOperation {op.name!r} ({op.type}, on {device}) was created at:\n{op.site}"
    return errors.exception_type_from_error_code(code)(op.node_def, op, text)


def read_reference(buffer: Any) -> Any:
    """What a reader of a reference sees now; a fed value stands for itself."""
    return buffer.read() if isinstance(buffer, VariableBuffer) else buffer
