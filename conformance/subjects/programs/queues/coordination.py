"""Programs of coordinators, queue runners and the global step."""

from __future__ import annotations

import sys
import tempfile
import threading
from pathlib import Path

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.program import Action

__all__ = ["BEHAVIOURS"]

#: Far longer than any thread here takes.
LONG_S = 20.0


def _stopped(tf):
    coord = tf.train.Coordinator()
    ran: list[int] = []

    def work() -> None:
        while not coord.should_stop():
            ran.append(1)
            if len(ran) > 10:
                coord.request_stop()

    threads = [threading.Thread(target=work) for _ in range(2)]
    before = [coord.should_stop(), coord.joined, coord.wait_for_stop(0.01)]
    for thread in threads:
        thread.start()
    coord.join(threads, stop_grace_period_secs=LONG_S)
    after = [coord.should_stop(), coord.joined, coord.wait_for_stop(), len(ran) > 10]
    coord.clear_stop()
    return [before, after, coord.should_stop(), coord.joined]


def _failed(tf):
    def stopped(error, clean=None):
        coord = tf.train.Coordinator(clean)
        coord.request_stop(error)
        return [
            coord.should_stop(),
            *attempt(coord.join, coord.raise_requested_exception),
            coord.joined,
            *attempt(lambda: coord.request_stop(error)),
        ]

    def raised(error: Exception, clean=None):
        coord = tf.train.Coordinator(clean)
        with coord.stop_on_exception():
            raise error
        return [coord.should_stop(), *attempt(coord.join)]

    def as_info():
        try:
            int("no number")
        except ValueError:
            return stopped(sys.exc_info())

    out_of_range = tf.errors.OutOfRangeError(None, None, "all")
    return [
        stopped(None),
        stopped(out_of_range),
        as_info(),
        raised(KeyError("x")),
        raised(out_of_range),
        raised(ValueError("y"), (ValueError,)),
    ]


def _slow(tf):
    end = threading.Event()
    coord = tf.train.Coordinator()
    slow = threading.Thread(target=end.wait, args=(LONG_S,))
    slow.start()
    coord.register_thread(slow)
    coord.request_stop()
    outcomes = attempt(
        lambda: coord.join(stop_grace_period_secs=0.05),
        lambda: coord.join([slow], 0.05, ignore_live_threads=True),
    )
    end.set()
    slow.join()
    return outcomes


def _looped(tf):
    coord = tf.train.Coordinator()
    seen = []

    def step(number: int, word: str = "") -> None:
        seen.append((number, word))
        if len(seen) == 3:
            coord.request_stop()

    looper = tf.train.LooperThread.loop(coord, None, step, args=(1,), kwargs={"word": "w"})
    coord.join([looper], stop_grace_period_secs=LONG_S)

    class Own(tf.train.LooperThread):  # type: ignore[misc]  # either namespace's
        def start_loop(self) -> None:
            seen.append("start")

        def run_loop(self) -> None:
            seen.append("run")
            raise ValueError("of a loop")

        def stop_loop(self) -> None:
            seen.append("stop")

    other = tf.train.Coordinator()
    own = Own(other, 0.001)
    own.start()
    return [
        attempt(lambda: other.join([own])),
        seen,
        looper.daemon,
        *attempt(
            lambda: tf.train.LooperThread(3, 1), lambda: tf.train.LooperThread(coord, 1, args=[1])
        ),
    ]


def _filled(tf):
    source = tf.FIFOQueue(10, tf.int32, shapes=[[]])
    queue = tf.FIFOQueue(4, tf.int32, shapes=[[]])
    fill, close = source.enqueue_many([list(range(8))]), source.close()
    runner = tf.train.QueueRunner(queue, [queue.enqueue(source.dequeue())] * 2)
    tf.train.add_queue_runner(runner)
    taken = queue.dequeue_many(8)
    with tf.Session() as session:
        session.run(fill)
        session.run(close)
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        values = sorted(session.run(taken).tolist())
        last = attempt(lambda: session.run(queue.dequeue()))
        again = runner.create_threads(session, coord)
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=LONG_S)
        return [
            values,
            last,
            len(threads),
            len(again),
            runner.name,
            runner.exceptions_raised,
            runner.close_op,
            runner.cancel_op.type,
            len(runner.enqueue_ops),
            [kind.__name__ for kind in runner.queue_closed_exception_types],
            sorted(thread.name for thread in threads),
            len(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)),
        ]


def _refused(tf):
    queue = tf.FIFOQueue(10, tf.int32, shapes=[[]])
    bad = queue.enqueue(tf.cast(tf.check_numerics(tf.log(-1.0), "bad"), tf.int32))

    def failing(coord):
        runner = tf.train.QueueRunner(queue, [bad])
        with tf.Session() as session:
            for thread in runner.create_threads(session, coord, daemon=True, start=True):
                thread.join(LONG_S)
        return [len(runner.exceptions_raised), *attempt(coord.join)]

    op = queue.enqueue(1)
    return [failing(tf.train.Coordinator())] + attempt(
        lambda: tf.train.QueueRunner(queue),
        lambda: tf.train.QueueRunner(None, [op]),
        lambda: tf.train.QueueRunner(queue, [op], queue_closed_exception_types=[ValueError]),
        lambda: tf.train.QueueRunner(queue, [op], queue_closed_exception_types=(ValueError,)),
        tf.train.start_queue_runners,
        lambda: tf.train.start_queue_runners(3),
        lambda: tf.train.start_queue_runners(tf.Session(), start=False),
    )


def _managed(tf):
    """`start_queue_runners` with monitored sessions, which have started the threads themselves."""

    def started(make: Action):
        with tf.Graph().as_default():
            queue = tf.FIFOQueue(2, tf.int32, shapes=[[]])
            taken = queue.dequeue_many(3)
            tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(7)]))
            with make() as session:
                threads = tf.train.start_queue_runners(session)
                return [threads, session.run(taken).tolist()]

    return [started(tf.train.MonitoredSession), started(tf.train.SingularMonitoredSession)]


def _steps(tf):
    train = tf.train
    with tf.name_scope("scope"):
        outcomes = [train.get_global_step(), train.get_or_create_global_step().name]
    step = train.get_global_step()
    outcomes += [step.dtype.name, step.trainable, train.get_or_create_global_step() is step]
    outcomes += attempt(train.create_global_step)
    outcomes += [
        [v.name for v in tf.get_collection(key)]
        for key in (tf.GraphKeys.GLOBAL_STEP, tf.GraphKeys.GLOBAL_VARIABLES)
    ]
    with tf.Session() as session:
        session.run(step.initializer)
        session.run(tf.assign_add(step, 5))
        outcomes.append(train.global_step(session, step))
    with tf.Graph().as_default():
        tf.constant(3, name="global_step")
        outcomes.append(train.get_global_step())
    with tf.Graph().as_default():
        tf.constant(3.0, name="global_step")
        outcomes += attempt(train.get_global_step)
    return outcomes + attempt(
        lambda: train.assert_global_step(3),
        lambda: train.assert_global_step(tf.constant([1])),
        lambda: train.assert_global_step(tf.placeholder(tf.int32)),
    )


def _written(tf):
    tf.add(tf.constant(1.5, name="a"), tf.placeholder(tf.float32, name="b"), name="c")
    graph = tf.get_default_graph()
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "new"
        text = tf.train.write_graph(graph, str(there), "g.pbtxt")
        data = tf.io.write_graph(graph.as_graph_def(), str(there), "g.pb", as_text=False)
        again = tf.GraphDef.FromString(Path(data).read_bytes())
        run(tf, "a:0")
        lines = Path(text).read_text(encoding="utf-8").split("versions {")[0].splitlines()
        return [Path(text).name, Path(data).name, [n.name for n in again.node], lines]


BEHAVIOURS = {
    "stopped": _stopped,
    "failed": _failed,
    "slow": _slow,
    "looped": _looped,
    "filled": _filled,
    "refused": _refused,
    "managed": _managed,
    "steps": _steps,
    "written": _written,
}
