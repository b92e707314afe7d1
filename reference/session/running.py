"""RunningSession: `run` from call to result, and what it tells beside the values.

The first run of a signature resolves, prunes, places and compiles; a later one finds the
signature, converts its feeds and executes. A run with options or metadata takes the long way:
it may be traced, and it writes its RunMetadata only once it has succeeded. Clauses: RUN, TRACING.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessrun.reference.graph.graph import Graph
from sessrun.reference.session.base import BaseSession
from sessrun.reference.session.plan import pruning as prune
from sessrun.reference.session.plan.compiler import compile_plan
from sessrun.reference.session.resolve.feeds import feeder, resolve_feeds
from sessrun.reference.session.resolve.fetches import FetchStructure
from sessrun.reference.session.resolve.signature import Signature, cache_key, is_cacheable
from sessrun.reference.session.trace import run_reports as report
from sessrun.reference.session.trace.cost_model import CostSchedule
from sessrun.spec.proto import RunMetadata, RunOptions

__all__ = ["RunningSession"]


class RunningSession(BaseSession):
    """A session with `run`; arguments and errors: `BaseSession`."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._observed: dict[Any, report.Observed] = {}
        options = self._config.graph_options
        self._costs = CostSchedule(options.build_cost_model, options.build_cost_model_after)

    def _release(self) -> None:
        super()._release()
        self._observed = {}

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
          options: a RunOptions; what is false is none.
          run_metadata: a RunMetadata: what it held is replaced by what a successful run tells.

        Returns:
          For a Tensor an ndarray (a numpy scalar for a computed value of rank 0), for an
          Operation None.

        Raises:
          RuntimeError: the session is closed, or its graph is empty.
          TypeError: a fetch or a feed key is of an inappropriate type.
          ValueError: a fetch or a feed value is invalid.
          AttributeError: `options` or `run_metadata` is no message.
          OpError: an operation failed.

        Source: API reference, `tf.Session.run`.

        """
        if options is not None or run_metadata is not None:
            return self._long_run(fetches, feed_dict, options, run_metadata)
        try:
            signature = self._signatures[cache_key(fetches, feed_dict or ())]
        except (KeyError, TypeError):
            return self._long_run(fetches, feed_dict)
        arrays = signature.convert(feed_dict.values()) if feed_dict else ()
        return self._execute(signature, arrays)

    def _long_run(
        self, fetches: Any, feed_dict: Any, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """A run whose signature is not known yet, or that has options or something to tell."""
        asked = report.read_options(options)
        self._check_ready()
        signature, arrays = self._resolved(fetches, feed_dict)
        if signature.plan is not None and self._extent != len(self._nodes):
            self._extend()
        return self._tell(signature, arrays, asked, run_metadata)

    def _tell(
        self,
        signature: Signature,
        arrays: Sequence[Any],
        asked: RunOptions | None,
        run_metadata: Any,
    ) -> Any:
        """Execute, and put what the run tells in place of what `run_metadata` held."""
        told = RunMetadata()
        value = self._told_run(signature, arrays, asked, told)
        report.tell(run_metadata, told)
        return value

    def _resolved(self, fetches: Any, feed_dict: Any) -> tuple[Signature, list[Any]]:
        """The signature of a run, remembered if it can be, and the arrays of its feeds."""
        fed = resolve_feeds(self._graph, feed_dict) if feed_dict else {}
        feeders = tuple(feeder(self, tensor) for tensor in fed)
        arrays = [feed(value) for feed, value in zip(feeders, fed.values(), strict=True)]
        structure = FetchStructure(self, fetches)
        signature = self._signature(structure, tuple(fed), feeders)
        keys = feed_dict or ()
        # A cost model counts every run: none may take the short way.
        if is_cacheable(fetches, keys) and not self._cancelled and not self._costs.is_on:
            with self._lock:
                if not self._closed:
                    self._signatures[cache_key(fetches, keys)] = signature
        return signature, arrays

    def _told_run(
        self,
        signature: Signature,
        arrays: Sequence[Any],
        asked: RunOptions | None,
        told: RunMetadata,
    ) -> Any:
        """Execute, traced if that is asked for, and write into `told` what the run tells."""
        if signature.plan is None:  # every fetch is fed: nothing runs
            return signature.execute(arrays)
        report.check_options(asked, self._config)
        costs = self._costs.is_on and self._costs.is_due(signature.key)
        trace = None
        traced = costs or report.wants_trace(asked)
        if traced or report.wants_report(asked):
            trace = self._observe(signature).trace(signature, asked)
            with self._step(asked) as step:
                value = trace.run(arrays, step)
        else:
            value = self._launch(signature, arrays, asked)
        report.write_session(told, self._config)
        if traced or report.wants_graphs(asked):
            told_of = trace if traced else None
            graphs = report.wants_graphs(asked)
            self._observe(signature).write(told, told_of, graphs=graphs, costs=costs)
        return value

    def _observe(self, signature: Signature) -> report.Observed:
        """What is needed to trace a signature and to tell of it: made once."""
        with self._lock:
            observed = self._observed.get(signature.key)
            if observed is None:
                ops = prune.prune(signature.wanted, signature.ops, frozenset(signature.fed))
                placed = self._placer.placed  # for the signature's own plan
                plan = compile_plan(
                    ops, signature.wanted, signature.fed, placed, self._bindings, traced=True
                )
                observed = report.Observed(signature, plan, ops, placed, self._devices[0])
                self._observed[signature.key] = observed
        return observed
