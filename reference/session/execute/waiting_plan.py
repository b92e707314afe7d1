"""WaitingPlan: a plan with several blocking operations, such as a dequeue, executed in groups.

TensorFlow executes the operations of a run side by side, so one that waits for another of the
same run (a dequeue for an enqueue) does not keep it from executing. So the plan is run in groups
of steps, one for each operation; a group that would have to wait is put off until nothing else is
left.
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
      steps: their numbers in the plan.
      after: the indices of the groups that must have run.

    """

    steps: range
    after: frozenset[int]


@dataclass(frozen=True, slots=True)
class WaitingPlan(Plan):
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

    #: It makes its arithmetic quiet where it has to.
    run_within = run

    def _wait(self, group: Group, step: Step) -> None:
        try:
            step.wait()
        except KernelError as error:
            raise run_error(error, *self.ops[group.steps[-1]]) from error
