"""WaitingPlan: a plan with several blocking operations, such as a dequeue, executed in groups.

TensorFlow executes the operations of a run in parallel, so that a dequeue can wait for an enqueue
of the same run. This plan executes one operation after the other. Its steps form groups, one for
each operation; a group that would block is postponed until all other groups that can be executed
are done.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessrun.reference.base.kernel_errors import KernelError
from sessrun.reference.session.execute.op_errors import run_error
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.execute.steps import STEP_REGISTER, Registers
from sessrun.reference.state.steps import Postponed, Step

__all__ = ["Group", "WaitingPlan"]


@dataclass(frozen=True, slots=True)
class Group:
    """The steps of one operation.

    Attributes:
      steps: their indices in the plan.
      after: the indices of the groups that must be executed before.

    """

    steps: range
    after: frozenset[int]


@dataclass(frozen=True, slots=True)
class WaitingPlan(Plan):
    """A plan in which several operations may block; no register is used for two values.

    Attributes:
      groups: the groups of its steps, in order.

    """

    groups: tuple[Group, ...] = ()

    def run(self, registers: Registers) -> None:
        """Execute every group; those that would block are tried again after the others.

        Raises:
          OpError: an operation failed, the session was closed, or the deadline passed.

        """
        step: Step = registers[STEP_REGISTER]
        step.postpones = True
        left = dict(enumerate(self.groups))
        try:
            while left:
                has_progress = False
                for number, group in list(left.items()):
                    if not left.keys().isdisjoint(group.after):
                        continue
                    try:
                        self.run_some(registers, group.steps)
                    except Postponed:
                        continue
                    del left[number]
                    has_progress = True
                if left and not has_progress:
                    self._wait(left[min(left)], step)
        finally:
            step.withdraw()

    #: The same method: `run_some` switches numpy's warnings off in either case.
    run_within = run

    def _wait(self, group: Group, step: Step) -> None:
        try:
            step.wait()
        except KernelError as error:
            last = group.steps[-1]
            raise run_error(error, self.ops[last], self.devices[last]) from error
