"""What a cost is whose growth with a size is measured, and the costs of runs.

A size is a number of operations, fetches, elements, variables, iterations or threads. Each cost is
measured at sizes that are powers of two; docs/reports.md says how.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final, Literal

import numpy as np

from sessrun.conformance.benchmarks import dispatch
from sessrun.conformance.benchmarks.jobs import Prepared, equals, opened, queue_job, run_job
from sessrun.spec.cases.namespace import Namespace

__all__ = ["RUN_COSTS", "Cost", "Order", "Sized", "powers", "repeated"]

#: How a cost should grow with its size: not at all, or in proportion.
Order = Literal["constant", "linear"]
#: Calls before a cost that can be repeated is measured: generated code comes after some 20.
_WARM_UP: Final = 30


@dataclass(frozen=True, slots=True)
class Sized:
    """A cost of one size made ready on one backend.

    Attributes:
      ready: makes so many calls ready, which is not measured; what it returns makes them, and
        returns the result of the last.
      check: what is wrong with that result, or None.
      close: frees the session.
      warm_up: how many calls to make before any is measured.

    """

    ready: Callable[[int], Callable[[], Any]]
    check: Callable[[Any], str | None]
    close: Callable[[], None]
    warm_up: int


@dataclass(frozen=True, slots=True)
class Cost:
    """A cost that depends on a size.

    Attributes:
      name: its name in reports.
      about: what one call does, in words.
      quantity: of what the size is the number.
      order: how it should grow.
      sizes: at which it is measured, ascending.
      prepare: from a namespace, a device string and a size to the prepared cost.

    """

    name: str
    about: str
    quantity: str
    order: Order
    sizes: tuple[int, ...]
    prepare: Callable[[Namespace, str, int], Sized]


def powers(least: int, most: int) -> tuple[int, ...]:
    """The powers of two from 2**least to 2**most."""
    return tuple(2**exponent for exponent in range(least, most + 1))


def repeated(prepared: Prepared) -> Sized:
    """The cost of a call that can be repeated."""

    def ready(calls: int) -> Callable[[], Any]:
        def run_all() -> Any:
            result = None
            for _ in repeat(None, calls):
                result = prepared.call()
            return result

        return run_all

    return Sized(ready, prepared.check, prepared.close, _WARM_UP)


def _job(make: Callable[[int], Callable[[Namespace, str], Prepared]]) -> Callable[..., Sized]:
    """From what prepares a job of a size to what prepares the cost."""
    return lambda tf, device, size: repeated(make(size)(tf, device))


def _fetched(size: int) -> Callable[[Namespace], Any]:
    """A variable of so many elements, read: the caller's array is a copy."""

    def build(tf: Namespace) -> Any:
        values = np.arange(size, dtype=np.float32)
        variable = tf.get_variable("v", initializer=values, use_resource=True)
        return variable.read_value(), {}, values, variable.initializer

    return build


def _fed(size: int, *, as_list: bool) -> Callable[[Namespace], Any]:
    """A vector of so many elements fed, the last of which is fetched."""

    def build(tf: Namespace) -> Any:
        x = tf.placeholder(tf.float32, [None])
        values = np.arange(size, dtype=np.float32) % 1024
        fed = values.tolist() if as_list else values
        return x[-1], {x: fed}, float((size - 1) % 1024), None

    return build


def _elementwise(size: int) -> Callable[[Namespace], Any]:
    """Eight operations in a row on vectors of so many elements."""

    def build(tf: Namespace) -> Any:
        x = tf.placeholder(tf.float32, [None])
        y = x
        for _ in range(8):
            y = tf.add(y, 1.0)
        return y[-1], {x: np.zeros(size, np.float32)}, 8.0, None

    return build


def _queue_one_by_one(tf: Namespace, device: str, size: int) -> Sized:
    """So many elements enqueued in a run each, and then dequeued so."""

    def build() -> Any:
        queue = tf.FIFOQueue(size, tf.float32, shapes=[[]])
        value = tf.placeholder(tf.float32, [])
        return (queue.enqueue([value]), queue.dequeue(), value), {}, None, None

    session, (put, taken, value), _, _ = opened(tf, device, build)

    def call() -> Any:
        for number in range(size):
            session.run(put, {value: np.float32(number)})
        total = 0.0
        for _ in range(size):
            total += float(session.run(taken))
        return total

    return repeated(Prepared(call, equals(size * (size - 1) / 2, 1e-6), session.close))


def _threads(tf: Namespace, device: str, size: int) -> Sized:
    """Threads that make a few runs each in the same session, begun together."""
    runs = 20

    def build() -> Any:
        x = tf.placeholder(tf.float32, [])
        return tf.add(x, 1.0), {x: np.float32(1)}, None, None

    session, fetch, feeds, _ = opened(tf, device, build)

    def ready(calls: int) -> Callable[[], Any]:
        begin, results = threading.Event(), [0.0] * (size * calls)

        def body(index: int) -> None:
            begin.wait()
            for _ in repeat(None, runs):
                results[index] = float(session.run(fetch, feeds))

        threads = [threading.Thread(target=body, args=(index,)) for index in range(size * calls)]
        for thread in threads:
            thread.start()

        def run_all() -> Sequence[float]:
            begin.set()
            for thread in threads:
                thread.join()
            return [min(results, default=0.0), max(results, default=0.0)]

        return run_all

    return Sized(ready, equals([2.0, 2.0]), session.close, 1)


RUN_COSTS: Final = (
    Cost(
        "run-chain",
        "run of a chain of additions of a fed scalar",
        "operations",
        "linear",
        powers(8, 14),
        _job(lambda size: run_job(dispatch.chain(size))),
    ),
    Cost(
        "run-wide",
        "run of additions side by side, grouped",
        "operations",
        "linear",
        powers(7, 13),
        _job(lambda size: run_job(dispatch.independent(size))),
    ),
    Cost(
        "fetch-list",
        "run of a list of sums",
        "fetches",
        "linear",
        powers(6, 12),
        _job(lambda size: run_job(dispatch.fetch_list(size))),
    ),
    Cost(
        "fetch-elements",
        "run that fetches a variable",
        "elements",
        "linear",
        powers(11, 17),
        _job(lambda size: run_job(_fetched(size))),
    ),
    Cost(
        "feed-elements",
        "run that is fed an array",
        "elements",
        "linear",
        powers(16, 22),
        _job(lambda size: run_job(_fed(size, as_list=False))),
    ),
    Cost(
        "feed-list",
        "run that is fed a list of numbers",
        "elements",
        "linear",
        powers(10, 16),
        _job(lambda size: run_job(_fed(size, as_list=True))),
    ),
    Cost(
        "elementwise",
        "run of eight additions in a row of a fed array",
        "elements",
        "linear",
        powers(11, 17),
        _job(lambda size: run_job(_elementwise(size))),
    ),
    Cost(
        "variables",
        "run that updates variables of ten numbers",
        "variables",
        "linear",
        powers(5, 11),
        _job(lambda size: run_job(dispatch.variable_updates(size))),
    ),
    Cost(
        "queue",
        "elements enqueued in a run each, then dequeued in a run each",
        "elements",
        "linear",
        powers(5, 11),
        _queue_one_by_one,
    ),
    Cost(
        "queue-many",
        "one run that enqueues elements at once, one that dequeues them",
        "elements",
        "linear",
        powers(10, 16),
        _job(queue_job),
    ),
    Cost(
        "while-loop",
        "run of a loop that counts and adds",
        "iterations",
        "linear",
        powers(6, 12),
        _job(lambda size: run_job(dispatch.while_loop(size))),
    ),
    Cost(
        "threads",
        "20 runs of an addition in each of several threads, in one session",
        "threads",
        "linear",
        powers(1, 7),
        _threads,
    ),
)
