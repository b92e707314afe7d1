"""The benchmark jobs: what is timed, written on the `tf` namespace, with a check of its result.

A job is prepared once per backend (graph, session, warm-up) and then only its call is timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np

from sessrun.adapters.peer import Peer
from sessrun.conformance.benchmarks import networks
from sessrun.conformance.benchmarks.networks import Built
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import FeedDict, Operation, Session, Tensor, Value

__all__ = ["JOBS", "Job", "Prepared", "equals", "opened", "queue_job", "run_job"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A job made ready on one backend.

    Attributes:
      call: what is timed.
      check: what is wrong with a result of `checked`, or None.
      close: frees the session.
      checked: returns what `check` takes; `call` does where None.
      rotated: calls like `call`, each with inputs of its own; all inputs together are too large
        for the device's cache. Empty where no call is measured with a cold cache.
      settle: waits for what `call` started, where the backend has no clock of the device.

    """

    call: Callable[[], Any]
    check: Callable[[Any], str | None]
    close: Callable[[], None]
    checked: Callable[[], Any] | None = None
    rotated: tuple[Callable[[], Any], ...] = ()
    settle: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A benchmark job.

    Attributes:
      name: its name in reports.
      summary: what is timed, in one sentence.
      prepare: from a namespace and a device string to the prepared job.
      nbytes: bytes that one call feeds and fetches, for throughput; where `dtype` is given, bytes
        that it reads and writes on the device.
      flops: floating-point operations of one call.
      dtype: the dtype it computes in, where its speed is compared with the device's ceilings.
      peer: from a peer to the prepared job; None where peers do not run it.
      held_bytes: device memory that the prepared job occupies on one backend, approximately.
      working_bytes: device memory that a call needs in addition, approximately.
      size: the size in its name, in the same unit.
      resized: from a size and a number of input sets to rotate to the job of that size; None if
        the job has one size only.

    """

    name: str
    summary: str
    prepare: Callable[[Namespace, str], Prepared]
    nbytes: int = 0
    flops: int = 0
    dtype: str = ""
    peer: Callable[[Peer], Prepared] | None = None
    held_bytes: int = 0
    working_bytes: int = 0
    size: int = 0
    resized: Callable[[int, int], Job] | None = None


def equals(want: Any, rtol: float = 0.0, atol: float = 0.0) -> Callable[[Any], str | None]:
    """The check that a result equals `want` within tolerances; `want` may be None."""

    def check(got: Any) -> str | None:
        if want is None:
            return None if got is None else f"want None, got {got!r}"
        array = np.asarray(got)
        if array.shape != np.shape(want) or not np.allclose(array, want, rtol=rtol, atol=atol):
            return f"want {np.asarray(want).ravel()[:3]}…, got {array.ravel()[:3]}…"
        return None

    return check


_F = TypeVar("_F")


def opened(
    tf: Namespace, device: str, build: Callable[[], tuple[_F, FeedDict, Value, Operation | None]]
) -> tuple[Session, _F, FeedDict, Value]:
    """Build in a new graph on the device, open a session, run the initializer."""
    graph = tf.Graph()
    with graph.as_default(), tf.device(device):
        fetch, feeds, want, initializer = build()
    session = tf.Session(graph=graph)
    if initializer is not None:
        session.run(initializer)
    return session, fetch, feeds, want


def run_job(
    build: Callable[[Namespace], Built], rtol: float = 0.0, atol: float = 0.0
) -> Callable[[Namespace, str], Prepared]:
    """A job that times `session.run(fetch, feeds)`."""

    def prepare(tf: Namespace, device: str) -> Prepared:
        session, fetch, feeds, want = opened(tf, device, lambda: build(tf))
        run = session.run
        call = (lambda: run(fetch, feeds)) if feeds else (lambda: run(fetch))
        return Prepared(call, equals(want, rtol, atol), session.close)

    return prepare


def _no_op(tf: Namespace) -> Built:
    return tf.no_op(), {}, None, None


def _fetch_scalar(tf: Namespace) -> Built:
    return tf.constant(1.5), {}, 1.5, None


def _scalar_add(tf: Namespace) -> Built:
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    return tf.add(x, y), {x: np.float32(1), y: np.float32(2)}, 3.0, None


def _feed(size: int) -> Callable[[Namespace], Built]:
    def build(tf: Namespace) -> Built:
        x = tf.placeholder(tf.float32, [None])
        with tf.control_dependencies([x]):
            done = tf.constant(0.0)
        return done, {x: np.zeros(size, np.float32)}, 0.0, None

    return build


def _fetch(size: int) -> Callable[[Namespace], Built]:
    def build(tf: Namespace) -> Built:
        value = np.arange(size, dtype=np.float32)
        variable = tf.get_variable("v", initializer=value, use_resource=True)
        return variable.read_value(), {}, value, variable.initializer

    return build


def _chain(length: int) -> Callable[[Namespace], Built]:
    def build(tf: Namespace) -> Built:
        x = tf.placeholder(tf.float32, [])
        y = x
        for _ in range(length):
            y = tf.add(y, 1.0)
        return y, {x: np.float32(0)}, float(length), None

    return build


def _matmul(size: int) -> Callable[[Namespace], Built]:
    def build(tf: Namespace) -> Built:
        left = np.random.default_rng(1).standard_normal((size, size)).astype(np.float32)
        right = np.eye(size, dtype=np.float32) * 2
        a, b = tf.placeholder(tf.float32, [size, size]), tf.placeholder(tf.float32, [size, size])
        return tf.matmul(a, b), {a: left, b: right}, left * 2, None

    return build


def _variable_update(tf: Namespace, device: str) -> Prepared:
    def build() -> Any:
        variable = tf.get_variable("v", initializer=np.float32(0), use_resource=True)
        return variable.assign_add(1.0), {}, None, variable.initializer

    session, update, _, _ = opened(tf, device, build)
    calls = iter(range(1, 10**9))

    def call() -> tuple[int, Any]:
        return next(calls), session.run(update)

    def check(got: tuple[int, Any]) -> str | None:
        return None if float(got[1]) == got[0] else f"after {got[0]} updates it is {got[1]}"

    return Prepared(call, check, session.close)


def queue_job(count: int) -> Callable[[Namespace, str], Prepared]:
    """A job that enqueues and dequeues `count` elements at once, or a single one if it is 0."""

    def prepare(tf: Namespace, device: str) -> Prepared:
        def build() -> tuple[tuple[Operation, Tensor], FeedDict, Value, None]:
            queue = tf.FIFOQueue(max(1, count), tf.float32, shapes=[[]])
            value = np.arange(max(1, count), dtype=np.float32)
            put = queue.enqueue_many([value]) if count else queue.enqueue(value[0])
            taken = queue.dequeue_many(count) if count else queue.dequeue()
            return (put, taken), {}, value if count else value[0], None

        session, (put, taken), _, want = opened(tf, device, build)
        run = session.run

        def call() -> Any:
            run(put)
            return run(taken)

        return Prepared(call, equals(want), session.close)

    return prepare


_CONSTRUCTED: Final = 100


def _graph_construction(tf: Namespace, device: str) -> Prepared:
    def call() -> Any:
        graph = tf.Graph()
        with graph.as_default(), tf.device(device):
            x = tf.placeholder(tf.float32, [])
            for _ in range(_CONSTRUCTED):
                x = tf.identity(x)
        return len(graph.get_operations())

    return Prepared(call, equals(_CONSTRUCTED + 1), lambda: None)


JOBS: Final = (
    Job("no-op", "run(no_op)", run_job(_no_op)),
    Job("fetch-4B", "run(constant scalar)", run_job(_fetch_scalar), 4),
    Job("fetch-4MB", "run(read of a variable of 4 MB)", run_job(_fetch(2**20)), 2**22),
    Job("feed-4B", "run with 4 bytes fed", run_job(_feed(1)), 4),
    Job("feed-4MB", "run with 4 MB fed", run_job(_feed(2**20)), 2**22),
    Job("scalar-add", "run(x + y), both scalars fed", run_job(_scalar_add), 12),
    Job("chain-100", "run of 100 scalar additions in a row", run_job(_chain(100)), 8),
    Job(
        "matmul-256",
        "run(matmul) of two fed 256 by 256 matrices",
        run_job(_matmul(256), 1e-5),
        3 * 2**18,
        2 * 256**3,
    ),
    Job(
        "conv-28",
        "run of a 5 by 5 convolution of 32 images of 28 by 28 by 32, and its gradients",
        run_job(networks.convolution(28, 32, 5, 64, 32), 1e-4),
        0,
        6 * 32 * 24 * 24 * 64 * 25 * 32,
    ),
    Job(
        "conv-56",
        "run of a 3 by 3 convolution of 8 images of 56 by 56 by 64, and its gradients",
        run_job(networks.convolution(56, 64, 3, 64, 8), 1e-4),
        0,
        6 * 8 * 54 * 54 * 64 * 9 * 64,
    ),
    Job(
        "max-pool",
        "run of a 2 by 2 maximum of 32 images of 28 by 28 by 32, and its gradient",
        run_job(networks.pooling("max", 28, 32, 32), 1e-5),
    ),
    Job(
        "avg-pool",
        "run of a 2 by 2 mean of 32 images of 28 by 28 by 32, and its gradient",
        run_job(networks.pooling("avg", 28, 32, 32), 1e-5),
    ),
    Job(
        "cnn-step",
        "run of a small network's loss and gradients for 32 images of 28 by 28",
        run_job(networks.cnn_step, 1e-4, 1e-6),
    ),
    Job("variable-update", "run(assign_add(1)) of a scalar resource variable", _variable_update),
    Job("queue-1", "run(enqueue) and run(dequeue) of a scalar", queue_job(0)),
    Job("queue-256", "run(enqueue_many) and run(dequeue_many) of 256 scalars", queue_job(256)),
    Job("graph-100", "construction of a graph of 100 operations", _graph_construction),
)
