"""Histories of variables: runs of operations on them in an order that control inputs fix.

Each run has nodes of its own. A reference variable's value that is fetched is one that nothing
in the run changes afterwards, since an engine may give the memory itself; a run that must fail
does nothing else.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import (
    CPU,
    GraphWriter,
    dtype_attr,
    shape_attr,
    text_attr,
)
from sessrun.conformance.subjects.variables.arrays import DTYPES
from sessrun.spec import tensors
from sessrun.spec.cases.forms import Expect, Step
from sessrun.spec.forms import Json

__all__ = ["Done", "Held", "History"]

_SHAPES: Final[tuple[tuple[int, ...], ...]] = ((), (), (3,), (4,), (2, 3), (3, 1), (2, 2, 2))
_EMPTY: Final[tuple[int, ...]] = (0, 2)


@dataclass(frozen=True, slots=True)
class Held:
    """A variable.

    Attributes:
      name: its node.
      dtype: its dtype's spec name.
      shape: its shape.
      resource: whether it is a resource variable; else a reference variable.
      on_cpu: whether it must be on a CPU, where an index out of range is an error.

    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    resource: bool
    on_cpu: bool

    @property
    def unset(self) -> list[int]:
        """The codes with which it is updated while it has no value."""
        return [9, 5] if self.resource else [9]


@dataclass(frozen=True, slots=True)
class Done:
    """An operation of a run: its node, and the value of its first output if it has one.

    Attributes:
      node: the node.
      value: what it gives, or None.
      shows: the reference variable whose memory it may give, or None.
      changes: the variable that it changes, or None.

    """

    node: str
    value: np.ndarray | None = None
    shows: Held | None = None
    changes: Held | None = None


@dataclass(slots=True)
class History:
    """The graph and the steps so far, and what the variables hold.

    Attributes:
      draw: the source of chance.
      variables: the variables.
      held: the values of those that have one.
      steps: the steps of the case.
      feeds: what the run that is being written is fed.
      before: the node that the next one waits for.

    """

    draw: random.Random
    writer: GraphWriter = field(default_factory=GraphWriter)
    variables: list[Held] = field(default_factory=list)
    held: dict[Held, np.ndarray] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    feeds: dict[str, np.ndarray] = field(default_factory=dict)
    before: str | None = None

    def make_variables(self) -> None:
        """Write one to three variables, some of one dtype and shape."""
        draw = self.draw
        for number in range(draw.randint(1, 3)):
            resource = draw.random() < 0.6
            shape = _EMPTY if resource and draw.random() < 0.05 else draw.choice(_SHAPES)
            dtype = draw.choice(DTYPES)
            if self.variables and draw.random() < 0.5:
                dtype, shape = self.variables[0].dtype, self.variables[0].shape
                resource = resource or 0 in shape
            variable = Held(f"v{number}", dtype, shape, resource, on_cpu=draw.random() < 0.5)
            attrs = {"dtype": dtype_attr(dtype), "shape": shape_attr(shape)}
            attrs["shared_name"] = text_attr(f"shared{number}")
            op = "VarHandleOp" if resource else "VariableV2"
            self.writer.node(op, (), attrs, variable.name)
            if variable.on_cpu:
                self.writer.put_on(variable.name, CPU)
            self.variables.append(variable)

    # -- nodes

    def node(self, op: str, inputs: Sequence[str], attrs: Mapping[str, Json]) -> str:
        """Write a node that waits for the one before it in the run."""
        waits = [] if self.before is None else [f"^{self.before}"]
        name = self.writer.node(op, [*inputs, *waits], attrs)
        self.before = name
        return name

    def given(self, value: np.ndarray, *, open_shape: bool = False) -> str:
        """A constant, or a placeholder that is fed; `open_shape`: of unknown shape."""
        if not open_shape and self.draw.random() < 0.5:
            return self.writer.constant(value)
        shape = None if open_shape or self.draw.random() < 0.5 else value.shape
        dtype = tensors.encode(value)["dtype"]
        name = self.writer.placeholder(dtype, shape, f"p{len(self.writer.graph()['node'])}")
        self.feeds[f"{name}:0"] = value
        return name

    # -- steps

    def finish(self, done: Sequence[Done]) -> None:
        """Write the run of these operations: the last is fetched, and others' values."""
        draw, fetched = self.draw, []
        for position, one in enumerate(done):
            later = [other.changes for other in done[position + 1 :]]
            shown = one.value is not None and (one.shows is None or one.shows not in later)
            if position == len(done) - 1 or (shown and draw.random() < 0.6):
                by_value = shown and (one.changes is None or draw.random() < 0.7)
                fetched.append((f"{one.node}:0", one.value) if by_value else (one.node, None))
        draw.shuffle(fetched)
        values = [
            None if value is None else {"$array": tensors.encode(value)} for _, value in fetched
        ]
        self._step([name for name, _ in fetched], {"values": values})

    def fail(self, node: str, codes: Sequence[int]) -> None:
        """Write the run of a node that must fail."""
        self._step([node], {"error": {"codes": list(codes)}})

    def _step(self, fetches: list[str], expect: Expect) -> None:
        step: Step = {"do": "run", "session": "s", "fetches": fetches, "expect": expect}
        if self.feeds:
            step["feeds"] = {name: tensors.encode(value) for name, value in self.feeds.items()}
        self.steps.append(step)
        self.feeds, self.before = {}, None
