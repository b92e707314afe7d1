"""`Benchmark`: timed runs of operations, as methods of a class, and what runs them all."""

from __future__ import annotations

import inspect
import logging
import re
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sessrun.reference.graph import default_session
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.managed.timeline import Timeline
from sessrun.reference.session.resolve.feeds import FeedDict
from sessrun.reference.session.resolve.fetches import Fetches
from sessrun.reference.session.session import Session
from sessrun.spec.proto import ConfigProto, RewriterConfig, RunMetadata, RunOptions

__all__ = ["Benchmark", "benchmark_config", "run_benchmarks"]

#: Every class of benchmarks, in the order they were defined.
_CLASSES: Final[list[type[Benchmark]]] = []


class Benchmark:
    """Benchmarks: the methods of a derived class whose names begin with `benchmark`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.is_abstract():
            _CLASSES.append(cls)

    @classmethod
    def is_abstract(cls) -> bool:
        """Whether the class has no benchmarks to run."""
        return cls is Benchmark

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: Mapping[str, str | float] | None = None,
        name: str | None = None,
        metrics: Sequence[Mapping[str, str | float]] | None = None,
    ) -> None:
        """Print the measurements.

        Args:
          iters: how many runs there were.
          cpu_time: the seconds of the processor in a run.
          wall_time: the seconds of a run.
          throughput: megabytes a second.
          extras: anything else, by name.
          name: the benchmark's; that of the method which calls this, if None.
          metrics: dicts with `name` and `value`, and `min_value` and `max_value` if there are.

        Raises:
          TypeError: `extras` is no dict, or `metrics` no list of such dicts.

        """
        if extras is not None and not isinstance(extras, dict):
            raise TypeError("extras must be a dict")
        if metrics is not None and not isinstance(metrics, list):
            raise TypeError("metrics must be a list")
        for metric in metrics or ():
            for key in ("name", "value"):
                if key not in metric:
                    raise TypeError(f"metric must has a '{key}' field")
        figures = {
            "iters": iters,
            "cpu_time": cpu_time,
            "wall_time": wall_time,
            "throughput": throughput,
            **(extras or {}),
            **{metric["name"]: metric["value"] for metric in metrics or ()},
        }
        lines = [f"  {key}: {value}" for key, value in figures.items() if value is not None]
        full = f"{type(self).__name__}.{name or self._caller()}"
        sys.stdout.write("\n".join([f"benchmark {full}", *lines]) + "\n")

    def _caller(self) -> str:
        """The name of the benchmark that called this: the outermost running method of `self`."""
        frames = reversed(inspect.stack(context=0))
        return next(frame.function for frame in frames if frame.frame.f_locals.get("self") is self)

    def run_op_benchmark(
        self,
        sess: Session,
        op_or_tensor: Tensor | Operation,
        feed_dict: FeedDict | None = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: dict[str, Any] | None = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Time the runs of an operation, report the times, and return the report.

        Args:
          sess: the session.
          op_or_tensor: what to run.
          feed_dict: what to feed in each run.
          burn_iters: how many runs not to count, first.
          min_iters: how many to time.
          store_trace: whether to return the trace of one more run, as
            `full_trace_chrome_format` among the extras.
          store_memory_usage: whether to report the most memory in use in one more run, as
            `allocator_maximum_num_bytes_ALLOCATOR`.
          name: the benchmark's; that of the method which calls this, if None.
          extras: what to report besides.
          mbs: how many megabytes a run moves.

        """
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(op_or_tensor, feed_dict=feed_dict)
            times.append(time.perf_counter() - start)
        extras = {} if extras is None else extras
        unreported: dict[str, Any] = {}
        if store_trace or store_memory_usage:
            timeline = _timeline(sess, op_or_tensor, feed_dict)
            if store_trace:
                unreported["full_trace_chrome_format"] = timeline.generate_chrome_trace_format()
            if store_memory_usage:
                maximums = timeline.analyze_step_stats(show_memory=True).allocator_maximums
                for allocator, most in maximums.items():
                    extras[f"allocator_maximum_num_bytes_{allocator}"] = most.num_bytes
        median = statistics.median(times) if times else -1
        values: dict[str, Any] = {
            "iters": min_iters,
            "wall_time": median,
            "extras": extras,
            "name": name,
            "throughput": mbs / median,
        }
        self.report_benchmark(**values)
        unreported["wall_time_mean"] = statistics.fmean(times) if times else -1
        unreported["wall_time_stdev"] = statistics.stdev(times) if len(times) > 1 else -1
        extras.update(unreported)
        return values

    def evaluate(self, tensors: object) -> Any:
        """The values of tensors in the default session.

        Raises:
          ValueError: no session is the default one.

        """
        session = default_session.get_default_session()
        if session is None:
            raise ValueError("evaluate needs a default session")
        return session.run(tensors)


def _timeline(session: Session, fetches: Fetches, feed_dict: FeedDict | None) -> Timeline:
    """The timeline of one traced run."""
    options = RunOptions(trace_level=RunOptions.FULL_TRACE)
    metadata = RunMetadata()
    session.run(fetches, feed_dict=feed_dict, options=options, run_metadata=metadata)
    return Timeline(metadata.step_stats)


def benchmark_config() -> ConfigProto:
    """The configuration of a session to benchmark in: without dependency optimisation."""
    config = ConfigProto()
    config.graph_options.rewrite_options.dependency_optimization = RewriterConfig.OFF
    return config


def run_benchmarks(pattern: str) -> None:
    """Run the benchmarks whose `module.Class.method` contains a match of a pattern; "all" runs all.

    Raises:
      ValueError: no benchmark matches.

    """
    is_any = False
    for cls in _CLASSES:
        chosen = [
            name
            for name in dir(cls)
            if name.startswith("benchmark")
            and callable(getattr(cls, name))
            and (pattern == "all" or re.search(pattern, f"{cls.__module__}.{cls.__name__}.{name}"))
        ]
        if chosen:
            is_any = True
            benchmark = cls()
            for name in chosen:
                logging.getLogger("sessrun").info("running %s.%s", cls.__name__, name)
                getattr(benchmark, name)()
    if not is_any:
        raise ValueError(f"No benchmarks matched the pattern: '{pattern}'")
