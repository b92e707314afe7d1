"""BaseSession: the life cycle of a session, and `run` through its stages.

`run` resolves fetches and feeds, prunes, places, compiles a plan once per signature and executes
it; each stage is a module beside this one. Clauses: SESSION, RUN.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

from sessrun.reference import errors, stacks
from sessrun.reference.graph import Graph
from sessrun.reference.operation import Operation
from sessrun.reference.resources import ResourceStore, Step
from sessrun.reference.session import place, prune, trace
from sessrun.reference.session.compile import Bindings, compile_plan
from sessrun.reference.session.execute import Plan
from sessrun.reference.session.feeds import feeder, inside, resolve_feeds
from sessrun.reference.session.fetches import FetchStructure
from sessrun.reference.session.partial import PartialRun
from sessrun.reference.session.signature import Signature, cache_key, is_cacheable
from sessrun.reference.session_tensors import SessionTensors, session_tensors
from sessrun.reference.tensor import Tensor
from sessrun.spec.proto import ConfigProto, GraphDef, RunMetadata, RunOptions
from sessrun.spec.proto.foreign import adopt

__all__ = ["BaseSession", "adopted", "open_sessions"]

#: Every open session of this process, for `Session.reset`.
open_sessions: Final[weakref.WeakSet[BaseSession]] = weakref.WeakSet()


class BaseSession:
    """What Session and InteractiveSession share; safe for threads.

    Args:
      target: the engine to connect to; only the in-process one, `''`, is here.
      graph: the graph to launch; the default graph if None.
      config: a ConfigProto.

    Raises:
      TypeError: an argument is of the wrong type.
      NotFoundError: no engine answers to `target`.

    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f'Argument `graph` must be a tf.Graph, but got "{_kind(graph)}"')
        if not isinstance(target, str | bytes):
            raise TypeError(f'Argument `target` must be a string, but got "{_kind(target)}"')
        self._target = target.encode() if isinstance(target, str) else target
        self._config = adopted(config, ConfigProto, "config") or ConfigProto()
        if self._target:
            raise errors.NotFoundError(
                None, None, "No session factory registered for the given session options: "
                f"{{target: {target!r} config: {self._config}}} Registered factories are "
                "{DIRECT_SESSION}."
            )  # fmt: skip
        self._graph = graph if graph is not None else stacks.get_default_graph()
        self._devices = place.local_devices(self._config)
        self._placer = place.Placer(self._graph, self._devices, self._config)
        self._bindings = Bindings(ResourceStore())
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

    # -- what it is

    @property
    def graph(self) -> Graph:
        """The graph that was launched in this session."""
        return self._graph

    @property
    def graph_def(self) -> GraphDef:
        """The GraphDef of the graph as it is now."""
        return self._graph.as_graph_def(add_shapes=True)

    @property
    def sess_str(self) -> bytes:
        """The target, as bytes."""
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
        if self._closed or self._cancelled:
            raise errors.CancelledError(None, None, "Session has been closed.")
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
        open_sessions.discard(self)

    def as_default(self) -> AbstractContextManager[Any]:
        """A context manager that makes this the default session; it does not close it."""
        return stacks.default_session(self)

    # -- runs

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """Run the fragment that `fetches` need and return their values in the same structure.

        Args:
          fetches: a Tensor, Operation or name, or a nested list, tuple, namedtuple, dict or
            attrs instance of them.
          feed_dict: tensors (or names, or nested tuples of them) to the values they take.
          options: a RunOptions.
          run_metadata: a RunMetadata, filled in as the options ask.

        Returns:
          For a Tensor an ndarray (a numpy scalar for a computed value of rank 0), for an
          Operation None.

        Raises:
          RuntimeError: the session is closed, or its graph is empty.
          TypeError: a fetch or a feed key is of an inappropriate type.
          ValueError: a fetch or a feed value is invalid.
          OpError: an operation failed.

        Source: API reference, `tf.Session.run`.

        """
        if options is not None or run_metadata is not None:
            return self._first_run(fetches, feed_dict, options, run_metadata)
        try:
            signature = self._signatures[cache_key(fetches, feed_dict or ())]
        except (KeyError, TypeError):
            return self._first_run(fetches, feed_dict)
        arrays = signature.convert(feed_dict.values()) if feed_dict else ()
        return self._execute(signature, arrays)

    def _first_run(
        self, fetches: Any, feed_dict: Any, options: Any = None, run_metadata: Any = None
    ) -> Any:
        self._check_ready()
        options = adopted(options, RunOptions, "options")
        metadata = adopted(run_metadata, RunMetadata, "run_metadata")
        signature, arrays = self._resolved(fetches, feed_dict)
        if not trace.wanted(options, metadata):
            return self._execute(signature, arrays, options)
        tracer = trace.Trace()
        try:
            return self._execute(signature, arrays, options, tracer)
        finally:
            tracer.write(metadata)
            if metadata is not run_metadata:  # TensorFlow's own message
                run_metadata.MergeFromString(metadata.SerializeToString())

    def _resolved(self, fetches: Any, feed_dict: Any) -> tuple[Signature, list[Any]]:
        """The signature of a run, remembered if it can be, and the arrays of its feeds."""
        fed = resolve_feeds(self._graph, feed_dict) if feed_dict else {}
        feeders = tuple(feeder(self, tensor) for tensor in fed)
        arrays = [feed(value) for feed, value in zip(feeders, fed.values(), strict=True)]
        structure = FetchStructure(self, fetches)
        signature = self._signature(structure, tuple(fed), feeders)
        keys = feed_dict or ()
        if is_cacheable(fetches, keys) and not self._cancelled:
            with self._lock:
                if not self._closed:
                    self._signatures[cache_key(fetches, keys)] = signature
        return signature, arrays

    def _execute(
        self,
        signature: Signature,
        arrays: Sequence[Any],
        options: Any = None,
        tracer: trace.Trace | None = None,
    ) -> Any:
        plan = signature.plan
        if plan is None:
            return signature.execute(arrays)
        if self._extent != len(self._nodes):
            self._extend()
        if not plan.cancellable:
            return signature.execute(arrays, None, tracer)
        with self._step(options) as step:
            return signature.execute(arrays, step, tracer)

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
        timeout = options.timeout_in_ms if options is not None else 0
        timeout = timeout or self._config.operation_timeout_in_ms
        step = Step(timeout / 1000 if timeout > 0 else None)
        self._steps.add(step)
        try:
            yield step
        finally:
            self._steps.discard(step)

    def _signature(
        self, structure: FetchStructure, fed: tuple[Tensor, ...], feeders: tuple[Any, ...]
    ) -> Signature:
        places = {tensor: index for index, tensor in enumerate(fed)}
        wanted = [e for e in structure.elements if isinstance(e, Tensor) and e not in places]
        ops = tuple(e for e in structure.elements if isinstance(e, Operation))
        plan = self._plan(tuple(wanted), ops, fed) if wanted or ops else None
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
        return Signature(feeders, insides, plan, tuple(sources), structure.build, only)

    def _plan(
        self, tensors: tuple[Tensor, ...], ops: tuple[Operation, ...], fed: tuple[Tensor, ...]
    ) -> Plan:
        """The plan of a signature: pruned, placed, compiled; once."""
        if self._cancelled:
            raise errors.CancelledError(None, None, "Session has been closed.")
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


def adopted(message: Any, cls: type, name: str) -> Any:
    """Our message of a message given, ours or TensorFlow's; None of None."""
    if message is None:
        return None
    try:
        return adopt(message, cls)
    except TypeError as error:
        raise TypeError(
            f'Argument `{name}` must be a tf.{cls.__name__}, but got "{_kind(message)}"'
        ) from error
