"""TensorFlow's C API as it is: a Backend without anything of a client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from google.protobuf import json_format

from sessrun.adapters.backend import Description
from sessrun.adapters.client_layer import Endpoint, EngineError
from sessrun.adapters.minimal import MinimalEngine
from sessrun.adapters.tensorflow_c import engine_of
from sessrun.spec.cases.outcomes import Done, Failure, Fetched, Opened, Outcome
from sessrun.spec.errors import BY_CODE
from sessrun.spec.proto import ConfigProto, GraphDef, RunOptions


def backend() -> BelowClient:
    return BelowClient()


class BelowClient(MinimalEngine):
    """Opens, runs and closes: whatever a name is, and whatever is fed, goes to the engine."""

    def __init__(self) -> None:
        self.engine = engine_of()
        self.sessions: dict[str, Any] = {}

    def describe(self) -> Description:
        return replace(self.engine.describe(), capabilities=frozenset({"state"}))

    def open(self, graph: Mapping[str, Any], config: Mapping[str, Any]) -> Outcome:
        definition = json_format.ParseDict(graph, GraphDef())
        options = json_format.ParseDict(config, ConfigProto())
        try:
            session = self.engine.open(definition, options)
        except EngineError as error:
            return Failure("open", error.code, (BY_CODE[error.code].cls,))
        handle = str(len(self.sessions))
        self.sessions[handle] = session
        return Opened(handle)

    def run(
        self,
        session: str,
        fetches: Sequence[str],
        feeds: Mapping[str, Any],
        options: Mapping[str, Any],
    ) -> Outcome:
        engine = self.sessions[session]
        named = [name.partition(":")[0] for name in (*fetches, *feeds)]
        if not all(map(engine.has_operation, named)):
            return Failure("run", 5, ("NotFoundError",))
        tensors = [_endpoint(name) for name in fetches if ":" in name]
        targets = [name for name in fetches if ":" not in name]
        fed = {_endpoint(name): value for name, value in feeds.items()}
        given = json_format.ParseDict(options, RunOptions())
        try:
            values = iter(engine.run(tensors, fed, targets, given))
        except EngineError as error:
            return Failure("run", error.code, (BY_CODE[error.code].cls,))
        return Fetched(tuple(next(values) if ":" in name else None for name in fetches))

    def close(self, session: str) -> Outcome:
        self.sessions[session].close()
        return Done()


def _endpoint(name: str) -> Endpoint:
    operation, _, index = name.partition(":")
    return Endpoint(operation, int(index))
