"""BodyCall: the body of a called function, run within the step of the run that calls it.

Like a signature of a session, a body that is run often becomes generated code:

    def body(r0, v0, v1):
     r1 = v0
     r2 = v1
     try:
      r3 = r1 * r2
     except Exception as error:
      raise failure_of(error)
     return r3, v0
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sessrun.reference import errors
from sessrun.reference.graph.operation import Operation
from sessrun.reference.session.execute.compiling import functions_of
from sessrun.reference.session.execute.op_errors import line_error
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.execute.step_source import Lines, StepWriter
from sessrun.reference.session.execute.steps import STEP_REGISTER, Value, read_reference
from sessrun.reference.session.execute.straight_flow import Steps

__all__ = ["BodyCall"]


class BodyCall:
    """Runs the plan of a body for one operation that calls it.

    Args:
      plan: the plan.
      sources: for each result (True, number of the argument that it is) or (False, register).
      name: the operation that calls, for errors.
      runs_before: how many calls are interpreted before code is generated: a loop makes one in
        every iteration.

    Attributes:
      may_wait: whether an operation of the body may have to wait for others.
      only_takes: whether a `LateStep` is enough for it.

    """

    def __init__(
        self, plan: Plan, sources: Sequence[tuple[bool, int]], name: str, runs_before: float
    ) -> None:
        self._plan = plan
        self._sources = tuple(sources)
        self._name = name
        self.may_wait = plan.may_wait
        self.only_takes = plan.only_takes
        self._left = runs_before if plan.can_be_text and not plan.may_wait else float("inf")
        self._generated: Callable[..., tuple[Value, ...]] | None = None

    def __call__(self, step: Any, values: Sequence[Value]) -> tuple[Value, ...]:
        """The results for these arguments.

        Args:
          step: the running step; a `LateStep` if that is enough.
          values: the arguments.

        Raises:
          OpError: a kernel failed; the error's operation is none of the session's graph.

        """
        generated = self._generated
        if generated is None:
            if self._left > 0:
                self._left -= 1
                return self._interpreted(step, values)
            generated = self._generated = self._generate()
        return generated(step, *values)

    def _interpreted(self, step: Any, values: Sequence[Value]) -> tuple[Value, ...]:
        plan = self._plan
        registers = plan.template.copy()
        for register, value in zip(plan.feeds, values, strict=True):
            registers[register] = value
        registers[STEP_REGISTER] = step
        kept = step.set_apart() if self.may_wait else None
        try:
            plan.run_within(registers)
        except errors.OpError as error:
            raise _failure(error, self._name) from error
        finally:
            if kept is not None:
                step.rejoin(kept)
        return tuple(
            values[index] if is_argument else read_reference(registers[index])
            for is_argument, index in self._sources
        )

    def _generate(self) -> Callable[..., tuple[Value, ...]]:
        """The body as a function of the step and the arguments."""
        plan, lines = self._plan, Lines(step="r0", check="r0.check()")
        writer = StepWriter(lines, plan.template, plan.feeds)
        arguments = [f"v{number}" for number in range(len(plan.feeds))]
        text = [f"def body({', '.join([lines.step, *arguments])}):"]
        for register, argument in zip(plan.feeds, arguments, strict=True):
            text.append(f" {writer.name(register)} = {argument}")
        text.append(" try:")
        first = len(text) + 1
        writer.write(Steps(plan.steps, plan.ops, plan.devices), 2)
        results = [
            arguments[index] if is_argument else _result(writer, index)
            for is_argument, index in self._sources
        ]
        text += [*lines.texts, "  pass", " except Exception as error:"]
        text += ["  raise failure_of(error)", f" return ({''.join(f'{r}, ' for r in results)})"]
        names = lines.names | {"__builtins__": {}, "Exception": Exception}
        failure = _GeneratedFailure(self._name, first, tuple(lines.ops), tuple(lines.devices))
        names |= {"failure_of": failure.of, "read": read_reference}
        (body,) = functions_of("\n".join(text), names, "body")
        return body  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class _GeneratedFailure:
    """Makes the errors of a generated body; it does not keep the body, which keeps it.

    Attributes:
      name: the operation that calls.
      first: the line of the first step.
      ops: the operation that each line from there on executes.
      devices: the name of its device.

    """

    name: str
    first: int
    ops: tuple[Operation, ...]
    devices: tuple[str, ...]

    def of(self, error: Exception) -> errors.OpError:
        """The error of the call, of which a step has raised this one."""
        failure = line_error(error, self.first, self.ops, self.devices)
        raised = _failure(failure, self.name)
        raised.__cause__ = failure
        return raised


def _failure(error: errors.OpError, name: str) -> errors.OpError:
    """The error of a call: the graph of the session has not what failed."""
    kind = errors.exception_type_from_error_code(error.error_code)
    return kind(None, None, f"{error.message}\n\t [[{name}]]")


def _result(writer: StepWriter, register: int) -> str:
    """The expression of what a register gives to the caller."""
    name = writer.name(register)
    is_value = name in writer.scalars or writer.keeps(register, np.ndarray | np.generic)
    return name if is_value else f"read({name})"
