"""Named checks of what the threads of queue runners do, and of files that readers read."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from sessrun.spec.cases.library import Batch, Queue, QueueRunner
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Session
from sessrun.spec.forms import Json

__all__ = [
    "filled_queue",
    "late_thread",
    "raised_by_a_runner",
    "started_runners",
    "stopped_runner",
    "whole_file",
]

#: Far longer than any thread here takes, in seconds.
_LONG_S: Final = 20.0


def _counting(tf: Namespace, count: int, capacity: int = 10) -> tuple[Queue, QueueRunner]:
    """A queue and its runner, which enqueues 0, 1, … below `count`."""
    counter = tf.get_variable(f"counter{count}", initializer=0, use_resource=False)
    queue = tf.FIFOQueue(capacity, tf.int32, shapes=[[]])
    put = queue.enqueue(counter.count_up_to(count))
    return queue, tf.train.QueueRunner(queue, [put])


def _emptied(tf: Namespace, session: Session, taken: Batch) -> list[Json]:
    """The elements in their order, and then the class of the error that ends the queue."""
    elements: list[Json] = []
    options = tf.RunOptions(timeout_in_ms=int(_LONG_S * 1000))
    try:
        while len(elements) < 100:
            elements.append(int(session.run(taken, options=options)))
    except tf.errors.OpError as error:
        elements.append(type(error).__name__)
    return elements


def _ended(threads: Sequence[threading.Thread]) -> bool:
    for thread in threads:
        thread.join(_LONG_S)
    return not any(thread.is_alive() for thread in threads)


def filled_queue(tf: Namespace) -> list[Json]:
    """What comes out of a queue that a runner's thread fills with three elements.

    Returns:
      the elements, then the class of the error at their end, then whether the thread ended.

    """
    with tf.Graph().as_default() as graph:
        queue, runner = _counting(tf, 3)
        taken, start = queue.dequeue(), tf.global_variables_initializer()
    with tf.Session(graph=graph) as session:
        session.run(start)
        threads = runner.create_threads(session, daemon=True, start=True)
        return [*_emptied(tf, session, taken), _ended(threads)]


def started_runners(tf: Namespace) -> list[list[Json]]:
    """What comes out of two queues whose runners `start_queue_runners` starts."""
    with tf.Graph().as_default() as graph:
        queues = []
        for count in (2, 4):
            queue, runner = _counting(tf, count)
            tf.train.add_queue_runner(runner)
            queues.append(queue.dequeue())
        start = tf.global_variables_initializer()
        with tf.Session(graph=graph) as session:
            session.run(start)
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            elements = [_emptied(tf, session, taken) for taken in queues]
            coordinator.request_stop()
            coordinator.join(threads, stop_grace_period_secs=_LONG_S)
    return elements


def stopped_runner(tf: Namespace) -> list[bool]:
    """Stop a runner whose thread waits for room.

    Returns:
      whether its threads ended, and whether its queue is closed then.

    """
    with tf.Graph().as_default() as graph:
        queue = tf.FIFOQueue(1, tf.int32, shapes=[[]])
        runner = tf.train.QueueRunner(queue, [queue.enqueue(1)])
        closed, taken = queue.is_closed(), queue.dequeue()
    with tf.Session(graph=graph) as session:
        coordinator = tf.train.Coordinator()
        threads = runner.create_threads(session, coordinator, daemon=True, start=True)
        session.run(taken)  # the runner runs
        coordinator.request_stop()
        ended = _ended(threads)
        return [ended, bool(session.run(closed))]


def raised_by_a_runner(tf: Namespace) -> str:
    """The class of what `join` raises when a runner's operation has failed."""
    with tf.Graph().as_default() as graph:
        queue = tf.FIFOQueue(1, tf.int32, shapes=[[]])
        zero = tf.placeholder_with_default(0, [])
        runner = tf.train.QueueRunner(queue, [queue.enqueue(1 // zero)])
    with tf.Session(graph=graph) as session:
        coordinator = tf.train.Coordinator()
        threads = runner.create_threads(session, coordinator, daemon=True, start=True)
        return _class_of(lambda: coordinator.join(threads, stop_grace_period_secs=_LONG_S))


def _class_of(action: Callable[[], None]) -> str:
    try:
        action()
    except Exception as error:  # noqa: BLE001 - its class is the answer
        return type(error).__name__
    return "none"


def late_thread(tf: Namespace) -> str:
    """The class of what `join` raises when a thread goes on after the grace period."""
    end = threading.Event()
    late = threading.Thread(target=end.wait, args=(_LONG_S,), daemon=True)
    late.start()
    coordinator = tf.train.Coordinator()
    coordinator.request_stop()
    try:
        return _class_of(lambda: coordinator.join([late], stop_grace_period_secs=0.05))
    finally:
        end.set()
        late.join()


def whole_file(tf: Namespace, contents: list[bytes]) -> list[Json]:
    """What a WholeFileReader reads of files with these contents.

    Returns:
      for each file whether its key is its name, and its value.

    """
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default() as graph:
        names = []
        for number, content in enumerate(contents):
            path = Path(folder, f"part {number}")
            path.write_bytes(content)
            names.append(str(path))
        queue = tf.FIFOQueue(10, tf.string, shapes=[[]])
        put, (key, value) = queue.enqueue_many([names]), tf.WholeFileReader().read(queue)
        with tf.Session(graph=graph) as session:
            session.run(put)
            read = [session.run([key, value]) for _ in names]
    return [
        [got == name.encode(), bytes(data)] for name, (got, data) in zip(names, read, strict=True)
    ]
