"""The other ways to run a fragment: callables made once, and partial runs.

Clauses: CALLABLES, PARTIAL-RUN.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sessrun.reference import errors
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.base import has_been_closed
from sessrun.reference.session.execute.partial_runs import PartialRun, check_set_up
from sessrun.reference.session.plan import pruning as prune
from sessrun.reference.session.plan.compiler import compile_plan
from sessrun.reference.session.resolve.callable_options import (
    OptionsCallable,
    exact_feeder,
    read_request,
)
from sessrun.reference.session.resolve.feeds import feeder, resolve_feeds, resolve_keys
from sessrun.reference.session.resolve.fetches import FetchStructure
from sessrun.reference.session.resolve.signature import Signature, cache_key, is_cacheable
from sessrun.reference.session.resolve.tensor_handles import HANDLE_OPS
from sessrun.reference.session.running import RunningSession
from sessrun.reference.session.trace import run_reports as report

__all__ = ["CallingSession"]


class CallingSession(RunningSession):
    """A session with every way to run; arguments and errors: `BaseSession`."""

    def make_callable(
        self, fetches: Any, feed_list: Any = None, accept_options: bool = False
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
        structure = FetchStructure(self, fetches)
        is_handle = isinstance(fetches, Tensor) and fetches.op.type in HANDLE_OPS
        if is_handle and not accept_options:
            structure.build = operator.itemgetter(0)  # the handle of a kept tensor as its bytes
        made = self._made_now(structure)
        if not accept_options:
            return lambda: self._run_made(made, ())

        def run_optional(options: Any = None, run_metadata: Any = None) -> Any:
            return self._run_made(made, (), options, run_metadata)

        return run_optional

    def _made_now(self, structure: FetchStructure) -> Signature | None:
        """The signature of the graph as it is: what is added later is nothing to it.

        A closed session has none, and says so here only if the graph has grown, else in the call.
        """
        if self._extent != len(self._nodes):
            self._check_not_closed()
            self._extend()
        is_usable = not self._closed and not self._cancelled
        return self._signature(structure, (), ()) if is_usable else None

    def _run_made(
        self,
        made: Signature | None,
        values: Sequence[Any],
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """Run what a callable was made for, whatever was added to the graph since.

        Args:
          made: its signature.
          values: the fed values in order.
          options: as for `run`.
          run_metadata: as for `run`.

        Raises:
          CancelledError: the session is closed.
          InvalidArgumentError: there is nothing to run.
          OpError: an operation failed.

        """
        self._check_not_closed()
        if made is None or not made.sources:
            text = "Must specify at least one target to fetch or execute."
            raise errors.InvalidArgumentError(None, None, text)
        arrays = made.convert(values) if values else ()
        if not options and not run_metadata:
            return self._launch(made, arrays)
        return self._tell(made, arrays, report.read_options(options), run_metadata)

    def _make_callable_from_options(self, callable_options: Any) -> OptionsCallable:
        """A function that runs what a CallableOptions message describes.

        Args:
          callable_options: the message, ours or TensorFlow's.

        Raises:
          CancelledError: the session is closed.
          AttributeError: it is no message.
          OpError: as `option_callables.read_request`.

        """
        self._check_not_closed()
        self._extend()
        asked = read_request(callable_options, self._graph, [d.name for d in self._devices])
        structure = FetchStructure(self, [list(asked.fetches), list(asked.targets)])
        signature = self._signature(structure, asked.feeds, tuple(map(exact_feeder, asked.feeds)))
        return OptionsCallable(self._run_made, signature, asked.run_options)

    def _check_not_closed(self) -> None:
        if self._closed or self._cancelled:
            raise has_been_closed()

    def _fed_callable(self, fetches: Any, feed_list: Any) -> Callable[..., Any]:
        if not isinstance(feed_list, list | tuple):
            raise TypeError(
                f"Argument `feed_list` must be a list or tuple. Received: feed_list={feed_list}"
            )
        keys = tuple(feed_list)
        key = cache_key(fetches, keys) if is_cacheable(fetches, keys) else None

        def run_fed(*values: Any, **options: Any) -> Any:
            # `close` empties the cache, so that a closed session is found out by `run`.
            signature = self._signatures.get(key)
            if signature is None or options or len(values) != len(keys):
                return self.run(fetches, dict(zip(keys, values, strict=False)), **options)
            return self._execute(signature, signature.convert(values))

        return run_fed

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:
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
        self._check_ready()
        fed = resolve_keys(self._graph, feeds)
        structure = FetchStructure(self, fetches)
        tensors, ops = check_set_up(structure.elements, fed)
        if self._cancelled:
            raise has_been_closed()
        needed = prune.prune(tensors, ops, frozenset(fed))
        self._extend()
        placed = self._placer.place(needed)
        plan = compile_plan(needed, tensors, fed, placed, self._bindings, keep=True)
        run = PartialRun(plan, tensors, fed)
        names = f"{_listing(fed)}->{_listing(tensors)}/{_listing(ops)}/1/"
        with self._step() as step:
            run.start(step)
        with self._lock:
            self._check_open()
            handle = f"{names};{self._partial_count}"
            self._partial_count += 1
            self._partial_runs[handle] = run
        return handle

    def partial_run(self, handle: str | bytes, fetches: Any, feed_dict: Any = None) -> Any:
        """Continue a partial run: feed more, fetch more.

        Args:
          handle: what `partial_run_setup` returned.
          fetches: as for `run`, of what was named in the set-up and has not been fetched yet.
          feed_dict: as for `run`, of what was named in the set-up and has not been fed yet.

        Returns:
          As `run`.

        Raises:
          RuntimeError: the session is closed, or an operation is among the fetches.
          TypeError: the handle is no string, or as `run`.
          ValueError: as `run`.
          InvalidArgumentError: there is no such run any more, or as `PartialRun.proceed`.
          OpError: an operation failed; the run is over.

        Source: API reference, `tf.Session.partial_run`.

        """
        self._check_ready()
        if isinstance(handle, bytes):
            handle = handle.decode()
        if not isinstance(handle, str):
            raise TypeError(f"The handle of a partial run is a string, got {handle!r}")
        fed = resolve_feeds(self._graph, feed_dict) if feed_dict else {}
        values = {tensor: feeder(self, tensor)(value) for tensor, value in fed.items()}
        structure = FetchStructure(self, fetches)
        wanted = [e for e in structure.elements if isinstance(e, Tensor) and e not in values]
        if any(isinstance(element, Operation) for element in structure.elements):
            raise RuntimeError("partial_run() requires empty `target_list`: it runs no operation.")
        if wanted or values:
            found = self._proceed(handle, values, wanted)
            values.update(zip(wanted, found, strict=True))
        return structure.build([values[element] for element in structure.elements])  # type: ignore[index]  # tensors only

    def _proceed(self, handle: str, values: Any, wanted: list[Tensor]) -> list[Any]:
        run = self._partial_runs.get(handle)
        self._check_not_closed()  # after the look-up: a close forgets the runs
        if run is None:
            text = "Must run 'setup' before performing partial runs!"
            raise errors.InvalidArgumentError(None, None, text)
        try:
            with self._step() as step:
                return run.proceed(values, wanted, step)
        except errors.OpError as error:
            self._check_not_closing(error)
            raise
        finally:
            if run.is_over:
                self._partial_runs.pop(handle, None)


def _listing(elements: Iterable[Tensor | Operation]) -> str:
    return ",".join(element.name for element in elements)
