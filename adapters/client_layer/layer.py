"""TensorFlow's Python client over an engine: names, feeds, shapes, what is fed and fetched.

Every rule here is what `tf.compat.v1.Session` was seen to do before it calls its engine (TensorFlow
2.21); the clauses of `layer = "client"` state them.
"""

from __future__ import annotations

import collections
import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar, cast

import numpy as np
from google.protobuf import json_format

from sessrun.adapters.backend import Description, unsupported
from sessrun.adapters.client_layer.engine import (
    Endpoint,
    EngineError,
    EngineSession,
    GraphEngine,
    NotOfferedError,
)
from sessrun.spec import devices
from sessrun.spec.cases.engine import observation
from sessrun.spec.cases.model import Observation
from sessrun.spec.cases.outcomes import Call, Done, Failure, Fetched, Opened, Outcome, failure_of
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.errors import BY_CODE
from sessrun.spec.proto import ConfigProto, GraphDef, RunOptions

__all__ = ["ClientLayer"]

#: Closed sessions that are still known; what older ones hold is freed.
_CLOSED_KEPT: Final = 64

#: A fetch: a tensor, or the name of an operation.
_Fetch = Endpoint | str
_Feeds = Mapping[Endpoint, np.ndarray]
_Step = Callable[[Sequence[Endpoint], _Feeds, Sequence[str]], Sequence[np.ndarray]]
M = TypeVar("M", bound=Callable[..., Outcome])
_Message = TypeVar("_Message", GraphDef, ConfigProto, RunOptions)


@dataclass(slots=True)
class _Session:
    """A session of the engine, and what was set up on it."""

    engine: EngineSession
    handles: dict[str, Any] = field(default_factory=dict)
    closed: bool = False


def _answers(call: Call) -> Callable[[M], M]:
    """Turn what a method raises into an outcome of `call`."""

    def decorate(method: M) -> M:
        @functools.wraps(method)
        def guarded(*args: Any, **kwargs: Any) -> Outcome:
            try:
                return method(*args, **kwargs)
            except NotOfferedError as error:
                return unsupported(error.capability, str(error))
            except EngineError as error:
                classes = (BY_CODE[error.code].cls,)
                return Failure(call, error.code, classes, error.node, str(error))
            except (ValueError, TypeError, KeyError, RuntimeError, json_format.ParseError) as error:
                return failure_of(error, call)  # the client's own: see the methods below

        return cast("M", guarded)

    return decorate


class ClientLayer:
    """A Backend (`sessrun.adapters.backend`) made of an engine below the client.

    Args:
      engine: the engine.

    """

    def __init__(self, engine: GraphEngine) -> None:
        self._engine: Final = engine
        self._sessions: dict[str, _Session] = {}
        self._closed: collections.deque[str] = collections.deque()
        self._numbers = itertools.count(1)

    def describe(self) -> Description:
        """Who the engine is; callables are the layer's."""
        below = self._engine.describe()
        return replace(below, capabilities=below.capabilities | {"callables"})

    def interpret_api(self, *_: Any) -> list[Observation]:
        """Decline at the first step: there is no Python namespace."""
        return [observation("0", unsupported("api"))]

    @_answers("open")
    def open(self, graph: Mapping[str, Any], config: Mapping[str, Any]) -> Outcome:
        """Load the graph, open a session: Opened; ValueError where a node's device is malformed."""
        definition = _message(graph, GraphDef)
        for node in definition.node:
            devices.parse(node.device)
        session = self._engine.open(definition, _message(config, ConfigProto))
        return Opened(self._keep(self._sessions, _Session(session)))

    @_answers("extend")
    def extend(self, session: str, graph: Mapping[str, Any]) -> Outcome:
        """Add nodes to the session's graph: Done."""
        self._sessions[session].engine.extend(_message(graph, GraphDef))
        return Done()

    @_answers("run")
    def run(
        self,
        session: str,
        fetches: Sequence[str],
        feeds: Mapping[str, Any],
        options: Mapping[str, Any],
    ) -> Outcome:
        """One step: Fetched in the order of `fetches`."""
        engine = self._open_session(session).engine
        wanted = [_fetch(engine, name) for name in fetches]
        step = functools.partial(engine.run, options=_message(options, RunOptions))
        return _stepped(step, wanted, _fed(engine, feeds))

    @_answers("setup")
    def setup(self, session: str, fetches: Sequence[str], feeds: Sequence[str]) -> Outcome:
        """Set up a partial run: Opened with its handle."""
        held = self._open_session(session)
        wanted = [_fetch(held.engine, name) for name in fetches]
        tensors, targets = _split(wanted)
        keys = [_feed_key(held.engine, name) for name in feeds]
        return Opened(self._keep(held.handles, held.engine.setup(tensors, keys, targets)))

    @_answers("partial")
    def partial(
        self, session: str, handle: str, fetches: Sequence[str], feeds: Mapping[str, Any]
    ) -> Outcome:
        """Go on with a partial run: Fetched in the order of `fetches`."""
        held = self._open_session(session)
        wanted = [_fetch(held.engine, name) for name in fetches]
        step = functools.partial(held.engine.partial, held.handles[handle])
        fed = _fed(held.engine, feeds)
        return _stepped(step, wanted, fed, always=bool(fed))

    @_answers("callable")
    def callable(self, session: str, fetches: Sequence[str], feeds: Sequence[str]) -> Outcome:
        """Make a callable: Opened with its handle."""
        held = self._open_session(session)
        wanted = [_fetch(held.engine, name) for name in fetches]
        keys = [_feed_key(held.engine, name) for name in feeds]
        return Opened(self._keep(held.handles, (wanted, keys)))

    @_answers("call")
    def call(self, session: str, handle: str, values: Sequence[Any]) -> Outcome:
        """Call a callable: Fetched. As in TensorFlow nothing of the fed values is checked here."""
        held = self._open_session(session)
        wanted, keys = held.handles[handle]
        if len(values) != len(keys):
            raise TypeError(f"the callable takes {len(keys)} values, got {len(values)}")
        pairs = zip(keys, values, strict=True)
        fed = {key: _converted(held.engine, key, value) for key, value in pairs}
        step = functools.partial(held.engine.run, options=RunOptions())
        tensors, targets = _split(wanted)
        got = dict(zip(tensors, step(tensors, fed, targets), strict=True))
        return _fetched(wanted, got)

    @_answers("devices")
    def devices(self, session: str) -> Outcome:
        """Done with the full names of the session's devices; code 1 where it is closed."""
        held = self._sessions[session]
        if held.closed:
            raise EngineError(1, "Session has been closed.")
        return Done({"devices": list(held.engine.devices())})

    @_answers("reset")
    def reset(self, containers: Sequence[str]) -> Outcome:
        """Clear resource containers: Done."""
        self._engine.reset(containers)
        return Done()

    @_answers("close")
    def close(self, session: str) -> Outcome:
        """Close the session, once; a closed one stays known: Done."""
        held = self._sessions[session]
        if not held.closed:
            held.closed = True
            held.engine.close()
            self._closed.append(session)
        while len(self._closed) > _CLOSED_KEPT:
            self._sessions.pop(self._closed.popleft()).engine.forget()
        return Done()

    def shutdown(self) -> None:
        """Close every session and free it."""
        for session in list(self._sessions):
            self.close(session)
        for held in self._sessions.values():
            held.engine.forget()
        self._sessions.clear()
        self._closed.clear()

    def _open_session(self, session: str) -> _Session:
        held = self._sessions[session]
        if held.closed:
            raise RuntimeError("Attempted to use a closed session.")
        return held

    def _keep(self, where: dict[str, Any], value: Any) -> str:
        handle = f"handle-{next(self._numbers)}"
        where[handle] = value
        return handle


def _message(form: Mapping[str, Any], kind: type[_Message]) -> _Message:
    """A message from protobuf's JSON mapping."""
    return json_format.ParseDict(dict(form), kind())


def _stepped(
    step: _Step, wanted: Sequence[_Fetch], fed: _Feeds, *, always: bool = False
) -> Outcome:
    """One step of the engine, for what is not fed itself; none where nothing is left to ask."""
    tensors, targets = _split(fetch for fetch in wanted if fetch not in fed)
    values = dict(fed)
    if tensors or targets or always:
        values.update(zip(tensors, step(tensors, fed, targets), strict=True))
    return _fetched(wanted, values)


def _fetched(wanted: Sequence[_Fetch], values: _Feeds) -> Fetched:
    return Fetched(tuple(None if isinstance(fetch, str) else values[fetch] for fetch in wanted))


def _split(fetches: Iterable[_Fetch]) -> tuple[list[Endpoint], list[str]]:
    """Each tensor once and each operation once, in order."""
    unique = list(dict.fromkeys(fetches))
    tensors = [fetch for fetch in unique if isinstance(fetch, Endpoint)]
    return tensors, [fetch for fetch in unique if isinstance(fetch, str)]


def _fetch(engine: EngineSession, name: str) -> _Fetch:
    """What a fetch names; ValueError if the graph has no such tensor or operation."""
    if ":" in name:
        return _endpoint(engine, name)
    if not engine.has_operation(name):
        raise ValueError(f"Fetch argument {name!r} cannot be interpreted: no such operation")
    return name


def _feed_key(engine: EngineSession, name: str) -> Endpoint:
    """The tensor that a feed key names; TypeError if the graph has no such tensor."""
    try:
        return _endpoint(engine, name)
    except ValueError as error:
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error}") from error


def _endpoint(engine: EngineSession, name: str) -> Endpoint:
    operation, colon, digits = name.rpartition(":")
    if not colon or not digits.isdecimal():
        raise ValueError(f"{name!r} is no tensor's name: it must be of the form 'operation:index'")
    tensor = Endpoint(operation, int(digits))
    if engine.facts(tensor) is None:
        raise ValueError(f"the graph has no tensor {name!r}")
    return tensor


def _fed(engine: EngineSession, feeds: Mapping[str, Any]) -> dict[Endpoint, np.ndarray]:
    """The fed values by tensor; ValueError where a value's shape is not the tensor's."""
    fed = {}
    for name, value in feeds.items():
        key = _feed_key(engine, name)
        fed[key] = _converted(engine, key, value)
        facts = engine.facts(key)
        if facts is not None and not _fits(fed[key].shape, facts.shape):
            raise ValueError(
                f"Cannot feed value of shape {fed[key].shape} for tensor {name}, "
                f"which has shape {facts.shape}"
            )
    return fed


def _converted(engine: EngineSession, key: Endpoint, value: Any) -> np.ndarray:
    facts = engine.facts(key)
    row = None if facts is None else BY_NAME.get(facts.dtype)
    return np.asarray(value, dtype=None if row is None else row.numpy)


def _fits(shape: Sequence[int], static: Sequence[int | None] | None) -> bool:
    if static is None:
        return True
    same_rank = len(shape) == len(static)
    return same_rank and all(b in {None, a} for a, b in zip(shape, static, strict=True))
