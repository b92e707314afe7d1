"""Plans with operations that may wait (a queue's): what waits goes last, and lets the rest go on.

TensorFlow executes the operations of a run side by side, so one that waits for another of the
same run (a dequeue for an enqueue) does not keep it from executing. A plan in which one operation
may wait has it, and what needs it, at its end. With several, the plan is run in groups of steps,
one for each operation; a group that would have to wait is put off until nothing else is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.kernels import registry
from sessrun.reference.session.execute.steps import STEP_REGISTER, Plan, Registers, run_error
from sessrun.reference.state.resources import Postponed

if TYPE_CHECKING:
    from sessrun.reference.graph.operation import Operation
    from sessrun.reference.graph.tensor import Tensor
    from sessrun.reference.state.resources import Step

__all__ = ["Group", "PatientPlan", "groups_of", "waiting_last"]


@dataclass(frozen=True, slots=True)
class Group:
    """The steps of one operation.

    Attributes:
      steps: their numbers in the plan.
      after: the indices of the groups that must have run.

    """

    steps: range
    after: frozenset[int]


def waiting_last(
    ops: Sequence[Operation], fed: frozenset[Tensor]
) -> tuple[Sequence[Operation], int]:
    """The operations with those that may wait, and those that need them, at the end.

    Args:
      ops: the operations, producers before consumers.
      fed: the fed tensors.

    Returns:
      The operations in the new order, and how many of them may wait.

    """
    late = {op for op in ops if _may_wait(op)}
    count = len(late)
    if not count:
        return ops, 0
    for op in ops:
        if any(before in late for before in _before(op, fed)):
            late.add(op)
    return [op for op in ops if op not in late] + [op for op in ops if op in late], count


def groups_of(
    ops: Sequence[Operation], fed: frozenset[Tensor], ends: Sequence[int], size: int
) -> tuple[Group, ...]:
    """The groups of a plan.

    Args:
      ops: its operations in order.
      fed: the fed tensors.
      ends: for each operation, where its steps end.
      size: how many steps there are; those after the last operation's read what is fetched.

    """
    index = {op: number for number, op in enumerate(ops)}
    groups = []
    start = 0
    for op, end in zip(ops, ends, strict=True):
        after = frozenset(index[before] for before in _before(op, fed) if before in index)
        groups.append(Group(range(start, end), after))
        start = end
    groups.append(Group(range(start, size), frozenset(range(len(ops)))))
    return tuple(groups)


@dataclass(frozen=True, slots=True)
class PatientPlan(Plan):
    """A plan in which several operations may wait; every value keeps its register.

    Attributes:
      groups: the groups of its steps, in order.

    """

    groups: tuple[Group, ...] = ()

    def run(self, registers: Registers) -> None:
        """Execute every group, those that have to wait after all the others.

        Raises:
          OpError: an operation failed, the session was closed, or the deadline passed.

        """
        step: Step = registers[STEP_REGISTER]
        step.postpones = True
        left = dict(enumerate(self.groups))
        try:
            while left:
                moved = False
                for number, group in list(left.items()):
                    if not left.keys().isdisjoint(group.after):
                        continue
                    try:
                        self.run_some(registers, group.steps)
                    except Postponed:
                        continue
                    del left[number]
                    moved = True
                if left and not moved:
                    self._wait(left[min(left)], step)
        finally:
            step.withdraw()

    #: It makes its arithmetic quiet where it has to.
    run_within = run

    def _wait(self, group: Group, step: Step) -> None:
        try:
            step.wait()
        except KernelError as error:
            raise run_error(error, *self.ops[group.steps[-1]]) from error


def _may_wait(op: Operation) -> bool:
    entry = registry.lookup(op.kernel_type, "CPU")
    return entry is not None and entry.may_wait


def _before(op: Operation, fed: frozenset[Tensor]) -> list[Operation]:
    return [tensor.op for tensor in op.inputs if tensor not in fed] + op.control_inputs
