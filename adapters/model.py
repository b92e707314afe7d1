"""The model of the spec as a backend: it must pass the vectors of the operations that it has."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from sessrun.adapters.backend import Description
from sessrun.adapters.client_layer import (
    ClientLayer,
    Endpoint,
    EngineError,
    EngineSession,
    NotOfferedError,
    TensorFacts,
)
from sessrun.adapters.client_layer.graph import Graph as ClientGraph
from sessrun.spec.devices import parse
from sessrun.spec.model.machine import FailedError, Graph, Output, Session, WaitsError, perform
from sessrun.spec.model.stateless import has_operation
from sessrun.spec.model.values import Handle
from sessrun.spec.proto import ConfigProto, GraphDef, RunOptions
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["backend"]


#: Fields of a configuration that do not change the result of a run.
_WITHOUT_EFFECT: Final = frozenset(
    {
        "allow_soft_placement",
        "graph_options",
        "inter_op_parallelism_threads",
        "intra_op_parallelism_threads",
        "log_device_placement",
        "use_per_session_threads",
    }
)
#: The devices of the model: one CPU.
_CPU: Final = parse("/job:localhost/replica:0/task:0/device:CPU:0")


def backend(_: str | None = None) -> ClientLayer:
    """The model, under our client."""
    return ClientLayer(_Engine())


class _Engine:
    """The model, which declares the operations that it has, of all their dtypes."""

    def describe(self) -> Description:
        """Who this is."""
        return Description("model", "0.2", frozenset({"state", "extend", "control_inputs"}))

    def open(self, graph: GraphDef, config: ConfigProto) -> EngineSession:
        """Read the graph."""
        strange = [
            field.name for field, _ in config.ListFields() if field.name not in _WITHOUT_EFFECT
        ]
        if strange:
            raise NotOfferedError("config", strange[0])
        return _Session(graph)

    def reset(self, containers: Sequence[str]) -> None:
        """Decline."""
        raise NotOfferedError("reset", str(containers))


class _Session(EngineSession):
    """A session of the model."""

    def __init__(self, definition: GraphDef) -> None:
        _check(definition)
        self._definition = definition
        self._running = threading.Lock()
        self._client = ClientGraph(definition)
        try:
            self._session = Session(Graph(definition))
        except ValueError as error:
            raise EngineError(3, str(error)) from error

    def has_operation(self, name: str) -> bool:
        """Whether the graph has an operation of this name."""
        return name in self._session.graph.nodes

    def facts(self, tensor: Endpoint) -> TensorFacts | None:
        """The static type of a tensor."""
        return self._client.facts(tensor)

    def extend(self, graph: GraphDef) -> None:
        """Add operations."""
        _check(graph)
        try:
            self._session.graph.extend(graph)
        except ValueError as error:
            raise EngineError(3, str(error)) from error
        self._definition.MergeFrom(graph)
        self._client = ClientGraph(self._definition)

    def run(
        self,
        fetches: Sequence[Endpoint],
        feeds: Mapping[Endpoint, np.ndarray],
        targets: Sequence[str],
        options: RunOptions,
    ) -> Sequence[np.ndarray]:
        """One run."""
        wanted = [Output(tensor.operation, tensor.index) for tensor in fetches]
        given = {Output(tensor.operation, tensor.index): value for tensor, value in feeds.items()}
        try:
            with self._running:  # the model is no program for several threads
                values = perform(self._session, wanted, given, targets)
        except FailedError as error:
            raise EngineError(error.code, str(error), error.node or None) from error
        except WaitsError as error:
            if options.timeout_in_ms:
                raise EngineError(4, "the run waits until its deadline") from error
            raise NotOfferedError("concurrent", "the run waits for another one") from error
        return [_array(value) for value in values]

    def close(self) -> None:
        """Close the session."""


def _array(value: object) -> np.ndarray:
    if isinstance(value, Handle):
        raise NotOfferedError("op", "handles are not fetched")
    return np.asarray(value)


def _check(definition: GraphDef) -> None:
    """Decline operations that the model does not have."""
    for node in definition.node:
        if not parse(node.device).matches(_CPU):
            raise NotOfferedError("devices", node.device)
        if node.op in OPERATIONS and not has_operation(node.op):
            raise NotOfferedError("op", node.op)
