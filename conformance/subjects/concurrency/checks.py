"""Named checks of what several threads do at once on one session or one graph."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Element, Fetches, Session, Tensor, Value
from sessrun.spec.forms import Json

__all__ = [
    "distinct_names",
    "ends_of_blocked_runs",
    "growing",
    "own_arguments",
    "own_feeds",
    "two_sessions",
    "updates",
]

#: Far longer than any thread here takes, in seconds; one that is alive then hangs.
_LONG_S: Final = 20.0


def _at_once(count: int, work: Callable[[int], None]) -> None:
    """Call `work(0)`, `work(1)`, … in threads that begin together.

    Raises:
      TimeoutError: a thread does not end.
      BaseException: what a thread raised, the first of them.

    """
    together = threading.Barrier(count)
    faults: list[BaseException] = []

    def begin(number: int) -> None:
        try:
            together.wait(_LONG_S)
            work(number)
        except BaseException as error:  # noqa: BLE001 - raised again below
            faults.append(error)

    threads = [threading.Thread(target=begin, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_LONG_S)
    if faults:
        raise faults[0]
    if any(thread.is_alive() for thread in threads):
        raise TimeoutError("a thread does not end")


def _computing(tf: Namespace) -> tuple[Tensor, Fetches]:
    x = tf.placeholder(tf.int32, [2], name="x")
    return x, [x * 3 + 1, {"x": x}]


def own_feeds(tf: Namespace, threads: int, runs: int) -> int:
    """How many runs in several threads gave a value that does not follow from their feed."""
    wrong: list[int] = []
    with tf.Graph().as_default() as graph:
        x, fetches = _computing(tf)
    with tf.Session(graph=graph) as session:

        def work(number: int) -> None:
            for index in range(runs):
                fed = np.array([number, index], np.int32)
                tripled, echo = session.run(fetches, {x: fed})
                if not (np.array_equal(tripled, fed * 3 + 1) and np.array_equal(echo["x"], fed)):
                    wrong.append(number)

        _at_once(threads, work)
    return len(wrong)


def own_arguments(tf: Namespace, threads: int, calls: int) -> int:
    """How many calls of one callable gave a value that does not follow from the argument."""
    wrong: list[int] = []
    with tf.Graph().as_default() as graph:
        x, fetches = _computing(tf)
    with tf.Session(graph=graph) as session:
        call = session.make_callable(fetches, [x])

        def work(number: int) -> None:
            for index in range(calls):
                given = np.array([number, index], np.int32)
                tripled, echo = call(given)
                if not (
                    np.array_equal(tripled, given * 3 + 1) and np.array_equal(echo["x"], given)
                ):
                    wrong.append(number)

        _at_once(threads, work)
    return len(wrong)


def growing(tf: Namespace, threads: int, rounds: int) -> int:
    """How many runs of operations that were just added gave a wrong value, in several threads."""
    wrong: list[int] = []
    graph = tf.Graph()
    with tf.Session(graph=graph) as session:
        for index in range(rounds):

            def work(number: int, index: int = index) -> None:
                with graph.as_default():
                    added = tf.constant(number) + tf.constant(1000 * index)
                if session.run(added) != number + 1000 * index:
                    wrong.append(number)

            _at_once(threads, work)
    return len(wrong)


def distinct_names(tf: Namespace, threads: int, operations: int) -> list[int]:
    """How many names several threads' operations have, and how many operations the graph has.

    Each thread adds `operations` constants that all ask for the same name.
    """
    names: list[str] = []
    graph = tf.Graph()

    def work(_: int) -> None:
        with graph.as_default():
            operations_built = [tf.constant(1, name="same") for _index in range(operations)]
        names.extend(constant.op.name for constant in operations_built)

    _at_once(threads, work)
    listed = [op.name for op in graph.get_operations()]
    return [len(set(names)), len(listed), len(set(listed) & set(names))]


def updates(tf: Namespace, threads: int, runs: int, elements: int, *, resource: bool) -> list[int]:
    """Add ones to a variable in several threads, with locking.

    Returns:
      the smallest and the largest element then, as ints.

    """
    with tf.Graph().as_default() as graph:
        zeros = np.zeros(elements, np.float32)
        variable = tf.get_variable("v", initializer=zeros, use_resource=resource)
        bump = tf.assign_add(variable, np.ones(elements, np.float32), use_locking=True).op
        start = variable.initializer
    with tf.Session(graph=graph) as session:
        session.run(start)

        def work(_: int) -> None:
            for _index in range(runs):
                session.run(bump)

        _at_once(threads, work)
        value = session.run(variable)
    return [int(value.min()), int(value.max())]


def two_sessions(tf: Namespace) -> list[Json]:
    """The results of a run and of a blocked run, beside another session of the graph.

    One session's run waits for an element while the other session computes; another run of the
    other session waits, and its session is closed; then the element comes.

    Returns:
      the value computed, and the element or the class of what the first run raised.

    """
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.int32, [])
        tokens, queue = (tf.FIFOQueue(8, tf.int32, shapes=[[]]) for _ in range(2))
        with tf.control_dependencies([tokens.enqueue(0)]):
            dequeued = queue.dequeue()
        arrived, put, computed = tokens.dequeue(), queue.enqueue(x), x + 1
    first, second = tf.Session(graph=graph), tf.Session(graph=graph)
    got: dict[Session, Value] = {}

    def wait(session: Session) -> None:
        try:
            got[session] = session.run(dequeued)
        except Exception as error:  # noqa: BLE001 - its class is the answer
            got[session] = type(error).__name__

    threads = [threading.Thread(target=wait, args=(s,), daemon=True) for s in (first, second)]
    for thread, session in zip(threads, (first, second), strict=True):
        thread.start()
        session.run(arrived)
    value = second.run(computed, {x: 4})
    second.close()
    first.run(put, {x: 7})
    for thread in threads:
        thread.join(_LONG_S)
    first.close()
    return [value, got.get(first)]


def ends_of_blocked_runs(tf: Namespace) -> Mapping[str, str]:
    """The class of the error of a blocked run, by what ended it.

    The keys are `close of the queue`, `cancelling close` and `close of the session`.
    """
    with tf.Graph().as_default() as graph:
        tokens, queue = tf.FIFOQueue(8, tf.int32, shapes=[[]]), tf.FIFOQueue(1, tf.int32)
        full = tf.FIFOQueue(1, tf.int32, shapes=[[]])
        with tf.control_dependencies([tokens.enqueue(0)]):
            dequeued, enqueued = queue.dequeue(), full.enqueue(2)
        arrived, fill = tokens.dequeue(), full.enqueue(1)
        close, cancel = queue.close(), full.close(cancel_pending_enqueues=True)

    def end_of(blocked: Element, end: Callable[[Session], object]) -> str:
        session = tf.Session(graph=graph)
        session.run(fill)
        raised: list[str] = []

        def wait() -> None:
            try:
                session.run(blocked)
            except Exception as error:  # noqa: BLE001 - its class is the answer
                raised.append(type(error).__name__)

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        session.run(arrived)
        end(session)
        thread.join(_LONG_S)
        session.close()
        return raised[0] if raised else "none"

    return {
        "close of the queue": end_of(dequeued, lambda session: session.run(close)),
        "cancelling close": end_of(enqueued, lambda session: session.run(cancel)),
        "close of the session": end_of(dequeued, lambda session: session.close()),
    }
