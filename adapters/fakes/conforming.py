"""A minimal stateless engine of its own on numpy: five operations, no namespace, no vice."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from google.protobuf import json_format

from sessrun.adapters.backend import Description, unsupported
from sessrun.adapters.errors import AdapterError
from sessrun.adapters.minimal import MinimalEngine
from sessrun.spec.cases.outcomes import Call, Done, Failure, Fetched, Opened, Outcome
from sessrun.spec.errors import BY_CODE
from sessrun.spec.forms import JsonObject
from sessrun.spec.proto import GraphDef, NodeDef
from sessrun.spec.tensor_protos import array_of
from sessrun.spec.tensors import TensorError

__all__ = ["TinyEngine", "backend"]

_DEVICE: Final = "/job:localhost/replica:0/task:0/device:CPU:0"
_OPERATIONS: Final[Mapping[str, Callable[..., np.ndarray]]] = {
    "Identity": lambda x: x,
    "Add": np.add,
    "AddV2": np.add,
    "Mul": np.multiply,
}


class _Refused(Exception):  # noqa: N818 - an outcome on its way out
    """A run fails with a code, perhaps at a node."""

    def __init__(self, code: int, message: str, node: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.node = node


def backend(argument: str | None = None) -> TinyEngine:
    """The conforming fake.

    Raises:
      AdapterError: an argument is given; it takes none.

    """
    if argument is not None:
        raise AdapterError(f"this fake takes no argument, got {argument!r}")
    return TinyEngine()


class TinyEngine(MinimalEngine):
    """Const, Placeholder, Identity, Add and Mul, fetched and fed by name."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._graphs: dict[str, dict[str, NodeDef]] = {}
        self._closed: set[str] = set()

    def describe(self) -> Description:
        """Who this is."""
        return Description("conforming fake", "1", frozenset({"concurrent", "devices"}), (_DEVICE,))

    def open(self, graph: JsonObject, config: JsonObject) -> Outcome:
        """Keep the graph; Unsupported if an operation is unknown or anything is configured."""
        try:
            nodes = json_format.ParseDict(dict(graph), GraphDef()).node
        except json_format.ParseError as error:
            return _failure("open", _Refused(3, str(error)))
        names = {node.name for node in nodes}
        for node in nodes:
            if node.op not in {"Const", "Placeholder", *_OPERATIONS}:
                return unsupported("op", node.op)
            if not names.issuperset(_operation(source) for source in node.input):
                return _failure("open", _Refused(3, f"{node.name} has an unknown input"))
        if config:
            return unsupported("config")
        handle = f"session-{next(self._numbers)}"
        self._graphs[handle] = {node.name: node for node in nodes}
        return Opened(handle)

    def run(
        self,
        session: str,
        fetches: Sequence[str],
        feeds: Mapping[str, np.ndarray],
        options: JsonObject,  # noqa: ARG002 - nothing here has options
    ) -> Outcome:
        """Evaluate the nodes that the fetches need."""
        try:
            nodes = self._nodes(session, feeds)
            return Fetched(tuple(_fetch(nodes, name, feeds) for name in fetches))
        except _Refused as refused:
            return _failure("run", refused)

    def devices(self, session: str) -> Outcome:  # noqa: ARG002 - every session has the same
        """The one device."""
        return Done({"devices": [_DEVICE]})

    def close(self, session: str) -> Outcome:
        """Forget the graph."""
        if self._graphs.pop(session, None) is None and session not in self._closed:
            return _failure("close", _Refused(5, f"no session {session}"))
        self._closed.add(session)
        return Done()

    def shutdown(self) -> None:
        """Forget everything."""
        self._graphs.clear()

    def _nodes(self, session: str, feeds: Mapping[str, np.ndarray]) -> Mapping[str, NodeDef]:
        nodes = self._graphs.get(session)
        if nodes is None:
            raise _Refused(9, "the session is closed")
        for name in feeds:
            if not name.endswith(":0") or name[:-2] not in nodes:
                raise _Refused(3, f"the graph has no {name} to feed")
        return nodes


def _operation(name: str) -> str:
    return name.removeprefix("^").partition(":")[0]


def _fetch(
    nodes: Mapping[str, NodeDef], name: str, feeds: Mapping[str, np.ndarray]
) -> np.ndarray | None:
    operation, colon, index = name.partition(":")
    if operation not in nodes or (colon and index != "0"):
        raise _Refused(3, f"the graph has no {name}")
    value = _evaluate(nodes, operation, feeds)
    return value if colon else None


def _evaluate(
    nodes: Mapping[str, NodeDef], operation: str, feeds: Mapping[str, np.ndarray]
) -> np.ndarray:
    if f"{operation}:0" in feeds:
        return feeds[f"{operation}:0"]
    node = nodes[operation]
    if node.op == "Placeholder":
        raise _Refused(3, f"{node.name} must be fed", node.name)
    if node.op == "Const":
        return _constant(node)
    inputs = [source for source in node.input if not source.startswith("^")]
    values = [_evaluate(nodes, _operation(source), feeds) for source in inputs]
    try:
        return _OPERATIONS[node.op](*values)
    except ValueError as error:  # shapes that do not broadcast
        raise _Refused(3, str(error), node.name) from error


def _constant(node: NodeDef) -> np.ndarray:
    try:
        return array_of(node.attr["value"].tensor)
    except TensorError as error:
        raise _Refused(3, str(error), node.name) from error


def _failure(call: Call, refused: _Refused) -> Failure:
    return Failure(call, refused.code, (BY_CODE[refused.code].cls,), refused.node, str(refused))
