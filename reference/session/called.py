"""Calls of functions: the body is placed and compiled once per call, and run within the step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sessrun.reference import errors
from sessrun.reference.functions.function_bodies import Body, body_of
from sessrun.reference.session import place, prune
from sessrun.reference.session.compile import Bindings, compile_plan
from sessrun.reference.session.execute import STEP_REGISTER, Plan, read_reference

if TYPE_CHECKING:
    from sessrun.reference.devices import LocalDevice
    from sessrun.reference.operation import Operation
    from sessrun.reference.resources import ResourceStore, Step
    from sessrun.spec.proto import ConfigProto, NameAttrList

__all__ = ["Functions"]


class Functions:
    """What a session calls functions with.

    Args:
      devices: the session's devices.
      config: its configuration.
      resources: its resources, which bodies share.

    Attributes:
      bindings: the bound kernels of the session.

    """

    def __init__(
        self, devices: Sequence[LocalDevice], config: ConfigProto, resources: ResourceStore
    ) -> None:
        self._devices = devices
        self._calling: list[str] = []
        self._config = config
        self.bindings = Bindings(resources, self)

    def of_call(self, op: Operation, function: NameAttrList) -> Callable[..., tuple[Any, ...]]:
        """A function that runs the body for one call: from the step and the arguments' values.

        Args:
          op: the operation that calls.
          function: what it calls.

        Raises:
          InvalidArgumentError: there is no such function, or it cannot be instantiated or placed.

        """
        if function.name in self._calling:
            around = " in ".join((function.name, *reversed(self._calling)))
            raise errors.InvalidArgumentError(op.node_def, op, f"A function calls itself: {around}")
        body = body_of(op.graph.functions, function, op.name, op.device)
        _check(op, function.name, body)
        self._calling.append(function.name)
        try:
            return self._compiled(op, body)
        finally:
            self._calling.pop()

    def _compiled(self, op: Operation, body: Body) -> Callable[..., tuple[Any, ...]]:
        placer = place.Placer(body.graph, self._devices, self._config)
        ops = prune.prune(body.outputs, body.effects, frozenset(body.inputs))
        wanted = [each for each in dict.fromkeys(body.outputs) if each not in body.inputs]
        plan = compile_plan(ops, wanted, body.inputs, placer.place(ops), self.bindings)
        sources = {tensor: (True, index) for index, tensor in enumerate(body.inputs)}
        computed = ((False, register) for register in plan.fetches)
        sources.update(zip(wanted, computed, strict=True))
        return _runner(plan, [sources[tensor] for tensor in body.outputs], op.name)


def _check(op: Operation, name: str, body: Body) -> None:
    """Refuse a call whose inputs or outputs are not those of the function."""
    for word, mine, its in (("inputs", op.inputs, body.inputs),
                            ("outputs", op.outputs, body.outputs)):  # fmt: skip
        have, wanted = ([tensor.dtype.base_dtype.name for tensor in each] for each in (mine, its))
        if have != wanted:
            raise errors.InvalidArgumentError(
                op.node_def, op, f"{{{{node {op.name}}}}} calls {name} with {word} {have}, which "
                f"has {wanted}"
            )  # fmt: skip


def _runner(
    plan: Plan, sources: Sequence[tuple[bool, int]], name: str
) -> Callable[..., tuple[Any, ...]]:
    """Runs a plan; each result is an argument, by number, or in a register."""

    def run(step: Step, values: Sequence[Any]) -> tuple[Any, ...]:
        registers = plan.template.copy()
        for register, value in zip(plan.feeds, values, strict=True):
            registers[register] = value
        registers[STEP_REGISTER] = step
        try:
            with step.apart():
                plan.run(registers)
        except errors.OpError as error:  # the graph of the session has not what failed
            kind = errors.exception_type_from_error_code(error.error_code)
            raise kind(None, None, f"{error.message}\n\t [[{name}]]") from error
        return tuple(
            values[index] if is_argument else read_reference(registers[index])
            for is_argument, index in sources
        )

    return run
