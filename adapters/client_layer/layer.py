"""TensorFlow's Python client over an engine: names, feeds, shapes, what is fed and fetched.

Every rule here is what `tf.compat.v1.Session` was seen to do before it calls its engine (TensorFlow
2.21); the clauses of `layer = "client"` state them.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, ParamSpec, TypeVar

import numpy as np
from google.protobuf import json_format

from sessrun.adapters.backend import Description, unsupported
from sessrun.adapters.client_layer.engine import (
    Endpoint,
    EngineError,
    EngineSession,
    GraphEngine,
    NotOfferedError,
    TensorFacts,
)
from sessrun.spec import devices
from sessrun.spec.cases.engine import observation
from sessrun.spec.cases.model import AskedCase, GoesOn, Observation
from sessrun.spec.cases.outcomes import Call, Done, Failure, Fetched, Opened, Outcome, failure_of
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.errors import BY_CODE
from sessrun.spec.forms import JsonObject
from sessrun.spec.proto import ConfigProto, GraphDef, RunOptions

__all__ = ["ClientLayer"]

#: Closed sessions that are still known; what older ones hold is freed.
_CLOSED_KEPT: Final = 64

#: A fetch: a tensor, or the name of an operation.
_Fetch = Endpoint | str
_Feeds = Mapping[Endpoint, np.ndarray]
#: A step of the engine: fetches, feeds and targets to the values of the fetches.
_Step = Callable[[Sequence[Endpoint], _Feeds, Sequence[str]], Sequence[np.ndarray]]
#: A method of the Backend contract.
_Arguments = ParamSpec("_Arguments")
_Registered = TypeVar("_Registered")
_Message = TypeVar("_Message", GraphDef, ConfigProto, RunOptions)


class _ClientError(Exception):
    """What TensorFlow's client raises before it calls its engine, as the cause."""


@dataclass(slots=True)
class _Session:
    """A session of the engine, and what was set up on it.

    Attributes:
      engine: the engine's session.
      nodes: how many nodes its graph has.
      partial_runs: the engine's partial runs by our handle.
      callables: names of fetches and feeds by handle.
      closed: whether it was closed.
      calls: how many calls of the engine are under way.
      dropped: whether it is to be freed when none is.

    """

    engine: EngineSession
    nodes: int
    partial_runs: dict[str, Any] = field(default_factory=dict)
    callables: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)
    closed: bool = False
    calls: int = 0
    dropped: bool = False


def _answers(
    call: Call,
) -> Callable[[Callable[_Arguments, Outcome]], Callable[_Arguments, Outcome]]:
    """Turn what a method raises into an outcome of `call`; an engine's own exception escapes."""

    def decorate(method: Callable[_Arguments, Outcome]) -> Callable[_Arguments, Outcome]:
        @functools.wraps(method)
        def guarded(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> Outcome:
            try:
                return method(*args, **kwargs)
            except NotOfferedError as error:
                return unsupported(error.capability, str(error))
            except EngineError as error:
                classes = (BY_CODE[error.code].cls,)
                return Failure(call, error.code, classes, error.node, str(error))
            except _ClientError as error:
                return failure_of(error.__cause__ or error, call)

        return guarded

    return decorate


@contextlib.contextmanager
def _client() -> Iterator[None]:
    """What is raised here is the client's answer: a built-in exception, as TensorFlow's."""
    try:
        yield
    except (EngineError, NotOfferedError):
        raise
    except Exception as error:
        raise _ClientError(str(error)) from error


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
        self._lock = threading.Lock()

    def describe(self) -> Description:
        """Who the engine is; callables are the layer's."""
        below = self._engine.describe()
        return replace(below, capabilities=below.capabilities | {"callables"})

    def interpret_api(self, case: AskedCase, goes_on: GoesOn) -> list[Observation]:  # noqa: ARG002 - declined
        """Decline at the first step: there is no Python namespace."""
        return [observation("0", unsupported("api"))]

    @_answers("open")
    def open(self, graph: JsonObject, config: JsonObject) -> Outcome:
        """Load the graph, open a session: Opened; ValueError where a node's device is malformed."""
        with _client():
            definition, options = _definition(graph), _message(config, ConfigProto)
        session = self._engine.open(definition, options)
        return Opened(self._register(self._sessions, _Session(session, len(definition.node))))

    @_answers("extend")
    def extend(self, session: str, graph: JsonObject) -> Outcome:
        """Add nodes to the session's graph: Done."""
        with _client():
            extended, definition = self._sessions[session], _definition(graph)
        extended.engine.extend(definition)
        extended.nodes += len(definition.node)
        return Done()

    @_answers("run")
    def run(
        self,
        session: str,
        fetches: Sequence[str],
        feeds: Mapping[str, np.ndarray],
        options: JsonObject,
    ) -> Outcome:
        """One step: Fetched in the order of `fetches`."""
        return self._run(session, fetches, feeds, options)

    @_answers("setup")
    def setup(self, session: str, fetches: Sequence[str], feeds: Sequence[str]) -> Outcome:
        """Set up a partial run: Opened with its handle."""
        with self._calling(session) as running:
            with _client():
                keys = [_fed_tensor(running.engine, name)[0] for name in feeds]
                tensors, targets = _split(_fetch(running.engine, name) for name in fetches)
            handle = running.engine.setup(tensors, keys, targets)
            return Opened(self._register(running.partial_runs, handle))

    @_answers("partial")
    def partial(
        self, session: str, handle: str, fetches: Sequence[str], feeds: Mapping[str, np.ndarray]
    ) -> Outcome:
        """Continue a partial run: Fetched. Fetching an operation is a RuntimeError."""
        with self._calling(session) as running:
            with _client():
                fed = _fed(running.engine, feeds)
                named = [_fetch(running.engine, name) for name in fetches]
                if any(isinstance(fetch, str) for fetch in named):
                    raise RuntimeError("partial_run() fetches no operations")
                step = functools.partial(running.engine.partial, running.partial_runs[handle])
            return _stepped(step, named, fed, always=bool(fed))

    @_answers("callable")
    def callable(self, session: str, fetches: Sequence[str], feeds: Sequence[str]) -> Outcome:
        """Make a callable: Opened. What it names is looked up when it is called."""
        with _client():
            callables = self._sessions[session].callables
        return Opened(self._register(callables, (list(fetches), list(feeds))))

    @_answers("call")
    def call(self, session: str, handle: str, values: Sequence[np.ndarray]) -> Outcome:
        """Run it with values in the order of its feeds; surplus feeds or values are ignored."""
        with _client():
            fetches, keys = self._sessions[session].callables[handle]
        return self._run(session, fetches, dict(zip(keys, values, strict=False)), {})

    @_answers("devices")
    def devices(self, session: str) -> Outcome:
        """Done with the full names of the session's devices; code 1 where it is closed."""
        with _client():
            listed = self._sessions[session]
        if listed.closed:
            raise EngineError(1, "Session has been closed.")
        return Done({"devices": list(listed.engine.devices())})

    @_answers("reset")
    def reset(self, containers: Sequence[str]) -> Outcome:
        """Clear resource containers: Done."""
        self._engine.reset(containers)
        return Done()

    @_answers("close")
    def close(self, session: str) -> Outcome:
        """Close the session, once; a closed one stays known: Done."""
        with _client():
            closing = self._sessions[session]
        if not closing.closed:
            closing.closed = True
            self._closed.append(session)
            closing.engine.close()
        while len(self._closed) > _CLOSED_KEPT:
            self._free(self._closed.popleft())
        return Done()

    def shutdown(self) -> None:
        """Close every session, and free it once none of its calls is under way."""
        for session in list(self._sessions):
            self.close(session)
        while self._closed:
            self._free(self._closed.popleft())

    def _run(
        self,
        session: str,
        fetches: Sequence[str],
        feeds: Mapping[str, np.ndarray],
        options: JsonObject,
    ) -> Outcome:
        with self._calling(session) as running:
            with _client():
                fed = _fed(running.engine, feeds)
                named = [_fetch(running.engine, name) for name in fetches]
                given = _message(options, RunOptions)
            return _stepped(functools.partial(running.engine.run, options=given), named, fed)

    @contextlib.contextmanager
    def _calling(self, session: str) -> Iterator[_Session]:
        """The open session, of which a call is under way: it is not freed meanwhile."""
        with _client():
            called = self._sessions[session]
            if called.closed:
                raise RuntimeError("Attempted to use a closed Session.")
            if not called.nodes:
                raise RuntimeError("The Session graph is empty.")
        with self._lock:
            called.calls += 1
        try:
            yield called
        finally:
            with self._lock:
                called.calls -= 1
                last = called.dropped and not called.calls
            if last:
                called.engine.forget()

    def _free(self, session: str) -> None:
        """Free a closed session, or have the last call that is under way do so."""
        closed = self._sessions.pop(session)
        with self._lock:
            closed.dropped = True
            idle = not closed.calls
        if idle:
            closed.engine.forget()

    def _register(self, table: dict[str, _Registered], value: _Registered) -> str:
        handle = f"handle-{next(self._numbers)}"
        table[handle] = value
        return handle


def _message(form: JsonObject, kind: type[_Message]) -> _Message:
    """A message from protobuf's JSON mapping."""
    return json_format.ParseDict(dict(form), kind())


def _definition(form: JsonObject) -> GraphDef:
    """A GraphDef; ValueError where a node's device is malformed."""
    definition = _message(form, GraphDef)
    for node in definition.node:
        devices.parse(node.device)
    return definition


def _stepped(step: _Step, named: Sequence[_Fetch], fed: _Feeds, *, always: bool = False) -> Outcome:
    """Run the engine for the fetches that are not fed; not at all where none is left.

    Args:
      step: the engine's method.
      named: the fetches.
      fed: the feeds.
      always: run it all the same: a partial run takes in feeds.

    """
    tensors, targets = _split(fetch for fetch in named if fetch not in fed)
    values = dict(fed)
    if tensors or targets or always:
        values.update(zip(tensors, step(tensors, fed, targets), strict=True))
    return Fetched(tuple(None if isinstance(fetch, str) else values[fetch] for fetch in named))


def _split(fetches: Iterable[_Fetch]) -> tuple[list[Endpoint], list[str]]:
    """Each tensor once and each operation once, in order."""
    unique = list(dict.fromkeys(fetches))
    tensors = [fetch for fetch in unique if isinstance(fetch, Endpoint)]
    return tensors, [fetch for fetch in unique if isinstance(fetch, str)]


def _fetch(engine: EngineSession, name: str) -> _Fetch:
    """The tensor or operation that a fetch names; ValueError if the graph has neither."""
    if ":" in name:
        return _tensor(engine, name)[0]
    if not engine.has_operation(name):
        raise ValueError(f"Fetch argument {name!r} cannot be interpreted: no such operation")
    return name


def _fed_tensor(engine: EngineSession, name: str) -> tuple[Endpoint, TensorFacts]:
    """The tensor that a feed key names; TypeError if the graph has no such tensor."""
    try:
        return _tensor(engine, name)
    except ValueError as error:
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error}") from error


def _tensor(engine: EngineSession, name: str) -> tuple[Endpoint, TensorFacts]:
    """The tensor of a name, and its dtype and shape; ValueError if the graph has no such tensor."""
    operation, colon, digits = name.rpartition(":")
    if not colon or not digits.isdecimal():
        raise ValueError(f"{name!r} is no tensor's name: it must be of the form 'operation:index'")
    tensor = Endpoint(operation, int(digits))
    facts = engine.facts(tensor)
    if facts is None:
        raise ValueError(f"the graph has no tensor {name!r}")
    return tensor, facts


def _fed(engine: EngineSession, feeds: Mapping[str, np.ndarray]) -> dict[Endpoint, np.ndarray]:
    """The fed values by tensor; ValueError where a value's shape is not the tensor's."""
    fed = {}
    for name, value in feeds.items():
        key, facts = _fed_tensor(engine, name)
        fed[key] = _converted(value, facts.dtype)
        if not _fits(fed[key].shape, facts.shape):
            raise ValueError(
                f"Cannot feed value of shape {fed[key].shape} for tensor {name}, "
                f"which has shape {facts.shape}"
            )
    return fed


def _converted(value: np.ndarray, dtype: str) -> np.ndarray:
    """The value as an array of the tensor's dtype; strings are bytes, str as UTF-8."""
    array = np.asarray(value, dtype=BY_NAME[dtype].numpy)
    if dtype != "string":
        return array
    items = array.reshape(-1)
    strange = [type(item).__name__ for item in items if not isinstance(item, bytes | str)]
    if strange:
        raise EngineError(13, f"Unsupported object type {strange[0]}")
    encoded = np.empty(items.size, object)
    encoded[:] = [item if isinstance(item, bytes) else item.encode() for item in items]
    return encoded.reshape(array.shape)


def _fits(shape: Sequence[int], static: Sequence[int | None] | None) -> bool:
    if static is None:
        return True
    same_rank = len(shape) == len(static)
    return same_rank and all(b in {None, a} for a, b in zip(shape, static, strict=True))
