"""The recorder of engine-surface cases: graphs built by the oracle's namespace, sessions, runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from sessrun.conformance.authoring.case_files import file_step, text64, with_paths
from sessrun.conformance.authoring.forms import ArrayOrScalar, Matcher, form
from sessrun.spec import tensors
from sessrun.spec.cases.files import STAND_IN
from sessrun.spec.cases.forms import ErrorForm, Step
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.forms import Json, JsonObject

__all__ = ["EngineAuthor", "SessionAuthor", "TensorValue"]


#: What numpy makes an array of; bytes are a tensor of one string.
TensorValue: TypeAlias = ArrayLike | ArrayOrScalar


@dataclass(slots=True)
class EngineAuthor:
    """Records a case of the engine surface; a namespace builds its graphs."""

    namespace: Namespace
    steps: list[Step] = field(default_factory=list)
    graphs: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, str | None] | None = None

    def file(self, name: str, data: bytes | None) -> str:
        """Declare a file of the case with its first content (None: a folder); its `path`."""
        self.files = {**(self.files or {}), name: None if data is None else text64(data)}
        return self.path(name)

    def path(self, name: str = "") -> str:
        """A path in the case's folder: for constants of graphs, feeds, and what is expected."""
        self.files = self.files or {}
        return f"{STAND_IN}/{name}" if name else STAND_IN

    def change(self, name: str, **how: Json | bytes) -> None:
        """Record a change of a file: write, append, truncate, flip, rename, mode, remove."""
        self.steps.append(file_step(name, how))

    def content(self, name: str, want: bytes | Matcher | None) -> None:
        """The file must hold these bytes now (None: there must be none)."""
        self.steps.append({**file_step(name, {"read": "bytes"}), "expect": {"value": form(want)}})

    def names(self, want: Sequence[str], name: str = "") -> None:
        """These must be the files below the folder now, in order."""
        self.steps.append({**file_step(name, {"read": "names"}), "expect": {"value": list(want)}})

    @contextmanager
    def graph(self, name: str = "g") -> Iterator[Namespace]:
        """Build a graph with the oracle's own namespace; it becomes the GraphDef `name`."""
        from google.protobuf import json_format  # noqa: PLC0415 - only while freezing

        graph = self.namespace.Graph()
        with graph.as_default():
            yield self.namespace
        self.graphs[name] = dict(with_paths(json_format.MessageToDict(graph.as_graph_def())))

    def graph_json(self, json: JsonObject, name: str = "g") -> None:
        """Give a GraphDef as JSON: for graphs that no builder would make."""
        self.graphs[name] = dict(json)

    def open(
        self,
        graph: str = "g",
        session: str = "s",
        *,
        config: JsonObject | None = None,
        error: Sequence[int] | None = None,
    ) -> SessionAuthor:
        """Open a session; `error`: the codes one of which it must fail with."""
        step: Step = {"do": "open", "session": session, "graph": graph}
        if config is not None:
            step["config"] = dict(config)
        self.steps.append(_expecting(step, error=error))
        return SessionAuthor(self, session)

    def step(self, do: str, **fields: Json | Step) -> None:
        """Record any step of `case.schema.json` as it stands."""
        self.steps.append(cast("Step", {"do": do, **fields}))

    def blame(self, clause: str) -> None:
        """Give this clause to the last steps without one: it is false if one of them fails."""
        for step in reversed(self.steps):
            if "clause" in step or step["do"] == "open":
                break
            step["clause"] = clause

    def join(
        self,
        thread: str,
        *,
        values: Sequence[TensorValue | Matcher | None] | None = None,
        error: Sequence[int] | None = None,
    ) -> None:
        """Record the result of a call in a thread: values, error codes, or mere success."""
        self.steps.append(_expecting({"do": "join", "thread": thread}, values=values, error=error))


def _expecting(
    step: Step,
    *,
    values: Sequence[TensorValue | Matcher | None] | None = None,
    error: Sequence[int] | None = None,
    node: str | None = None,
) -> Step:
    if values is not None:
        step["expect"] = {"values": [_engine_form(value) for value in values]}
    elif error is not None:
        refused: ErrorForm = {"codes": list(error)}
        if node is not None:
            refused["nodes"] = [node]
        step["expect"] = {"error": refused}
    return step


def _engine_form(value: TensorValue | Matcher | None) -> Json:
    return form(value if value is None or isinstance(value, Matcher) else _exact(value))


def _exact(value: TensorValue) -> np.ndarray:
    """A value as an array; numpy's own bytes would drop final NULs."""
    if not isinstance(value, bytes):
        return np.asarray(value)
    array = np.empty((), dtype=object)
    array[()] = value
    return array


def _fed(feeds: Mapping[str, TensorValue]) -> dict[str, JsonObject]:
    return {name: with_paths(tensors.encode(_exact(value))) for name, value in feeds.items()}


@dataclass(frozen=True, slots=True)
class SessionAuthor:
    """A session of an engine case."""

    author: EngineAuthor
    name: str

    def run(
        self,
        fetches: Sequence[str],
        feeds: Mapping[str, TensorValue] | None = None,
        *,
        values: Sequence[TensorValue | Matcher | None] | None = None,
        error: Sequence[int] | None = None,
        node: str | None = None,
        options: JsonObject | None = None,
    ) -> None:
        """One run; values in the order of fetches (None for an operation), or error codes."""
        step = self._run(fetches, feeds, options)
        self.author.steps.append(_expecting(step, values=values, error=error, node=node))

    def start(
        self,
        thread: str,
        fetches: Sequence[str],
        feeds: Mapping[str, TensorValue] | None = None,
        *,
        options: JsonObject | None = None,
        grace_s: float | None = None,
    ) -> None:
        """A run in a thread of its own; `EngineAuthor.join` has its answer.

        A case must hold however late the thread starts: `grace_s`, the time the thread is given
        before the next step, may only make it likelier that a wrong engine is caught.
        """
        more = {} if grace_s is None else {"grace_s": grace_s}
        self.author.step("start", thread=thread, step=self._run(fetches, feeds, options), **more)

    def _run(
        self,
        fetches: Sequence[str],
        feeds: Mapping[str, TensorValue] | None,
        options: JsonObject | None,
    ) -> Step:
        step: Step = {"do": "run", "session": self.name, "fetches": list(fetches)}
        if feeds:
            step["feeds"] = _fed(feeds)
        if options:
            step["options"] = dict(options)
        return step

    def setup(
        self,
        handle: str,
        fetches: Sequence[str],
        names: Sequence[str] = (),
        *,
        error: Sequence[int] | None = None,
    ) -> None:
        """Set up a partial run that may be fed `names`, and call it `handle`."""
        step: Step = {
            "do": "setup",
            "session": self.name,
            "handle": handle,
            "fetches": list(fetches),
        }
        step["names"] = list(names)
        self.author.steps.append(_expecting(step, error=error))

    def partial(
        self,
        handle: str,
        fetches: Sequence[str],
        feeds: Mapping[str, TensorValue] | None = None,
        *,
        values: Sequence[TensorValue | Matcher | None] | None = None,
        error: Sequence[int] | None = None,
    ) -> None:
        """One call of a partial run; values in the order of fetches, or error codes."""
        step: Step = {"do": "partial", "session": self.name, "handle": handle}
        step["fetches"] = list(fetches)
        if feeds:
            step["feeds"] = _fed(feeds)
        self.author.steps.append(_expecting(step, values=values, error=error))

    def close(self) -> None:
        """Close the session."""
        self.author.steps.append({"do": "close", "session": self.name})
