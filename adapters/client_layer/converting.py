"""The common part of engines that convert a graph: no state, a table of operations."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from google.protobuf.json_format import MessageToDict

from sessrun.adapters.backend import Description
from sessrun.adapters.client_layer.compiled import CompiledSession, Program
from sessrun.adapters.client_layer.engine import EngineError, EngineSession, NotOfferedError
from sessrun.adapters.client_layer.graph import Part, controls_of, inputs_of
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.inference import Demand, Offer, demand_of_graphs, structural_inputs
from sessrun.spec.proto import ConfigProto, GraphDef

__all__ = ["ConvertingEngine", "TableEngine", "cause_line"]

_DEVICE: Final = "/job:localhost/replica:0/task:0/device:CPU:0"
#: Fields of a configuration that do not change the result of a run.
_HARMLESS: Final = frozenset(
    {
        "allow_soft_placement",
        "graph_options",
        "inter_op_parallelism_threads",
        "intra_op_parallelism_threads",
        "log_device_placement",
    }
)


#: Operations that can be left out where only a control input depends on them.
_WITHOUT_EFFECT: Final = frozenset({"Const", "Identity", "NoOp", "Placeholder", "Switch"})
#: What stands after the cause in a message of OpenVINO's frontend, and in one of TensorFlow.
_AFTERWORD: Final = re.compile(r"^(?:Summary:|\s*\[\[|Stack trace for op)", re.MULTILINE)


class ConvertingEngine:
    """An engine for the CPU whose sessions convert the part of the graph that a run needs.

    Subclasses have `compile`.

    Args:
      name: its name.
      version: its version.
      operations: what it declares: op types, each with the dtypes of its values; None for all.
      capabilities: what else it declares.
      details: anything else worth printing.

    """

    def __init__(
        self,
        name: str,
        version: str,
        operations: Mapping[str, Collection[str]] | None,
        *,
        capabilities: Collection[str] = (),
        details: Mapping[str, str] | None = None,
    ) -> None:
        self._offer = Offer(capabilities, operations)
        self._description = Description(
            name, version, frozenset(capabilities), (_DEVICE,), details or {}, operations
        )

    def describe(self) -> Description:
        """Who this is."""
        return self._description

    def open(self, graph: GraphDef, config: ConfigProto) -> EngineSession:
        """A session whose programs are compiled when they are run."""
        strange = {field.name for field, _ in config.ListFields()} - _HARMLESS
        if strange:
            raise NotOfferedError("config", min(strange))
        return CompiledSession(graph, self)

    def reset(self, containers: Sequence[str]) -> None:
        """Decline: there is no state."""
        raise NotOfferedError("reset", ", ".join(containers))

    def compile(self, part: Part, shapes: Sequence[Sequence[int]]) -> Program:
        """The program of a part; see `Compiler`."""
        raise NotImplementedError

    def decline_fed_structure(self, part: Part) -> None:
        """Decline axes, shapes and the like that are fed, if that is not declared.

        What is computed from constants and shapes is left to the converter.
        """
        if "fed_structure" in self._offer.capabilities:
            return
        fed = {tensor.operation for tensor in part.feeds}
        for node in part.nodes:
            if not fed.isdisjoint(structural_inputs(node.op, node.input)):
                raise NotOfferedError("fed_structure", node.name)


class TableEngine(ConvertingEngine):
    """One that declares a table which was measured, and converts nothing beyond it.

    Subclasses have `convert`.

    Args:
      name: its name.
      version: its version.
      table: a TOML file of the operations that it declares, each with the dtypes of its values;
        None while that is measured: `convert` is asked for everything.
      dtypes: the dtypes that a tensor may have, those of indices and results among them.
      capabilities: what else it declares.
      details: anything else worth printing.

    """

    def __init__(
        self,
        name: str,
        version: str,
        table: Path | None,
        dtypes: Collection[str],
        *,
        capabilities: Collection[str] = (),
        details: Mapping[str, str] | None = None,
    ) -> None:
        text = None if table is None else table.read_text(encoding="utf-8")
        operations = None if text is None else tomllib.loads(text)
        super().__init__(name, version, operations, capabilities=capabilities, details=details)
        self._dtypes = frozenset(dtypes)

    def compile(self, part: Part, shapes: Sequence[Sequence[int]]) -> Program:
        """The program of a part that is offered, whose values are checked for their dtypes.

        Raises:
          EngineError, NotOfferedError: see `Compiler`.

        """
        self._check(part)
        program = self.convert(part, shapes)
        wanted = [np.dtype(BY_NAME[part.dtypes[tensor]].numpy) for tensor in part.fetches]

        def run(values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
            fetched = program(values)
            for value, dtype, tensor in zip(fetched, wanted, part.fetches, strict=True):
                if value.dtype != dtype:
                    raise EngineError(13, f"{tensor} came as {value.dtype}, not as {dtype}")
            return fetched

        return run

    def convert(self, part: Part, shapes: Sequence[Sequence[int]]) -> Program:
        """The program of a part; see `Compiler`."""
        raise NotImplementedError

    def _check(self, part: Part) -> None:
        """Decline parts that the conversion would change, and operations that are not declared."""
        types = {node.name: node.op for node in part.nodes}
        effects = part.effects - _branch_conditions(part)
        lost = [name for name in effects if types.get(name) not in _WITHOUT_EFFECT]
        if lost:
            raise NotOfferedError("control_inputs", min(lost))
        lacks = self._offer.lacks(_demand_of(part))
        if lacks:
            raise NotOfferedError("op", lacks)
        strange = set(part.dtypes.values()) - self._dtypes
        if strange:
            raise NotOfferedError("dtype", min(strange))


def _branch_conditions(part: Part) -> set[str]:
    """Names of what says whether a branch's constants are alive, and of what that is computed of.

    A conversion keeps these: the control input of a constant tells which branch it is in.
    """
    nodes = {node.name: node for node in part.nodes}
    left = [name for node in part.nodes if node.op == "Const" for name in controls_of(node)]
    conditions: set[str] = set()
    while left:
        name = left.pop()
        if name in nodes and name not in conditions:
            conditions.add(name)
            left += [tensor.operation for tensor in inputs_of(nodes[name])]
    return conditions


def _demand_of(part: Part) -> Demand:
    """What a part needs. Of a constant it is enough to know that it is one."""
    graph = GraphDef(library=part.source.library)
    for node in part.nodes:
        if node.op == "Const":
            graph.node.add(name=node.name, op=node.op)
        else:
            graph.node.add().CopyFrom(node)
    return demand_of_graphs([MessageToDict(graph, use_integers_for_enums=True)])


def cause_line(error: Exception) -> str:
    """The line of its message that says what was wrong: MLIR's first error, or the last line.

    What OpenVINO sums up, and where TensorFlow says it was, comes after that.
    """
    text = _AFTERWORD.split(str(error))[0]
    lines = re.findall(r": error: (.+)", text) or text.strip().splitlines()[-1:]
    return lines[0].strip()[:200] if lines else type(error).__name__
