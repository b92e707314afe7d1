"""Loop straightening: from the nodes of a loop to the lists of steps that execute its iterations.

The list of the condition has what executes whether or not it holds, that of the body what executes
if it does, a third one what executes after the last iteration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sessrun.reference.graph.operation import Operation
from sessrun.reference.session.execute.dataflow_nodes import Node
from sessrun.reference.session.execute.steps import Value
from sessrun.reference.session.execute.straight_flow import StraightLoop
from sessrun.reference.session.plan.drafts import Draft
from sessrun.reference.session.plan.step_lists import (
    ALWAYS,
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

__all__ = ["straight_loop"]

#: How many loops may be in one another: Python allows 20 `while` and `try` in one another, and a
#: branch of a loop may be within another run's text.
_MOST_LOOPS: Final = 12


def straight_loop(
    nodes: Sequence[Node], enters: Sequence[Node], by_op: Mapping[Operation, Node]
) -> StraightLoop | None:
    """The lists of steps of a loop; None if it has none.

    Args:
      nodes: the nodes of its frame.
      enters: what brings values into it.
      by_op: the node of each operation; loops within the loop have been straightened.

    """
    try:
        return _StraightenedLoop(by_op, enters=enters).loop(nodes)
    except NotStraightError:
        return None


@dataclass
class _StraightenedLoop(Straightened):
    """One attempt to make the lists of a loop.

    Attributes:
      enters: what brings values into the loop.
      heads: the Merges that an iteration begins with.

    """

    enters: Sequence[Node] = ()
    heads: list[Node] = field(default_factory=list)

    def loop(self, nodes: Sequence[Node]) -> StraightLoop:
        """The loop with these nodes; raises NotStraightError."""
        for node in self.enters:
            self._take_enter(node)
        for node in nodes:
            require_straight(node.kind == "Exit" or max(node.fetched, default=-1) < 0)
        self.take_all(nodes)
        return self._in_lists(nodes)

    def _take_enter(self, node: Node) -> None:
        is_constant = bool(node.op.attrs["is_constant"])
        require_straight(max(node.fetched, default=-1) < 0)
        if not is_constant:  # it brings its value into the first iteration only
            users = [user for user, _ in node.edges[0]]
            require_straight([user.kind for user in users] == ["Merge"] and not node.controls)
        item = self.items[node] = Item(node, ALWAYS, needs_only_constants=is_constant)
        self.tensors[node.op.outputs[0]] = NamedValue(self.new(ALWAYS), ALWAYS, item)

    def take(self, node: Node) -> bool:
        """Add the items and the values of a node; False if one that it needs has none yet."""
        if node.kind == "Merge" and any(t.op.type == "NextIteration" for t in node.sources):
            self._take_head(node)
            return True
        return super().take(node)

    def _take_head(self, node: Node) -> None:
        """Add the Merge at which an iteration begins for one variable of the loop."""
        first, following = (tensor.op for tensor in node.sources[:2])
        enter = self.by_op.get(first)
        require_straight(len(node.sources) == 2 and not node.waits and not node.edges[1])
        require_straight(enter in self.enters and not first.attrs["is_constant"])
        require_straight(following.type == "NextIteration" and not any(node.readers))
        self.heads.append(node)
        number = self.tensors[node.sources[0]].number
        item = self.items[node] = Item(node, ALWAYS)
        self.tensors[node.op.outputs[0]] = NamedValue(number, ALWAYS, item)

    def _in_lists(self, nodes: Sequence[Node]) -> StraightLoop:
        require_straight(len(self.loop_conds) == 1 and self.loop_conds <= self.switches.keys())
        (goes_on,) = self.loop_conds
        into, out = frozenset({(goes_on, True)}), frozenset({(goes_on, False)})
        lists = StepLists(self.order, self.bases, self.same, self.switches)
        for index in range(len(self.enters)):
            lists.register(index + 1)
        runs_when_dead = any(
            item.needs_only_constants and (item.function or item.loop) for item in self.order
        )
        drafts = [lists.list_of(ALWAYS, into | out), lists.list_of(into), lists.list_of(out)]
        require_straight(not lists.left)
        moves = []
        for node in self.heads:
            last = self.tensors.get(node.sources[1])
            if last is None or last.path != into:
                raise NotStraightError
            target = self.tensors[node.op.outputs[0]].number
            moves.append((lists.register(last.number), lists.register(target)))
        exits = []
        for node in nodes:
            if node.kind == "Exit":
                value = self.tensors[node.op.outputs[0]]
                require_straight(value.path == out)
                exits.append(lists.register(value.number))
        constants = {lists.register(number): value for number, value in self.constants.items()}
        condition_register = lists.register(goes_on)
        lasting = {*range(len(self.enters) + 1), *constants, *exits, condition_register}
        lasting.update(register for move in moves for register in move)
        enters = range(1, len(self.enters) + 1)
        sources, targets = ({move[end] for move in moves} for end in (0, 1))
        condition, body, after = steps_of(drafts, lasting, [(), targets - sources])
        template: list[Value] = [None] * len(lists.registers)
        for register, value in constants.items():
            template[register] = value
        switch = self.switches[goes_on]
        return StraightLoop(
            tuple(enter.op for enter in self.enters),
            template,
            condition,
            condition_register,
            (switch.op, switch.device.name),
            body,
            after,
            tuple(moves),
            tuple(sorted(sources - constants.keys() - set(enters))),
            tuple(exits),
            runs_when_dead,
            self._depth(drafts),
            2 + max(map(blocks_of, drafts)),
        )

    def _depth(self, lists: Sequence[Sequence[Draft]]) -> int:
        """How many loops there are in one another; raises NotStraightError if they are too many."""
        within = [loop.depth for drafts in lists for loop in loops_of(drafts)]
        depth = 1 + max(within, default=0)
        require_straight(depth <= _MOST_LOOPS)
        return depth
