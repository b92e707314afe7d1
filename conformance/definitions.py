"""The answers of definitions: an engine whose operations are `sessrun.spec.definitions`.

It runs graphs of placeholders, constants and operations that have an executable definition, one
node after the other. Where a case says `by: definition`, its values must be those of this engine,
not those of a runtime such as the reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from google.protobuf import json_format

from sessrun.spec.cases import engine
from sessrun.spec.cases.forms import OracleForm
from sessrun.spec.cases.model import Case, Observation, walk
from sessrun.spec.cases.outcomes import Done, Fetched, Opened, Outcome, Unsupported
from sessrun.spec.definitions import DEFINITIONS, defined_outputs
from sessrun.spec.forms import JsonObject
from sessrun.spec.node_attributes import attributes_of, inputs_by_name
from sessrun.spec.operations import Operation
from sessrun.spec.proto import GraphDef, NodeDef
from sessrun.spec.rules.domains import Arguments
from sessrun.spec.tables.ops import OPERATIONS
from sessrun.spec.tensor_protos import array_of

__all__ = ["BY_DEFINITION", "defined_observations", "rests_on_definitions"]

#: What an expectation says beside its contract if a definition, not the oracle, gives the value.
BY_DEFINITION: Final[OracleForm] = {"by": "definition"}


def rests_on_definitions(case: Case) -> bool:
    """Whether a step of a case must give the value of a definition.

    Such a case opens sessions, runs and closes them, and does nothing else: definitions are asked
    in this process, where no step of a replay may call a check or write a file.
    """
    steps = [step for _, step in walk(case.steps)]
    return (
        case.surface == "engine"
        and all(step["do"] in {"open", "run", "close"} for step in steps)
        and any(
            step.get("expect", {}).get("oracle", {}).get("by") == "definition" for step in steps
        )
    )


def defined_observations(case: Case) -> list[Observation] | None:
    """The observations of an engine case by definitions; None where a node has no definition.

    They are None, too, where arguments are not valid, as may be in a case that was made smaller:
    no definition fixes the values then.
    """
    seen = engine.interpret(case, _Definitions())
    return None if any(entry["outcome"] == "unsupported" for entry in seen) else seen


class _UndefinedError(Exception):
    """A value that no definition gives."""


class _Definitions:
    """The engine surface of the definitions; what no definition fixes is `Unsupported`."""

    def __init__(self) -> None:
        self._graphs: list[dict[str, NodeDef]] = []

    def open(self, graph: JsonObject, config: JsonObject) -> Outcome:
        """Read the graph; a session is its number."""
        del config
        try:
            nodes = json_format.ParseDict(dict(graph), GraphDef()).node
        except json_format.ParseError:
            return _unsupported()
        self._graphs.append({node.name: node for node in nodes})
        return Opened(str(len(self._graphs) - 1))

    def run(
        self,
        session: str,
        fetches: Sequence[str],
        feeds: Mapping[str, np.ndarray],
        options: JsonObject,
    ) -> Outcome:
        """The values of the fetches."""
        del options
        values = _Values(self._graphs[int(session)], feeds)
        try:
            return Fetched(tuple(values.tensor(fetch) for fetch in fetches))
        except Exception:  # noqa: BLE001 - arguments of a case made smaller may be anything
            return _unsupported()

    def close(self, session: str) -> Outcome:
        """Close the session, which holds nothing."""
        del session
        return Done()

    def extend(self, session: str, graph: JsonObject) -> Outcome:
        """Not defined."""
        del session, graph
        return _unsupported()

    def setup(self, session: str, fetches: Sequence[str], feeds: Sequence[str]) -> Outcome:
        """Not defined."""
        del session, fetches, feeds
        return _unsupported()

    def partial(
        self, session: str, handle: str, fetches: Sequence[str], feeds: Mapping[str, np.ndarray]
    ) -> Outcome:
        """Not defined."""
        del session, handle, fetches, feeds
        return _unsupported()

    def callable(self, session: str, fetches: Sequence[str], feeds: Sequence[str]) -> Outcome:
        """Not defined."""
        del session, fetches, feeds
        return _unsupported()

    def call(self, session: str, handle: str, values: Sequence[np.ndarray]) -> Outcome:
        """Not defined."""
        del session, handle, values
        return _unsupported()

    def devices(self, session: str) -> Outcome:
        """Not defined."""
        del session
        return _unsupported()

    def reset(self, containers: Sequence[str]) -> Outcome:
        """Not defined."""
        del containers
        return _unsupported()


def _unsupported() -> Unsupported:
    return Unsupported("definitions", "no executable definition says it")


class _Values:
    """The values of a graph's tensors in one run."""

    def __init__(self, nodes: Mapping[str, NodeDef], feeds: Mapping[str, np.ndarray]) -> None:
        self._nodes = nodes
        self._feeds = feeds
        self._known: dict[str, list[np.ndarray]] = {}

    def tensor(self, name: str) -> np.ndarray:
        """The value of a tensor, by its name."""
        node, _, index = name.partition(":")
        fed = self._feeds.get(f"{node}:{index or 0}")
        if fed is not None:
            return np.asarray(fed)
        if node not in self._known:
            self._known[node] = self._outputs(self._nodes[node])
        return self._known[node][int(index or 0)]

    def _outputs(self, node: NodeDef) -> list[np.ndarray]:
        if node.op == "Const":
            return [array_of(node.attr["value"].tensor)]
        if node.op not in DEFINITIONS:
            raise _UndefinedError(node.op)
        return defined_outputs(OPERATIONS[node.op], self._arguments(OPERATIONS[node.op], node))

    def _arguments(self, operation: Operation, node: NodeDef) -> Arguments:
        attrs = attributes_of(node, operation)
        given = [self.tensor(name) for name in node.input if not name.startswith("^")]
        return Arguments(inputs_by_name(operation, attrs, given), attrs)
