"""The OpError of what a kernel has raised: its code, the message, and the operation.

Clauses: ERRORS.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from sessrun.reference import errors
from sessrun.reference.base.kernel_errors import KernelError, ResourceExhausted
from sessrun.reference.devices.allocators import allocator_of, out_of_memory
from sessrun.reference.graph.operation import Operation

__all__ = ["line_error", "run_error"]

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
      error: the exception that was raised.
      op: the operation.
      device: where it ran.
      allocations: makes the report of the allocations, if memory is exhausted; or None.

    """
    if isinstance(error, errors.OpError):
        return error
    if isinstance(error, MemoryError):
        error = ResourceExhausted(_out_of_memory_text(error, device))
    if isinstance(error, KernelError):
        more = ""
        if isinstance(error, ResourceExhausted):
            more = _HINT if allocations is None else allocations()
        return _op_error(error.code, error.message, op, device, more)
    if isinstance(error, ValueError | TypeError | IndexError | ArithmeticError):
        return _op_error(errors.INVALID_ARGUMENT, _message_of(error), op, device)
    return _op_error(errors.INTERNAL, f"{type(error).__name__}: {error}", op, device)


def line_error(
    error: Exception, first: int, ops: Sequence[Operation], devices: Sequence[str]
) -> errors.OpError:
    """The OpError of what generated code has raised in one of its lines.

    Args:
      error: the exception; that of a call knows its operation.
      first: the line of the first step.
      ops: the operation of each line from there on.
      devices: the name of its device.

    """
    if isinstance(error, errors.OpError):
        return error
    assert error.__traceback__ is not None
    line = error.__traceback__.tb_lineno - first
    failure = run_error(error, ops[line], devices[line])
    failure.__cause__ = error
    return failure


def _message_of(error: Exception) -> str:
    """The text of a numpy exception; for shapes that do not broadcast, in TensorFlow's words."""
    match = _NOT_TOGETHER.search(str(error))
    if match is None:
        return str(error)
    return "Incompatible shapes: " + " vs. ".join(_shape_text(shape) for shape in match.groups())


def _shape_text(shape: str) -> str:
    """`[2,3]` of `2, 3`."""
    return f"[{shape.replace(' ', '').rstrip(',')}]"


def _out_of_memory_text(error: MemoryError, device: str) -> str:
    """The message of a MemoryError: numpy's own has the shape and dtype of the allocation."""
    kind, _, number = device.rpartition("device:")[2].partition(":")
    allocator = allocator_of(device, kind, int(number)).name
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    if shape is None or dtype is None:
        return f"OOM when allocating tensor on {device} by allocator {allocator}: {error}"
    return out_of_memory(shape, dtype, device, allocator)


def _op_error(
    code: int, message: str, op: Operation, device: str, more: str = ""
) -> errors.OpError:
    text = f"{message}\n\t [[{{{{node {op.name}}}}}]]{more}"
    text += f"\n\nOperation {op.name!r} ({op.type}, on {device}) was created at:\n{op.site}"
    return errors.exception_type_from_error_code(code)(op.node_def, op, text)
