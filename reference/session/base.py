"""BaseSession: the life cycle of a session, and the stages of a run.

A run resolves fetches and feeds, prunes, places, compiles a plan once per signature and executes
it; each stage is a module beside this one, and `running` has `run` itself. Clauses: SESSION, RUN.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

from sessrun.reference import errors
from sessrun.reference.devices import physical
from sessrun.reference.graph import default_session, stacks
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.execute.partial_runs import PartialRun
from sessrun.reference.session.execute.steps import Plan
from sessrun.reference.session.plan import placement as place
from sessrun.reference.session.plan import pruning as prune
from sessrun.reference.session.plan.compiler import compile_plan
from sessrun.reference.session.plan.function_calls import Functions
from sessrun.reference.session.resolve.feeds import inside
from sessrun.reference.session.resolve.fetches import FetchStructure
from sessrun.reference.session.resolve.signature import Signature
from sessrun.reference.state.resources import ResourceStore, Step
from sessrun.reference.state.session_tensors import SessionTensors, session_tensors
from sessrun.spec.proto import ConfigProto, GraphDef, SessionMetadata
from sessrun.spec.proto.foreign import adopt

__all__ = ["BaseSession", "adopted", "has_been_closed", "open_sessions"]

#: Every open session of this process, for `Session.reset`.
open_sessions: Final[weakref.WeakSet[BaseSession]] = weakref.WeakSet()


class BaseSession:
    """What Session and InteractiveSession share; safe for threads.

    Args:
      target: the engine to connect to; only the in-process one, `''` or None, is here.
      graph: the graph to launch; the default graph if None.
      config: a ConfigProto.

    Raises:
      TypeError: an argument is of the wrong type.
      NotFoundError: no engine answers to `target`.

    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f'Argument `graph` must be a tf.Graph, but got "{_kind(graph)}"')
        self._target = _checked_target(target)
        self._config = adopted(config, ConfigProto, "config") or physical.default_config()
        if self._target:
            raise errors.NotFoundError(
                None,
                None,
                "No session factory registered for the given session options: "
                f"{{target: {target!r} config: {self._config}}} Registered factories are "
                "{DIRECT_SESSION}.",
            )
        self._check_label()
        self._graph = graph if graph is not None else stacks.get_default_graph()
        self._devices = place.local_devices(self._config)
        self._placer = place.Placer(self._graph, self._devices, self._config)
        self._bindings = Functions(self._devices, self._config, ResourceStore()).bindings
        self._signatures: dict[Any, Signature] = {}
        self._plans: dict[Any, Plan] = {}
        self._partial_runs: dict[str, PartialRun] = {}
        self._partial_count = 0
        self._steps: set[Step] = set()
        self._lock = threading.RLock()
        self._closed = False
        self._cancelled = False
        self._nodes = self._graph.operations_by_name
        self._extent = 0
        open_sessions.add(self)

    def _check_label(self) -> None:
        """Refuse a name and version that the configuration may not give to the session."""
        if not self._config.experimental.HasField("session_metadata"):
            return
        label = self._config.experimental.session_metadata
        if label.version < 0:
            text = f"Session version shouldn't be negative: {label}"
            raise errors.InvalidArgumentError(None, None, text)
        if any(other.has_label(label) for other in list(open_sessions)):
            text = f"A session with the same name and version has already been created: {label}"
            raise errors.InvalidArgumentError(None, None, text)

    def has_label(self, label: SessionMetadata) -> bool:
        """Whether its configuration gives it this name and version."""
        experimental = self._config.experimental
        return experimental.HasField("session_metadata") and experimental.session_metadata == label

    # -- what it is

    @property
    def graph(self) -> Graph:
        """The graph that was launched in this session."""
        return self._graph

    @property
    def graph_def(self) -> GraphDef:
        """The GraphDef of the graph as it is now; with shapes if `infer_shapes` asks for them."""
        return self._graph.as_graph_def(add_shapes=self._config.graph_options.infer_shapes)

    @property
    def sess_str(self) -> bytes | None:
        """The target as it was given, as bytes."""
        return self._target

    @property
    def is_open(self) -> bool:
        """Whether it was neither closed nor reset."""
        return not self._closed and not self._cancelled

    def kept_tensors(self) -> SessionTensors:
        """What the session keeps under handles.

        Raises:
          RuntimeError: the session is closed.

        """
        self._check_open()
        return session_tensors(self._bindings.resources)

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")

    def _check_ready(self) -> None:
        self._check_open()
        if not self._nodes:
            raise RuntimeError(
                "The Session graph is empty. Add operations to the graph before calling run()."
            )

    def list_devices(self) -> list[Any]:
        """The devices of this session, with name, type, memory limit in bytes and incarnation.

        Raises:
          CancelledError: the session is closed.

        """
        if self._closed:
            raise has_been_closed()
        return [device.attributes() for device in self._devices]

    # -- life cycle

    def close(self) -> None:
        """Close the session, cancel its blocked runs, free its resources; silent if closed."""
        with self._lock:
            self._closed = True
            self._release()

    def cancel(self) -> None:
        """Make every later run raise CancelledError, and free the resources: a reset."""
        with self._lock:
            self._cancelled = True
            self._release()

    def _release(self) -> None:
        """Forget plans and resources, so that the closed check costs a run nothing."""
        self._signatures = {}
        self._plans = {}
        self._partial_runs = {}
        for step in list(self._steps):
            step.cancel()
        self._bindings.resources.clear()
        self._bindings.kernels.clear()  # which hold constants and variables
        open_sessions.discard(self)

    def as_default(self) -> AbstractContextManager[Any]:
        """A context manager that makes this the default session; it does not close it."""
        return default_session.default_session(self)

    # -- the stages of a run

    def _execute(self, signature: Signature, arrays: Sequence[Any]) -> Any:
        """Run a known signature on converted feeds: the short way of `run`."""
        plan = signature.plan
        if plan is None:
            return signature.execute(arrays)
        if self._extent != len(self._nodes):
            self._extend()
        if plan.cancellable:
            return self._launch(signature, arrays)
        try:
            return signature.execute(arrays)
        except errors.OpError as error:
            self._check_not_closing(error)
            raise

    def _launch(self, signature: Signature, arrays: Sequence[Any], options: Any = None) -> Any:
        """Execute, whatever was added to the graph since the signature was made."""
        waits = signature.plan is not None and signature.plan.cancellable
        step = self._started(options) if waits else None
        try:
            return signature.execute(arrays, step)
        except errors.OpError as error:
            self._check_not_closing(error)
            raise
        finally:
            if step is not None:
                self._ended(step)

    def _check_not_closing(self, error: errors.OpError) -> None:
        """Tell a failure of its own from one for want of what a close has taken away.

        Raises:
          CancelledError: the session was closed or reset while the run went on.

        """
        if (self._closed or self._cancelled) and error.error_code != errors.CANCELLED:
            raise has_been_closed() from error

    def _extend(self) -> None:
        """Place what was added to the graph since the last run.

        Raises:
          InvalidArgumentError: it cannot be placed, though the run may not need it.

        """
        extent = len(self._nodes)
        self._placer.place(())
        self._extent = extent

    @contextmanager
    def _step(self, options: Any = None) -> Iterator[Step]:
        """The running step, with the deadline of the options or of the configuration."""
        step = self._started(options)
        try:
            yield step
        finally:
            self._ended(step)

    def _ended(self, step: Step) -> None:
        self._steps.discard(step)
        step.end()

    def _started(self, options: Any) -> Step:
        timeout = options.timeout_in_ms if options is not None else 0
        timeout = timeout or self._config.operation_timeout_in_ms
        step = Step(timeout / 1000 if timeout > 0 else None)
        self._steps.add(step)
        return step

    def _signature(
        self, structure: FetchStructure, fed: tuple[Tensor, ...], feeders: tuple[Any, ...]
    ) -> Signature:
        places = {tensor: index for index, tensor in enumerate(fed)}
        wanted = tuple(e for e in structure.elements if isinstance(e, Tensor) and e not in places)
        ops = tuple(e for e in structure.elements if isinstance(e, Operation))
        plan = self._plan(wanted, ops, fed) if wanted or ops else None
        registers: dict[Any, int] = {}
        if plan is not None:
            registers.update(zip(wanted, plan.fetches, strict=True))
        sources: list[tuple[bool, int] | None] = []
        for element in structure.elements:
            if isinstance(element, Operation):
                sources.append(None)
            elif element in places:
                sources.append((True, places[element]))
            else:
                sources.append((False, registers[element]))
        only = registers.get(structure.elements[0]) if structure.is_leaf else None
        insides = tuple(map(inside, fed))
        return Signature(
            feeders, insides, plan, tuple(sources), structure.build, only, fed, wanted, ops
        )

    def _plan(
        self, tensors: tuple[Tensor, ...], ops: tuple[Operation, ...], fed: tuple[Tensor, ...]
    ) -> Plan:
        """The plan of a signature: pruned, placed, compiled; once."""
        if self._cancelled:
            raise has_been_closed()
        key = (tensors, ops, fed)
        with self._lock:
            plan = self._plans.get(key)
            if plan is None:
                needed = prune.prune(tensors, ops, frozenset(fed))
                placed = self._placer.place(needed)
                plan = compile_plan(needed, tensors, fed, placed, self._bindings)
                self._plans[key] = plan
        return plan

    def __del__(self) -> None:
        """Free what a session that was never closed holds."""
        if hasattr(self, "_bindings"):
            self._release()


def _kind(value: Any) -> str:
    return type(value).__name__


def _checked_target(target: Any) -> bytes | None:
    if target is None or isinstance(target, bytes):
        return target
    if isinstance(target, str | bytearray):
        return target.encode() if isinstance(target, str) else bytes(target)
    text = f'Argument `target` must be a string, but got "{_kind(target)}"'
    if _kind(target) == "ConfigProto":
        text += ". Write Session(config=config), not Session(config)."
    raise TypeError(text)


def has_been_closed() -> errors.OpError:
    """The engine's error for a session that was closed or reset."""
    return errors.CancelledError(None, None, "Session has been closed.")


def adopted(message: Any, cls: type, name: str) -> Any:
    """Our message of a message given, ours or TensorFlow's; None of None.

    Raises:
      TypeError: it is no such message.

    """
    if message is None:
        return None
    try:
        return adopt(message, cls)
    except TypeError as error:
        raise TypeError(
            f'Argument `{name}` must be a tf.{cls.__name__}, but got "{_kind(message)}"'
        ) from error
