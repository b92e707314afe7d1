"""Session: from fetches and feeds to values, in stages.

`Session.run` resolves fetches and feeds to a signature (`resolve`), plans it once (`plan`: prune,
place, compile), executes the plan (`execute`), and unpacks the values into the caller's structure
(`resolve`); beside them `trace` says what RunOptions ask for. Clauses: SESSION, RUN, CALLABLES,
PARTIAL-RUN.
"""

from __future__ import annotations

import functools
import operator
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Final, Self

import numpy as np

from sessrun.reference import errors
from sessrun.reference.devices import physical
from sessrun.reference.devices.devices import DeviceAttributes, local_devices
from sessrun.reference.graph import default_graph, default_session
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public
from sessrun.reference.session import arguments
from sessrun.reference.session.execute.feed_source import MISSED
from sessrun.reference.session.execute.partial_runs import PartialRuns
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.execute.steps import Value
from sessrun.reference.session.lifetime import Lifetime
from sessrun.reference.session.plan.planner import Planner
from sessrun.reference.session.plan.signature_cache import Planned, SignatureCache
from sessrun.reference.session.resolve.callable_options import (
    OptionsCallable,
    exact_feeder,
    read_request,
)
from sessrun.reference.session.resolve.feeds import (
    FedTensors,
    FeedDict,
    fed_tensors,
    resolve_feeds,
)
from sessrun.reference.session.resolve.fetches import Fetches, FetchStructure
from sessrun.reference.session.resolve.set_up import resolve_partial_call, resolve_set_up
from sessrun.reference.session.resolve.signature import Signature, signature_of
from sessrun.reference.session.resolve.tensor_handles import HANDLE_OPS, KeptTensors
from sessrun.reference.session.trace.run_options import read_options
from sessrun.reference.session.trace.run_reports import RunReports
from sessrun.reference.session.trace.trace import Trace
from sessrun.reference.state.resources import ResourceStore
from sessrun.spec.proto import CallableOptions, ConfigProto, GraphDef, RunMetadata, RunOptions

__all__ = ["BaseSession", "Session"]

#: Every open session of this process, with its configuration.
_OPEN: Final[weakref.WeakKeyDictionary[BaseSession, ConfigProto]] = weakref.WeakKeyDictionary()


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

    def __init__(
        self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None
    ) -> None:
        arguments.check_graph(graph)
        self._target = arguments.checked_target(target)
        self._config = arguments.adopted(config, ConfigProto, "config") or physical.default_config()
        if self._target:
            raise arguments.no_engine(target, self._config)
        arguments.check_name(self._config, _OPEN.values())
        self._graph = graph if graph is not None else default_graph.get_default_graph()
        self._nodes = self._graph.operations_by_name
        self._devices = local_devices(self._config)
        self._resources = ResourceStore()
        self._lifetime = Lifetime(self._config.operation_timeout_in_ms)
        self._kept = KeptTensors(self._lifetime, self._resources, weakref.ref(self))
        self._planner = Planner(
            self._graph, self._devices, self._config, self._resources, self._lifetime
        )
        self._partial_runs = PartialRuns(self._lifetime)
        self._reports = RunReports(self._config, self._planner, self._devices[0])
        # A cost model counts every run: then none may take the short way.
        self._cache = SignatureCache(
            self._lifetime, self._graph, is_off=self._reports.counts_every_run
        )
        self._hot, self._quick = self._cache.hot, self._cache.quick
        self._lock = threading.RLock()
        _OPEN[self] = self._config

    @property
    def graph(self) -> Graph:
        """The graph that was launched in this session."""
        return self._graph

    @property
    def graph_def(self) -> GraphDef:
        """The GraphDef of the graph in its present state; with shapes if `infer_shapes` is set."""
        return self._graph.as_graph_def(add_shapes=self._config.graph_options.infer_shapes)

    @property
    def sess_str(self) -> bytes | None:
        """The target as it was given, as bytes."""
        return self._target

    def list_devices(self) -> list[DeviceAttributes]:
        """The devices of this session, with name, type, memory limit in bytes and incarnation.

        Raises:
          CancelledError: the session is closed.

        """
        if self._lifetime.is_closed:
            self._lifetime.check_not_over()
        return [device.attributes() for device in self._devices]

    def as_default(self) -> AbstractContextManager[Self]:
        """A context manager that makes this the default session; it does not close it."""
        return default_session.default_session(self)

    # -- run

    def run(
        self,
        fetches: Fetches,
        feed_dict: FeedDict | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:
        """Run the fragment that `fetches` need and return their values in the same structure.

        Args:
          fetches: a Tensor, Operation or name, or a nested list, tuple, namedtuple, dict or
            attrs instance of them.
          feed_dict: tensors (or names, or nested tuples of them) to the values they take.
          options: a RunOptions; a false value means no options.
          run_metadata: a RunMetadata: what it held is replaced by what a successful run tells.

        Returns:
          For a Tensor an ndarray (a numpy scalar for a computed value of rank 0), for an
          Operation None.

        Raises:
          RuntimeError: the session is closed, or its graph is empty.
          TypeError: a fetch or a feed key is of an inappropriate type.
          ValueError: a fetch or a feed value is invalid.
          AttributeError: `options` or `run_metadata` is not a message.
          OpError: an operation failed.

        Source: API reference, `tf.Session.run`.

        """
        if is_plain := options is None and run_metadata is None:
            if not feed_dict:
                try:
                    run = self._hot[fetches]
                except (KeyError, TypeError):  # not hot, or a structure
                    pass
                else:
                    return run()
            for quick in self._quick.get(id(fetches), ()):
                if (value := quick(fetches, feed_dict)) is not MISSED:
                    return value
            planned = self._cache.find(fetches, feed_dict or ())
            if planned is not None and (not feed_dict or isinstance(feed_dict, Mapping)):
                return self._run_planned(planned, fetches, feed_dict.values() if feed_dict else ())
        run_options = read_options(options)
        self._lifetime.check_ready(self._nodes)
        fed, arrays = resolve_feeds(self._graph, self._kept, feed_dict)
        signature = signature_of(FetchStructure(self._graph, self._kept, fetches), fed)
        plan = self._planner.plan(signature)
        planned = self._cache.add(fetches, feed_dict or (), signature, plan)
        if is_plain and (code := self._cache.generated(planned, self._planner.extent, fetches)):
            return code.proceed(*arrays)
        return self._run_reported(signature, plan, arrays, run_options, run_metadata)

    def _run_reported(
        self,
        signature: Signature,
        plan: Plan | None,
        arrays: Sequence[np.ndarray],
        options: RunOptions | None,
        run_metadata: RunMetadata | None,
    ) -> Any:
        """Execute and unpack a planned signature, and put what is reported into `run_metadata`."""
        report = self._reports.begin(signature, plan, options)
        computed = self._execute(signature, plan, arrays, options, report.trace)
        value = signature.unpack(arrays, computed)
        self._reports.write(report, run_metadata)
        return value

    def _run_planned(self, planned: Planned, fetches: Fetches, values: Iterable[object]) -> Any:
        """Convert the values of the feeds, execute and unpack: the short way of `run`."""
        signature, plan, generated = planned.signature, planned.plan, planned.generated
        if generated is not None and self._planner.is_current:
            self._cache.heat(planned, self._planner.extent, fetches)
            return generated.run(*values)
        arrays = signature.convert(values) if values else ()
        if plan is None:
            return signature.unpack(arrays, ())
        self._planner.keep_up()
        if code := self._cache.generated(planned, self._planner.extent, fetches):
            return code.proceed(*arrays)
        return signature.unpack(arrays, self._execute(signature, plan, arrays))

    def _execute(
        self,
        signature: Signature,
        plan: Plan | None,
        arrays: Sequence[np.ndarray],
        options: RunOptions | None = None,
        trace: Trace | None = None,
    ) -> Sequence[Value]:
        """The execute stage: the values of the signature's computed tensors."""
        if plan is None:
            return ()
        if trace is not None:
            with self._lifetime.step(options) as traced:
                return trace.run(arrays, traced)
        step = self._lifetime.begin_step(options) if plan.cancellable else None
        try:
            return plan.execute(arrays, signature.views, step)
        except errors.OpError as error:
            self._lifetime.check_not_over(error)
            raise
        finally:
            if step is not None:
                self._lifetime.end_step(step)

    # -- callables

    def make_callable(
        self, fetches: Fetches, feed_list: object = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """A function that runs `fetches`, its arguments the values of `feed_list` in order.

        Args:
          fetches: as for `run`.
          feed_list: a list or tuple of feed keys, or None.
          accept_options: whether the function takes `options` and `run_metadata`.

        Raises:
          TypeError: `feed_list` is neither list nor tuple, or a fetch is of the wrong type.
          ValueError: a fetch is invalid.

        """
        if feed_list is not None:
            return self._fed_callable(fetches, feed_list)
        structure = FetchStructure(self._graph, self._kept, fetches)
        is_handle = isinstance(fetches, Tensor) and fetches.op.type in HANDLE_OPS
        if is_handle and not accept_options:
            structure.build = operator.itemgetter(0)  # the handle of a kept tensor as its bytes
        if not self._planner.is_current:
            self._lifetime.check_not_over()
            self._planner.extend()
        signature = signature_of(structure, FedTensors())
        # Operations added to the graph later do not matter. A closed session raises in the call.
        plan = None if self._lifetime.is_over else self._planner.plan(signature)
        run = functools.partial(self._run_callable, signature, plan, ())
        if accept_options:
            return lambda options=None, run_metadata=None: run(options, run_metadata)
        generated = self._cache.generated_callable(signature, plan, self)
        return (lambda: run()) if generated is None else generated  # noqa: PLW0108 - it takes no more

    def _run_callable(
        self,
        signature: Signature,
        plan: Plan | None,
        values: Sequence[object] = (),
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:
        """Run a callable; operations that were added to the graph later do not matter.

        Raises:
          CancelledError: the session is closed.
          InvalidArgumentError: there is nothing to run.
          OpError: an operation failed.

        """
        if self._lifetime.is_over:
            self._lifetime.check_not_over()
        if not signature.sources:
            raise errors.bad_argument("Must specify at least one target to fetch or execute.")
        arrays = signature.convert(values) if values else ()
        if options or run_metadata:
            return self._run_reported(signature, plan, arrays, read_options(options), run_metadata)
        return signature.unpack(arrays, self._execute(signature, plan, arrays))

    def _fed_callable(self, fetches: Fetches, feed_list: object) -> Callable[..., Any]:
        if not isinstance(feed_list, list | tuple):
            raise TypeError(
                f"Argument `feed_list` must be a list or tuple. Received: feed_list={feed_list}"
            )
        keys = tuple(feed_list)
        hot, mark = self._hot, self._cache.mark(fetches, keys)
        count = len(keys) if type(self).run is BaseSession.run else -1  # its own sees each call

        def run_fed(*values: object, **options: Any) -> Any:
            if len(values) == count and not options:
                try:
                    run = hot[mark]
                except KeyError:  # not planned yet, or the graph has changed, or the session ended
                    if planned := self._cache.hasten(fetches, keys):
                        return self._run_planned(planned, fetches, values)
                else:
                    return run(*values)
            return self.run(fetches, dict(zip(keys, values, strict=False)), **options)

        return run_fed

    def _make_callable_from_options(self, callable_options: CallableOptions) -> OptionsCallable:
        """A function that runs what a CallableOptions message describes.

        Args:
          callable_options: the message, ours or TensorFlow's.

        Raises:
          CancelledError: the session is closed.
          AttributeError: the argument is not a message.
          OpError: as `callable_options.read_request`.

        """
        self._lifetime.check_not_over()
        self._planner.extend()
        devices = [device.name for device in self._devices]
        request = read_request(callable_options, self._graph, devices)
        fetches = [[*request.fetches], [*request.targets]]
        structure = FetchStructure(self._graph, self._kept, fetches)
        fed = fed_tensors(request.feeds, map(exact_feeder, request.feeds))
        signature = signature_of(structure, fed)
        run = functools.partial(self._run_callable, signature, self._planner.plan(signature))
        return OptionsCallable(run, len(request.feeds), request.run_options)

    # -- partial runs

    def partial_run_setup(self, fetches: Fetches, feeds: object = None) -> str:
        """Set up a run whose feeds are given and whose fetches are taken by `partial_run`.

        Args:
          fetches: as for `run`: all that may be fetched, and the operations to run.
          feeds: the feed keys that may be fed: one, or a flat list or tuple of them.

        Returns:
          The handle of the run.

        Raises:
          RuntimeError: the session is closed, or its graph is empty.
          TypeError: a fetch or a feed key is of an inappropriate type.
          ValueError: a fetch is invalid.
          InvalidArgumentError: there is no fetch, or a tensor is fed twice, or both fed and
            fetched.
          CancelledError: the session was reset.

        Source: API reference, `tf.Session.partial_run_setup`.

        """
        self._lifetime.check_ready(self._nodes)
        set_up = resolve_set_up(self._graph, self._kept, fetches, feeds)
        return self._partial_runs.begin(set_up, self._planner.partial_plan(set_up))

    def partial_run(
        self, handle: str | bytes, fetches: Fetches, feed_dict: FeedDict | None = None
    ) -> Any:
        """Continue a partial run: feed more, fetch more.

        Args:
          handle: what `partial_run_setup` returned.
          fetches: as for `run`: of those that the set-up named, the ones not fetched yet.
          feed_dict: as for `run`: of those that the set-up named, the ones not fed yet.

        Returns:
          As `run`.

        Raises:
          RuntimeError: the session is closed, or an operation is among the fetches.
          TypeError: the handle is no string, or as `run`.
          ValueError: as `run`.
          InvalidArgumentError: the run has ended, or as `PartialRun.proceed`.
          OpError: an operation failed; the run is over.

        Source: API reference, `tf.Session.partial_run`.

        """
        self._lifetime.check_ready(self._nodes)
        if isinstance(handle, bytes):
            handle = handle.decode()
        if not isinstance(handle, str):
            raise TypeError(f"The handle of a partial run is a string, got {handle!r}")
        call = resolve_partial_call(self._graph, self._kept, fetches, feed_dict)
        is_empty = not call.tensors and not call.arrays
        return call.unpack(() if is_empty else self._partial_runs.proceed(handle, call))

    # -- the end

    def close(self) -> None:
        """Close the session, cancel its blocked runs, free its resources; silent if closed."""
        with self._lock:
            self._lifetime.close()
            self._release()

    def cancel(self) -> None:
        """Make every later run raise CancelledError, and free the resources: a reset."""
        with self._lock:
            self._lifetime.reset()
            self._release()

    def _release(self) -> None:
        """Forget plans and resources, so that the closed check costs a run nothing."""
        self._cache.clear()
        self._partial_runs.clear()
        self._reports.clear()
        self._lifetime.cancel_steps()
        self._resources.clear()
        self._planner.clear()
        _OPEN.pop(self, None)

    def __del__(self) -> None:
        """Free what a session that was never closed holds."""
        if hasattr(self, "_cache"):
            self._release()


@public("Session")
class Session(BaseSession):
    """A session: runs operations and evaluates tensors of one graph.

    Used as a context manager it is the default session, and its graph the default graph, inside
    the `with`; it is closed at its end. Arguments and errors: `BaseSession`.
    """

    def __init__(
        self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None
    ) -> None:
        super().__init__(target, graph, config)
        self._entered: ExitStack | None = None

    def __enter__(self) -> Self:
        if self._entered is not None:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use `Session.as_default()` "
                "if you want to enter a session multiple times."
            )
        self._entered = ExitStack()
        self._entered.enter_context(self._graph.as_default())
        self._entered.enter_context(self.as_default())
        return self

    def __exit__(self, *_error: object) -> None:
        if self._entered is not None:
            self._entered.close()  # refused, and the session left open, unless it is innermost
            self._entered = None
        self.close()

    @staticmethod
    def reset(
        target: str,
        containers: Iterable[str] | None = None,
        config: ConfigProto | None = None,
    ) -> None:
        """Clear resource containers and close the sessions of `target`.

        The in-process engine keeps resources per session: every open session of this process is
        closed, and its next run is cancelled.

        Raises:
          TypeError: `containers` is no list of strings.
          NotFoundError: no engine answers to `target`.

        """
        arguments.adopted(config, ConfigProto, "config")
        arguments.check_containers(containers)
        if target:
            BaseSession(target)
        for session in list(_OPEN):
            session.cancel()
