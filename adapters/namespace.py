"""The engine surface over any namespace like `tensorflow.compat.v1`.

Everything goes through the namespace object (`Graph`, `import_graph_def`, `Session`, `GraphDef`,
`ConfigProto`, `RunOptions`), so a fault in the namespace shows on both surfaces.
"""

from __future__ import annotations

import collections
import functools
import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

import numpy as np
from google.protobuf import json_format
from google.protobuf.message import Message

from sessrun.adapters.backend import CAPABILITIES, Description, unsupported
from sessrun.spec.cases import api
from sessrun.spec.cases.model import AskedCase, GoesOn, Observation
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Graph, Session, Tensor, Value
from sessrun.spec.cases.outcomes import Call, Done, Fetched, Opened, Outcome, failure_of
from sessrun.spec.devices import full_name
from sessrun.spec.forms import JsonObject

if TYPE_CHECKING:  # no worker has it
    from sessrun.adapters.cupy_gpu import CupyGpu
    from sessrun.spec.proto import ConfigProto, GraphDef

__all__ = ["NamespaceBackend"]

#: Closed sessions that still answer (with the namespace's own error); older ones are forgotten,
#: so that ten thousand cases do not keep ten thousand graphs alive.
_CLOSED_KEPT: Final = 64

#: What stands for a resource: it has no bytes to show.
_HANDLE: Final = np.zeros((), np.dtype([("resource", np.uint8, (1,))]))

_Arguments = ParamSpec("_Arguments")
_Protobuf = TypeVar("_Protobuf", bound=Message)


@dataclass(slots=True)
class _Session:
    """An open session, its graph, and the partial runs and callables made from it."""

    graph: Graph
    session: Session
    handles: dict[str, Any] = field(default_factory=dict)


def _answers(
    call: Call,
) -> Callable[[Callable[_Arguments, Outcome]], Callable[_Arguments, Outcome]]:
    """Turn whatever a method raises into the Failure of `call`."""

    def decorate(method: Callable[_Arguments, Outcome]) -> Callable[_Arguments, Outcome]:
        @functools.wraps(method)
        def guarded(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> Outcome:
            try:
                return method(*args, **kwargs)
            except KeyboardInterrupt:  # the user's, never the backend's
                raise
            except BaseException as error:  # noqa: BLE001 - the contract: outcomes, no exceptions
                return failure_of(error, call)

        return guarded

    return decorate


class NamespaceBackend:
    """A Backend (`sessrun.adapters.backend`) whose engine is a Python namespace.

    Args:
      namespace: what stands for `tensorflow.compat.v1`.
      name: its name on reports.
      version: its version.
      config: JSON of a ConfigProto that each case's own configuration is merged into.
      details: what else `describe` tells.
      operations: what it declares to compute, as in `Description`; None for all there is.
      gpu: gives the GPU of a number to benchmarks, None where there is no such; None itself
        where the engine has no clock of a device.

    """

    def __init__(
        self,
        namespace: Namespace,
        name: str,
        version: str,
        *,
        config: JsonObject | None = None,
        details: Mapping[str, str] | None = None,
        operations: Mapping[str, Collection[str]] | None = None,
        gpu: Callable[[int], CupyGpu | None] | None = None,
    ) -> None:
        self.namespace: Final = namespace
        self.name: Final = name
        self.version: Final = version
        self.config: Final[JsonObject] = dict(config or {})
        self.details: Final[Mapping[str, str]] = dict(details or {})
        self.operations: Final = operations
        self.gpu: Final = gpu
        self._numbers = itertools.count(1)
        self._sessions: dict[str, _Session] = {}
        self._closed: collections.deque[str] = collections.deque()

    def describe(self) -> Description:
        """Who this is; its devices are those a new session lists."""
        try:
            devices = self._with_gpus() or self._listed()
        except Exception:  # noqa: BLE001 - a faulty namespace shows in the cases, not here
            devices = ()
        offered = CAPABILITIES
        if not hasattr(self.namespace.Session, "partial_run_setup"):
            offered -= {"partial_runs"}
        return Description(self.name, self.version, offered, devices, self.details, self.operations)

    def _listed(self) -> tuple[str, ...]:
        """The devices that a new session lists."""
        graph = self.namespace.Graph()
        with self.namespace.Session(graph=graph, config=self._config({})) as session:
            return tuple(device.name for device in session.list_devices())

    def _with_gpus(self) -> tuple[str, ...]:
        """The devices of a machine with GPUs, by name; empty where there are none.

        No session is opened: the first one of a process decides how TensorFlow divides its GPUs,
        and a case that configures them must be the first.
        """
        config = getattr(self.namespace, "config", None)
        if config is None or not hasattr(config, "list_physical_devices"):
            return ()
        types = [device.device_type for device in config.list_physical_devices()]
        if "GPU" not in types:
            return ()
        numbers = [types[:index].count(kind) for index, kind in enumerate(types)]
        return tuple(
            str(full_name(kind, number)) for kind, number in zip(types, numbers, strict=True)
        )

    def interpret_api(self, case: AskedCase, goes_on: GoesOn) -> list[Observation]:
        """The observations of an API-surface case on the namespace."""
        return api.interpret(case, self.namespace, goes_on)

    @_answers("open")
    def open(self, graph: JsonObject, config: JsonObject) -> Outcome:
        """Import the GraphDef into a new Graph, open a Session on it: Opened or Failure."""
        tf = self.namespace
        definition = _parsed(graph, tf.GraphDef)
        into = tf.Graph()
        with into.as_default():
            tf.import_graph_def(definition, name="")
        session = tf.Session(graph=into, config=self._config(config))
        handle = f"session-{next(self._numbers)}"
        self._sessions[handle] = _Session(into, session)
        return Opened(handle)

    @_answers("extend")
    def extend(self, session: str, graph: JsonObject) -> Outcome:
        """Import more nodes into the session's graph; their inputs may be older nodes.

        A control input from an older node without outputs is Unsupported: `import_graph_def`
        maps inputs to tensors only.
        """
        tf = self.namespace
        held = self._sessions[session]
        definition = _parsed(graph, tf.GraphDef)
        older = _older_inputs(definition, held.graph)
        if older is None:
            return unsupported("extend", "a control input from a node without outputs")
        with held.graph.as_default():
            tf.import_graph_def(definition, name="", input_map=older)
        return Done()

    @_answers("run")
    def run(
        self,
        session: str,
        fetches: Sequence[str],
        feeds: Mapping[str, np.ndarray],
        options: JsonObject,
    ) -> Outcome:
        """`Session.run` with names: Fetched in the order of `fetches`, or Failure."""
        held = self._sessions[session]
        if not options:
            return _fetched(held.session.run(list(fetches), dict(feeds)))
        parsed = _parsed(options, self.namespace.RunOptions)
        return _fetched(held.session.run(list(fetches), dict(feeds), options=parsed))

    @_answers("setup")
    def setup(self, session: str, fetches: Sequence[str], feeds: Sequence[str]) -> Outcome:
        """`Session.partial_run_setup`: Opened with the handle of the partial run."""
        held = self._sessions[session]
        return self._keep(held, held.session.partial_run_setup(list(fetches), list(feeds)))

    @_answers("partial")
    def partial(
        self, session: str, handle: str, fetches: Sequence[str], feeds: Mapping[str, np.ndarray]
    ) -> Outcome:
        """`Session.partial_run`: Fetched in the order of `fetches`."""
        held = self._sessions[session]
        values = held.session.partial_run(held.handles[handle], list(fetches), dict(feeds))
        return _fetched(values)

    @_answers("callable")
    def callable(self, session: str, fetches: Sequence[str], feeds: Sequence[str]) -> Outcome:
        """`Session.make_callable`: Opened with the handle of the callable."""
        held = self._sessions[session]
        return self._keep(held, held.session.make_callable(list(fetches), list(feeds)))

    @_answers("call")
    def call(self, session: str, handle: str, values: Sequence[np.ndarray]) -> Outcome:
        """Call a callable: Fetched in the order of its fetches."""
        return _fetched(self._sessions[session].handles[handle](*values))

    @_answers("devices")
    def devices(self, session: str) -> Outcome:
        """`Session.list_devices`: Done with their full names."""
        listed = self._sessions[session].session.list_devices()
        return Done({"devices": [device.name for device in listed]})

    @_answers("reset")
    def reset(self, containers: Sequence[str]) -> Outcome:
        """`Session.reset` of the in-process engine."""
        self.namespace.Session.reset("", list(containers))
        return Done()

    @_answers("close")
    def close(self, session: str) -> Outcome:
        """`Session.close`; a closed session still answers, as the namespace has it."""
        self._sessions[session].session.close()
        if session not in self._closed:
            self._closed.append(session)
        while len(self._closed) > _CLOSED_KEPT:
            self._sessions.pop(self._closed.popleft(), None)
        return Done()

    def shutdown(self) -> None:
        """Close every session that is still open."""
        for session in list(self._sessions):
            self.close(session)
        self._sessions.clear()

    def _config(self, config: JsonObject) -> ConfigProto:
        proto: ConfigProto = _parsed(self.config, self.namespace.ConfigProto)
        proto.MergeFrom(_parsed(config, self.namespace.ConfigProto))
        return proto

    def _keep(self, held: _Session, value: Any) -> Opened:
        handle = f"handle-{next(self._numbers)}"
        held.handles[handle] = value
        return Opened(handle)


def _parsed(form: JsonObject, kind: Callable[[], _Protobuf]) -> _Protobuf:
    """A message of the namespace's own class from protobuf's JSON mapping."""
    return json_format.ParseDict(dict(form), kind())


def _fetched(values: Sequence[Value]) -> Fetched:
    return Fetched(tuple(_array(value) for value in values))


def _array(value: Value) -> Any:
    """A fetched value as the engine surface has it.

    A scalar string is an object array: numpy's own bytes would drop final NULs. A resource's
    handle, an object of the namespace's own, is opaque.
    """
    if isinstance(value, bytes):
        array = np.empty((), dtype=object)
        array[()] = value
        return array
    if value is None or isinstance(value, np.ndarray | np.generic):
        return value
    return _HANDLE if np.asarray(value).dtype == object else value


def _older_inputs(definition: GraphDef, graph: Graph) -> dict[str, Tensor] | None:
    """The `input_map` of the nodes that `definition` refers to and `graph` has already.

    Names that neither has are left out: the import is to complain of them. None where a
    control input cannot be mapped.
    """
    new = {node.name for node in definition.node}
    older: dict[str, Tensor] = {}
    for name in {name for node in definition.node for name in node.input}:
        operation, _, index = name.removeprefix("^").partition(":")
        if operation in new:
            continue
        try:
            outputs = graph.get_operation_by_name(operation).outputs
        except (KeyError, ValueError):
            continue
        if not name.startswith("^") and int(index or 0) < len(outputs):
            older[name if index else f"{name}:0"] = outputs[int(index or 0)]
        elif name.startswith("^"):
            if not outputs:
                return None
            older[name] = outputs[0]
    return older
