"""Graphs of variables with every operation on them.

The numbers stay small integers, which every dtype here adds exactly.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr, shape_attr, text_attr

__all__ = ["READS", "UPDATES", "Cell", "write_cells"]

#: What a run may do to a cell that gives its value, or changes it.
READS: Final = ("read", "after")
UPDATES: Final = ("init", "set", "add", "sub")
_DTYPES: Final = ("float32", "float64", "int32", "int64")
_SHAPES: Final[tuple[tuple[int, ...], ...]] = ((), (2,), (2, 3))


@dataclass(frozen=True, slots=True)
class Cell:
    """A variable and the operations on it, named `NAME/read`, `NAME/set` and so on.

    `read` gives the value; `after` what it is after an `add` that is its control input; `init`
    assigns the initial value; `set`, `add` and `sub` take the placeholder `NAME/p`.

    Attributes:
      name: its node.
      initial: its initial value.
      resource: whether it is a resource variable; else a reference variable.

    """

    name: str
    initial: np.ndarray
    resource: bool

    def node(self, action: str) -> str:
        """The node that does this."""
        return f"{self.name}/{action}"

    def fetch(self, action: str, draw: random.Random) -> str:
        """What to fetch so that it is done: the value, where there is one."""
        gives = action in READS or not self.resource
        by_value = gives and (action in READS or draw.random() < 0.6)
        return self.node(action) + (":0" if by_value else "")

    def feeds(self, action: str) -> bool:
        """Whether it needs the placeholder."""
        return action in {"set", "add", "sub", "after"}

    def value(self, draw: random.Random) -> np.ndarray:
        """A value to feed."""
        numbers = [draw.randint(-9, 9) for _ in range(self.initial.size)]
        return np.array(numbers, self.initial.dtype).reshape(self.initial.shape)


def write_cells(draw: random.Random, writer: GraphWriter) -> list[Cell]:
    """Write one to three variables with all their operations, and a node `init` for all."""
    cells = []
    for number in range(draw.randint(1, 3)):
        shape = draw.choice(_SHAPES)
        zeros = np.zeros(shape, draw.choice(_DTYPES))
        resource = draw.random() < 0.5
        cell = Cell(f"v{number}", Cell("", zeros, resource).value(draw), resource)
        (_write_resource if resource else _write_reference)(cell, writer)
        cells.append(cell)
    writer.node("NoOp", [f"^{cell.node('init')}" for cell in cells], name="init")
    return cells


def _write_reference(cell: Cell, writer: GraphWriter) -> None:
    name, kind = cell.name, {"T": dtype_attr(cell.initial.dtype.name)}
    attrs = {"dtype": kind["T"], "shape": shape_attr(cell.initial.shape)}
    writer.node("VariableV2", (), attrs, name)
    first, fed = _sources(cell, writer)
    for action, op, value in _writes("Assign", "AssignAdd", "AssignSub", first, fed):
        writer.node(op, [name, value], kind, cell.node(action))
    writer.node("Identity", [name], kind, cell.node("read"))
    writer.node("Identity", [name, f"^{cell.node('add')}"], kind, cell.node("after"))


def _write_resource(cell: Cell, writer: GraphWriter) -> None:
    name, kind = cell.name, {"dtype": dtype_attr(cell.initial.dtype.name)}
    attrs = {**kind, "shape": shape_attr(cell.initial.shape)}
    writer.node("VarHandleOp", (), attrs | {"shared_name": text_attr(name)}, name)
    first, fed = _sources(cell, writer)
    ops = ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")
    for action, op, value in _writes(*ops, first, fed):
        writer.node(op, [name, value], kind, cell.node(action))
    writer.node("ReadVariableOp", [name], kind, cell.node("read"))
    writer.node("ReadVariableOp", [name, f"^{cell.node('add')}"], kind, cell.node("after"))


def _writes(
    assign: str, add: str, sub: str, first: str, fed: str
) -> Sequence[tuple[str, str, str]]:
    return (("init", assign, first), ("set", assign, fed), ("add", add, fed), ("sub", sub, fed))


def _sources(cell: Cell, writer: GraphWriter) -> tuple[str, str]:
    """The initial value and the placeholder."""
    shape = cell.initial.shape
    first = writer.constant(cell.initial, cell.node("initial_value"))
    return first, writer.placeholder(cell.initial.dtype.name, shape, cell.node("p"))
