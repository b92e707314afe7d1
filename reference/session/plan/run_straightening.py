"""Run straightening: from the nodes of a run with branches and loops to a plan of steps.

It is a plan like those of graphs without control flow, so that hot runs become generated code. A
branch or a loop is one of its steps. Values do not share registers, but a Merge's with its inputs'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.execute.dataflow_nodes import FrameShape, Node
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.execute.steps import STEP_REGISTER, Reader, Value, read_reference
from sessrun.reference.session.plan.drafts import Draft, Role
from sessrun.reference.session.plan.optimizer_batching import batched
from sessrun.reference.session.plan.step_lists import (
    ALWAYS,
    MOST_BLOCKS,
    Item,
    StepLists,
    blocks_of,
    loops_of,
    steps_of,
)
from sessrun.reference.session.plan.straightening import (
    NamedValue,
    NotStraightError,
    Straightened,
    require_straight,
)

__all__ = ["Fetch", "straight_plan"]


@dataclass(frozen=True, slots=True)
class Fetch:
    """A tensor that a run fetches.

    Attributes:
      tensor: the tensor.
      node: the node of its operation.
      read: what makes a value in host memory of it, or None.

    """

    tensor: Tensor
    node: Node
    read: Reader | None


def straight_plan(
    root: FrameShape,
    by_op: Mapping[Operation, Node],
    fed: Sequence[Tensor],
    fetches: Sequence[Fetch],
) -> Plan | None:
    """The plan of steps of a run; None if there is none.

    Args:
      root: the frame of the run itself.
      by_op: the node of each operation, producers before consumers; loops have been straightened.
      fed: the fed tensors.
      fetches: the fetched tensors.

    """
    try:
        return _StraightenedRun(by_op, is_run=True).plan(root, fed, fetches)
    except NotStraightError:
        return None


@dataclass
class _StraightenedRun(Straightened):
    """One attempt to make the list of a run.

    Attributes:
      waiting: the item whose kernel may have to wait, if there is one.

    """

    waiting: Item | None = None

    def plan(self, root: FrameShape, fed: Sequence[Tensor], fetches: Sequence[Fetch]) -> Plan:
        """The plan; raises NotStraightError."""
        nodes = [node for node in self.by_op.values() if node.frame is root]
        for tensor in fed:
            item = Item(nodes[0], ALWAYS)  # it has executed: its node does not matter
            self.tensors[tensor] = NamedValue(self.new(ALWAYS), ALWAYS, item)
        self.take_all(nodes)
        lists = StepLists(self.order, self.bases, self.same, self.switches, self.waiting)
        feeds = tuple(lists.register(self.tensors[tensor].number) for tensor in fed)
        drafts = lists.run_list()
        require_straight(not lists.left and blocks_of(drafts) <= MOST_BLOCKS)
        held = [self._fetched(fetch, lists, drafts) for fetch in fetches]
        given = {lists.register(number): value for number, value in self.constants.items()}
        if self.waiting is None and all(node.device.kind == "CPU" for node in nodes):
            in_regions = [r for draft in drafts if draft.role == "region" for r in draft.inputs]
            drafts = batched(list(self.by_op), drafts, given, [*held, *in_regions])
        (steps,) = steps_of([drafts], {STEP_REGISTER, *given, *held})
        entries = [node.entry for node in self.by_op.values()]
        template: list[Value] = [None] * len(lists.registers)
        for register, value in given.items():
            template[register] = value
        return Plan(
            steps=steps.forms,
            ops=steps.ops,
            devices=steps.devices,
            template=template,
            feeds=feeds,
            fetches=tuple(held),
            cancellable=any(entry.needs_step for entry in entries) or any(loops_of(drafts)),
            only_takes=all(entry.only_takes or not entry.needs_step for entry in entries),
            may_wait=self.waiting is not None,
        )

    def finish_kernel(self, item: Item, inputs: Sequence[int]) -> None:
        """Give an item its kernel; of those that may wait there may be one, in no branch."""
        if item.node.entry.may_wait:
            require_straight(self.waiting is None and not item.path)
            self.waiting = item
        super().finish_kernel(item, inputs)

    def _fetched(self, fetch: Fetch, lists: StepLists, drafts: list[Draft]) -> int:
        """The register of a fetched value in host memory, to which a draft is added if it must."""
        value = self.tensors[fetch.tensor]
        require_straight(value.path == ALWAYS)
        register = lists.register(value.number)
        if fetch.read is None:
            return register
        output = lists.register(self.new(ALWAYS))
        role: Role = "read" if fetch.read is read_reference else "copy"
        op, device = fetch.node.op, fetch.node.device
        drafts.append(Draft(op, device, fetch.read, (register,), (output,), role))
        return output
