"""Graphs as a converting engine meets them: one dtype of values, constants where it needs them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.conformance.generators.single import SingleGraph, single_graph
from sessrun.spec import tensors
from sessrun.spec.cases.forms import Expect, Step
from sessrun.spec.cases.model import Case, clauses_of
from sessrun.spec.cases.objects import Value
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.forms import Json, JsonObject
from sessrun.spec.inference import DECLARATION, Cell, contract_in
from sessrun.spec.operations import Operation
from sessrun.spec.rules.domains import Arguments, arguments
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["OPEN", "Program", "cell_graph", "turn"]

#: The first step of every case: a graph of what is declared is loaded.
OPEN: Final[Step] = {"do": "open", "session": "s", "graph": "g", "clause": DECLARATION}
#: The dtype of indices, sizes and permutations.
_INDEX: Final = "int32"


def turn(id_: str) -> int:
    """The number at the end of a generated case's id; it chooses a row of a table."""
    return int(id_.rpartition(":")[2])


def cell_graph(cell: Cell, draw: random.Random, *, fed: bool = False) -> SingleGraph:
    """A graph of one operation in the dtypes of a cell.

    Its first input is a placeholder of known shape, and most others; the structural ones are
    constants, or fed as placeholders of known shape where `fed`.
    """
    operation = cell.operation()
    given = arguments(operation, draw)
    outputs = sum(arg.count(given.attrs) for arg in operation.outputs)
    if operation.name in _NORMALIZATIONS:
        given, outputs = _frozen(given, draw), 1
    kinds = _kinds(operation, cell.row.constants, "shape" if fed else "constant")
    single = single_graph(operation, given, draw, outputs, kinds)
    return replace(single, contract=_contract(single.contract, cell.dtypes[0], outputs))


def _contract(contract: str | list[str], dtype: str, outputs: int) -> str | list[str]:
    """The contract of the profile in a dtype, or that of each output."""
    if isinstance(contract, str):
        return contract_in(contract, dtype)
    return [contract_in(part, dtype) for part in contract[:outputs]]


def _kinds(
    operation: Operation, constants: frozenset[str], structure: str
) -> dict[str, tuple[str, ...]]:
    """How each input is given; structural inputs are given as `structure` says."""
    values = [arg.name for arg in operation.inputs if arg.name not in constants]
    kinds: dict[str, tuple[str, ...]] = {}
    kinds.update(dict.fromkeys(constants, (structure,)))
    kinds.update(dict.fromkeys(values, ("shape", "shape", "constant")))
    kinds.update(dict.fromkeys(values[:1], ("shape",)))
    return kinds


#: Normalizations of batches: when they are not trained, the first output alone is defined.
_NORMALIZATIONS: Final = frozenset({"FusedBatchNorm", "FusedBatchNormV3"})


def _frozen(given: Arguments, draw: random.Random) -> Arguments:
    """The arguments of a normalization that is not trained: its means and variances are given."""
    scale = given.inputs["scale"]
    inputs = dict(given.inputs)
    for name, least in (("mean", -2.0), ("variance", 0.1)):
        numbers = [draw.uniform(least, 2.0) for _ in range(scale.size)]
        inputs[name] = np.array(numbers, dtype=scale.dtype)
    return Arguments(inputs, {**given.attrs, "is_training": False})


def _attrs(operation: Operation, dtype: str, given: JsonObject) -> dict[str, Json]:
    """The attributes of a node: `T` the dtype of values, other dtypes int32, the rest default."""
    attrs: dict[str, Json] = {}
    for attr in operation.attrs:
        if attr.type == "type":
            attrs[attr.name] = dtype if attr.name == "T" else _INDEX
        elif attr.has_default:
            attrs[attr.name] = attr.default
    return attrs | dict(given)


class Program:
    """A graph that is written operation by operation, with what is fed to it, and its runs.

    Args:
      dtype: the dtype of its values.

    Attributes:
      library: the functions of the graph, as FunctionDefs.

    """

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        self.writer = GraphWriter()
        self.library: list[JsonObject] = []
        self._steps: list[Step] = [OPEN.copy()]

    def placeholder(self, shape: Sequence[int | None] | None, dtype: str = "") -> str:
        """A placeholder of a shape, wholly or partly unknown; its name."""
        return self.writer.placeholder(dtype or self.dtype, shape)

    def constant(self, values: Value, dtype: str = "") -> str:
        """A constant; its name."""
        numpy = BY_NAME[dtype or self.dtype].numpy
        return self.writer.constant(np.asarray(values).astype(numpy))

    def index(self, values: Value) -> str:
        """A constant of axes, shapes or the like; its name."""
        return self.constant(values, _INDEX)

    def apply(self, op: str, *inputs: str, **attrs: Json) -> str:
        """A node of a declared operation; its name."""
        operation = OPERATIONS[op]
        return self.writer.operation(operation, inputs, _attrs(operation, self.dtype, attrs))

    def run(
        self,
        fetches: Sequence[str],
        feeds: Mapping[str, np.ndarray],
        expect: Expect,
        clause: str,
    ) -> None:
        """Add a run: node names are fetched and fed by their first output."""
        self._steps.append(
            {
                "do": "run",
                "session": "s",
                "fetches": [_tensor(name) for name in fetches],
                "feeds": {_tensor(name): tensors.encode(value) for name, value in feeds.items()},
                "expect": expect.copy(),
                "clause": clause,
            }
        )

    def case(self, id_: str, title: str) -> Case:
        """The case of the runs, which tests the clauses that its steps name."""
        steps: tuple[Step, ...] = (*self._steps, {"do": "close", "session": "s"})
        graph = self.writer.graph()
        if self.library:
            graph["library"] = {"function": self.library}
        return Case(id_, title, "engine", clauses_of(steps), steps, {"g": graph})


def _tensor(name: str) -> str:
    return name if ":" in name else f"{name}:0"
