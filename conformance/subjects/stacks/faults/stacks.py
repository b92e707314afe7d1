"""Faults of STACKS: the order of values, limits, what outlives a run."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.resource_runs import (
    Base,
    Run,
    executing,
    giving,
    nodes_of,
    recoding,
)
from sessrun.conformance.faulty.run_fragments import editing
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Value
from sessrun.spec.proto.graph_pb2 import GraphDef

_PUSH: Final = ("StackPushV2",)
_POP: Final = ("StackPopV2",)
_INVALID: Final = "InvalidArgumentError"


def _exchanging(tf: Namespace, types: tuple[str, ...]) -> Namespace:
    """The namespace in which the first two values of a stack that is popped twice change places."""

    def change(definition: GraphDef) -> None:
        pops: dict[str, int] = {}
        for node in definition.node:
            if node.op.startswith("StackPop"):
                pops[node.input[0]] = pops.get(node.input[0], 0) + 1
        for handle, count in pops.items():
            pushes = [node for node in nodes_of(definition, types) if node.input[0] == handle]
            if count == len(pushes) == 2:
                one, two = pushes
                one.input[1], two.input[1] = two.input[1], one.input[1]

    return editing(tf, change)


@fault("STACKS-001", "A stack gives the value that was pushed first.")
def first_on_first_off(tf: Namespace) -> Namespace:
    """Exchange the two pushed values."""
    return _exchanging(tf, _PUSH)


@fault("STACKS-010", "An older stack gives the value that was pushed first.")
def first_on_first_off_of_older_stacks(tf: Namespace) -> Namespace:
    """Exchange two values that are pushed."""
    return _exchanging(tf, ("StackPush",))


@fault("STACKS-002", "A push gives the first part of its value.")
def pushes_give_a_part(tf: Namespace) -> Namespace:
    """Give an empty slice of a value that has a dimension."""
    return giving(tf, _PUSH, lambda _op, _index, value: value[:0] if np.ndim(value) else value)


def _pushes(run: Run) -> int:
    """The number of pushes that a pop waits for through control inputs."""
    waiting, seen = list(run.op.control_inputs), 0
    while waiting:
        op = waiting.pop()
        seen += op.type == "StackPushV2"
        waiting += op.control_inputs
    return seen


def _waits_for(run: Run, op_type: str) -> bool:
    waiting = list(run.op.control_inputs)
    while waiting:
        op = waiting.pop()
        if op.type == op_type:
            return True
        waiting += op.control_inputs
    return False


def _is_plain(run: Run) -> bool:
    """Whether the pop fails since the stack is empty."""
    return not _waits_for(run, "StackCloseV2") and (_pushes(run) == 0 or _waits_for(run, _POP[0]))


@fault("STACKS-003", "A pop of an empty stack is out of range.")
def empty_stacks_are_out_of_range(tf: Namespace) -> Namespace:
    """Raise another error."""
    return recoding(tf, _POP, _INVALID, "OutOfRangeError", _is_plain)


@fault("STACKS-004", "A stack takes more values than its limit.")
def limits_are_ignored(tf: Namespace) -> Namespace:
    """Take the limit away, where it is one."""

    def change(definition: GraphDef) -> None:
        _limit(definition, 1, -1)

    return editing(tf, change)


@fault("STACKS-009", "A stack without a limit has room for sixteen values.")
def stacks_end_at_sixteen(tf: Namespace) -> Namespace:
    """Set a limit for stacks without one."""

    def change(definition: GraphDef) -> None:
        _limit(definition, -1, 16)

    return editing(tf, change)


def _limit(definition: GraphDef, have: int, limit: int) -> None:
    """Change the constants that are limits of stacks."""
    named = {node.input[0] for node in nodes_of(definition, ("StackV2",))}
    for node in definition.node:
        if node.name in named and list(node.attr["value"].tensor.int_val) == [have]:
            node.attr["value"].tensor.int_val[0] = limit


@fault("STACKS-012", "A push on a closed stack is unavailable.")
def pushes_on_closed_stacks_are_unavailable(tf: Namespace) -> Namespace:
    """Raise another error."""
    return recoding(
        tf, _PUSH, _INVALID, "UnavailableError", lambda run: _waits_for(run, "StackCloseV2")
    )


@fault("STACKS-013", "A pop of a closed stack is unavailable.")
def pops_of_closed_stacks_are_unavailable(tf: Namespace) -> Namespace:
    """Raise another error."""

    def is_popped(run: Run) -> bool:
        return all(op.type == "StackCloseV2" for op in run.op.control_inputs)

    return recoding(tf, _POP, _INVALID, "UnavailableError", is_popped)


@fault("STACKS-006", "A stack keeps the values of the run before.")
def stacks_outlive_runs(tf: Namespace) -> Namespace:
    """Give what the first run popped."""

    def change(run: Run, base: Base) -> Value:
        first = run.note("popped", {})
        values = base()
        return first.setdefault(run.op.name, values)

    return executing(tf, _POP, change)


@fault("STACKS-015", "A pop as another dtype is invalid, not internal.")
def odd_pops_are_invalid(tf: Namespace) -> Namespace:
    """Raise another error."""
    return recoding(tf, _POP, "InternalError", _INVALID)


@fault("STACKS-014", "A value of another dtype than the stack's is unimplemented.")
def odd_values_are_unimplemented(tf: Namespace) -> Namespace:
    """Raise another error."""

    def is_odd(run: Run) -> bool:
        pushed = [op for op in run.op.control_inputs if op.type in _PUSH]
        return any(op.get_attr("T") != run.op.get_attr("elem_type") for op in pushed)

    return recoding(tf, _POP, _INVALID, "UnimplementedError", is_odd)


@fault("STACKS-008", "Stacks of one name are one stack.")
def stacks_of_one_name_are_one(tf: Namespace) -> Namespace:
    """Let all operations work on the first of them."""

    def change(definition: GraphDef) -> None:
        first: dict[bytes, str] = {}
        for node in nodes_of(definition, ("StackV2",)):
            name = node.attr["stack_name"].s
            kept = first.setdefault(name, node.name) if name else node.name
            for user in definition.node:
                if user.input and user.input[0] == node.name:
                    user.input[0] = kept

    return editing(tf, change)


@fault("STACKS-011", "A temporary variable ends as zeros.")
def temporary_variables_end_as_zeros(tf: Namespace) -> Namespace:
    """Give zeros."""
    return giving(
        tf, ("DestroyTemporaryVariable",), lambda _op, _index, value: np.zeros_like(value)
    )
