"""Loops of steps that a long program makes, whose memory should not grow with their number.

A step leaves nothing behind that the program could still reach. Each loop is a job whose call is a
step; `bench --job loop-training` times it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, Final

import numpy as np

from sessrun.conformance.benchmarks.jobs import Job, Prepared, equals
from sessrun.spec.cases.namespace import Namespace

__all__ = ["LOOPS"]

_BATCH: Final = 16
_FEATURES: Final = 8
_HIDDEN: Final = 16
#: Placeholders among which the loop of structures chooses what it fetches.
_FETCHED: Final = 5


def _training(tf: Namespace, device: str) -> Prepared:
    """A small network trained with Adam: fed batches, a fetched loss, a queue of losses."""
    graph = tf.Graph()
    with graph.as_default(), tf.device(device):
        x, y, loss = _network(tf)
        with tf.device(""):  # a queue is on the CPU
            queue = tf.FIFOQueue(4, tf.float32, [[]])
        put, taken = queue.enqueue([loss]), queue.dequeue()
        optimizer = tf.train.AdamOptimizer(1e-3)
        step = tf.train.get_or_create_global_step()
        train = optimizer.minimize(loss, global_step=step)
        initializer = tf.global_variables_initializer()
    session = tf.Session(graph=graph)
    session.run(initializer)
    draw, steps = np.random.default_rng(1), count(1)

    def call() -> tuple[int, float]:
        rows = draw.standard_normal((_BATCH, _FEATURES)).astype(np.float32)
        feeds = {x: rows, y: rows.sum(1, keepdims=True)}
        session.run(put, feeds)
        before = float(session.run(taken))
        _, fetched = session.run([train, loss], feeds)
        return next(steps), before - float(fetched)

    def checked() -> tuple[int, float, int]:
        number, apart = call()
        return number, apart, int(session.run(step))

    def check(got: tuple[int, float, int]) -> str | None:
        number, apart, counted = got
        if counted != number:
            return f"after {number} steps the global step is {counted}"
        if not abs(apart) < 1e-3:
            return f"the loss of the queue is {apart} above that of the step"
        return None

    return Prepared(call, check, session.close, checked)


def _network(tf: Namespace) -> tuple[Any, Any, Any]:
    """The placeholders of a network with one hidden layer, and its loss."""
    x = tf.placeholder(tf.float32, [None, _FEATURES])
    y = tf.placeholder(tf.float32, [None, 1])
    draw = np.random.default_rng(2)
    weights = [
        tf.get_variable(name, initializer=draw.standard_normal(shape).astype(np.float32))
        for name, shape in (("w1", (_FEATURES, _HIDDEN)), ("b1", (_HIDDEN,)), ("w2", (_HIDDEN, 1)))
    ]
    hidden = tf.nn.relu(tf.matmul(x, weights[0]) + weights[1])
    return x, y, tf.reduce_mean(tf.square(tf.matmul(hidden, weights[2]) - y))


def _sums(tf: Namespace, device: str) -> tuple[Any, Any, list[Any]]:
    """A graph with a placeholder, and its sums with 0, 1, 2, ...."""
    graph = tf.Graph()
    with graph.as_default(), tf.device(device):
        x = tf.placeholder(tf.float32, [], name="x")
        return graph, x, [tf.add(x, float(number)) for number in range(_FETCHED)]


def _structures(tf: Namespace, device: str) -> Prepared:
    """A new dict of fetches in each step, and a callable that is made and dropped."""
    graph, x, sums = _sums(tf, device)
    session = tf.Session(graph=graph)
    order = count()

    def call() -> Any:
        first = next(order) % _FETCHED
        fetches = {f"sum{number}": [sums[number], (sums[first],)] for number in range(_FETCHED)}
        got = session.run(fetches, {x: np.float32(first)})
        new = session.make_callable([sums[first]], [x])
        return [
            *(got[f"sum{number}"][0] - first for number in range(_FETCHED)),
            new(1.0)[0] - 1 - first,
        ]

    return Prepared(call, equals([*range(_FETCHED), 0]), session.close)


def _sessions(tf: Namespace, device: str) -> Prepared:
    """A session that is opened, runs its variable's initializer and an update, and is closed."""
    graph = tf.Graph()
    with graph.as_default(), tf.device(device):
        variable = tf.get_variable("v", initializer=np.zeros(256, np.float32), use_resource=True)
        update, initializer = variable.assign_add(np.ones(256, np.float32)), variable.initializer

    def call() -> Any:
        with tf.Session(graph=graph) as session:
            session.run(initializer)
            return session.run(update)

    return Prepared(call, equals(np.ones(256)), lambda: None)


def _graphs(tf: Namespace, device: str) -> Prepared:
    """A graph that is built, differentiated, run in a session, and dropped."""

    def call() -> Any:
        graph = tf.Graph()
        with graph.as_default(), tf.device(device):
            x = tf.placeholder(tf.float32, [])
            (slope,) = tf.gradients(tf.square(x) * 3.0, [x])
        with tf.Session(graph=graph) as session:
            return session.run(slope, {x: np.float32(2)})

    return Prepared(call, equals(12.0), lambda: None)


def _failures(tf: Namespace, device: str) -> Prepared:
    """Three runs that fail: in the feed, in an operation, and in a look-up by name."""
    graph = tf.Graph()
    with graph.as_default(), tf.device(device):
        x = tf.placeholder(tf.int32, [])
        reshaped = tf.reshape(tf.zeros([4]), tf.stack([x]))
    session = tf.Session(graph=graph)

    def call() -> int:
        failed = 0
        for fetches, value in ((reshaped, [1, 2]), (reshaped, 3), ("none:0", 4)):
            try:
                session.run(fetches, {x: value})
            except (ValueError, tf.errors.InvalidArgumentError):
                failed += 1
        return failed

    return Prepared(call, equals(3), session.close)


def _loop(name: str, summary: str, prepare: Callable[[Namespace, str], Prepared]) -> Job:
    return Job(f"loop-{name}", summary, prepare)


#: The loops by the names that `sessrun leaks --loop` takes.
LOOPS: Final[dict[str, Job]] = {
    name: _loop(name, summary, prepare)
    for name, summary, prepare in (
        ("training", "step of Adam with fed batches, a fetched loss and a queue", _training),
        ("structures", "run of a new dict of fetches, and a new callable", _structures),
        ("sessions", "session opened, its variable initialized and updated, closed", _sessions),
        ("graphs", "graph built, differentiated, run and dropped", _graphs),
        ("failures", "three runs that fail: a feed, an operation, a name", _failures),
    )
}
