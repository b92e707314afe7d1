"""Graphs of Switch and Merge, and where their values are dead: drawn with a model.

Which of two outputs of a Switch is alive depends on fed conditions. What takes a dead value is
dead, but a Merge with one value that is alive, and a ControlTrigger. A model
says for each setting of the conditions which values are alive, and what they are.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from typing import Final

from sessrun.conformance.generators.graphdef import GraphWriter, shape_attr, text_attr
from sessrun.conformance.subjects.control_flow.site import INT, scalar
from sessrun.spec.forms import Json

__all__ = ["CONDITIONS", "Deadness", "Setting", "Tensor", "settings"]

#: The fed conditions.
CONDITIONS: Final = ("p0", "p1")
#: The truth of each condition.
Setting = tuple[bool, ...]
_SETTINGS: Final[tuple[Setting, ...]] = tuple(
    itertools.product((False, True), repeat=len(CONDITIONS))
)
_Values = dict[Setting, int | None]


def settings() -> tuple[Setting, ...]:
    """All combinations of truth values of the conditions."""
    return _SETTINGS


@dataclass(frozen=True, slots=True)
class Tensor:
    """An int32 tensor: its value for each setting, None where it is dead, and its op type."""

    name: str
    values: _Values
    of: str

    def is_alive(self, setting: Setting) -> bool:
        """Whether the tensor has a value under a setting."""
        return self.values[setting] is not None


class Deadness:
    """A graph that grows by Switches, Merges, sums, and updates that wait for what may be dead.

    Attributes:
      fed: what the placeholder `x` is fed.
      tensors: the int32 tensors so far.
      updates: operations that add one to the variable `count`, and when they are executed.
      has_triggers: whether one of them stands behind a ControlTrigger.

    """

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._writer = GraphWriter()
        attrs = {"dtype": INT, "shape": shape_attr(()), "shared_name": text_attr("count")}
        self._writer.node("VarHandleOp", (), attrs, "count")
        zero = self._writer.constant(scalar(0))
        self._writer.node("AssignVariableOp", ("count", zero), {"dtype": INT}, "init")
        self._writer.node("ReadVariableOp", ("count",), {"dtype": INT}, "read")
        for name in CONDITIONS:
            self._writer.placeholder("bool", (), name)
        self.fed = draw.randint(2, 9)
        name = self._writer.placeholder("int32", (), "x")
        self.tensors = [Tensor(name, dict.fromkeys(_SETTINGS, self.fed), "Placeholder")]
        self.updates: list[tuple[str, frozenset[Setting]]] = []
        self.has_triggers = False

    def graph(self) -> dict[str, Json]:
        """The GraphDef."""
        return self._writer.graph()

    def grow(self) -> None:
        """Add one more operation."""
        ways = (
            self._switch,
            self._switch,
            self._sum,
            self._merge,
            self._merge,
            self._constant,
            self._update,
            self._trigger,
        )
        self._draw.choice(ways)()

    def _pick(self) -> Tensor:
        return self._draw.choice(self.tensors)

    def _add(self, name: str, values: _Values, op: str) -> None:
        self.tensors.append(Tensor(name, values, op))

    def _switch(self) -> None:
        data, index = self._pick(), self._draw.randrange(len(CONDITIONS))
        node = self._writer.node("Switch", (data.name, CONDITIONS[index]), {"T": INT})
        for output, taken in (("", False), (":1", True)):
            values = {s: data.values[s] if s[index] is taken else None for s in _SETTINGS}
            self._add(node + output, values, "Switch")

    def _sum(self) -> None:
        one, two = self._pick(), self._pick()
        node = self._writer.node("AddV2", (one.name, two.name), {"T": INT})
        values: _Values = {}
        for setting in _SETTINGS:
            left, right = one.values[setting], two.values[setting]
            values[setting] = None if left is None or right is None else (left + right) % 2**20
        modulus = self._writer.constant(scalar(2**20))
        node = self._writer.node("FloorMod", (node, modulus), {"T": INT})
        self._add(node, values, "AddV2")

    def _merge(self) -> None:
        """Write a Merge of tensors of which at most one is alive under any setting."""
        inputs = [self._pick()]
        for other in self._draw.sample(self.tensors, len(self.tensors)):
            apart = all(
                not (one.is_alive(setting) and other.is_alive(setting))
                for one in inputs
                for setting in _SETTINGS
            )
            if apart and len(inputs) < 3:
                inputs.append(other)
        self._draw.shuffle(inputs)
        attrs = {"T": INT, "N": {"i": str(len(inputs))}}
        node = self._writer.node("Merge", [one.name for one in inputs], attrs)
        values: _Values = {}
        places: _Values = {}
        for setting in _SETTINGS:
            alive = [index for index, one in enumerate(inputs) if one.is_alive(setting)]
            places[setting] = alive[0] if alive else None
            values[setting] = inputs[alive[0]].values[setting] if alive else None
        self._add(node, values, "Merge")
        self._add(f"{node}:1", places, "Merge:1")

    def _constant(self) -> None:
        """Write a constant with a control input that may be dead."""
        waited, number = self._pick(), self._draw.randint(2, 9)
        if self._is_switch(waited):
            return  # who waits for a Switch waits for none of its sides
        node = self._writer.constant(scalar(number))
        self._writer.wait(node, waited.name.partition(":")[0])
        values = {s: number if waited.is_alive(s) else None for s in _SETTINGS}
        self._add(node, values, "waiting")

    @staticmethod
    def _is_switch(tensor: Tensor) -> bool:
        return tensor.of == "Switch"

    def _update(self) -> None:
        waited = [one for one in (self._pick(), self._pick()) if not self._is_switch(one)]
        alive = frozenset(s for s in _SETTINGS if all(one.is_alive(s) for one in waited))
        self._updated([one.name for one in waited], alive)

    def _trigger(self) -> None:
        """Write an update that waits for a ControlTrigger, which is executed for dead inputs."""
        waited = self._pick()
        trigger = self._writer.node("ControlTrigger", (f"^{waited.name.partition(':')[0]}",))
        self._updated([trigger], frozenset(_SETTINGS))
        self.has_triggers = True

    def _updated(self, waited: list[str], alive: frozenset[Setting]) -> None:
        one = self._writer.constant(scalar(1))
        waits = dict.fromkeys(f"^{name.partition(':')[0]}" for name in waited)
        node = self._writer.node("AssignAddVariableOp", ("count", one, *waits), {"dtype": INT})
        self.updates.append((node, alive))
