"""Faults of QUEUES: readers of files, queue runners and their coordinator."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.overlapping import Underway, overlapping
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.library import Queue, QueueRunner
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Coordinator, Operation, Session, Value


def _train(tf: Namespace, **changes: Call) -> Namespace:
    return override(tf, train=override(tf.train, **changes))


# --- readers ------------------------------------------------------------------------------


def _reads(run: Underway) -> bool:
    return run.has("ReaderReadV2")


@fault("QUEUES-013", "A read of a file name that does not exist is out of range.")
def missing_files_are_out_of_range(tf: Namespace) -> Namespace:
    """Raise OutOfRangeError instead of NotFoundError."""

    def change(run: Underway, base: Call, _others: list[Underway]) -> Value:
        try:
            return base()
        except tf.errors.NotFoundError as error:
            if not _reads(run):
                raise
            raise tf.errors.OutOfRangeError(None, None, "no such file") from error

    return overlapping(tf, change)


@fault("QUEUES-014", "A reader reads files as text.")
def files_are_read_as_text(tf: Namespace) -> Namespace:
    """Replace CR LF in the records by LF."""

    def change(run: Underway, base: Call, _others: list[Underway]) -> Value:
        values = base()
        if not _reads(run):
            return values
        return [value.replace(b"\r\n", b"\n") for value in values]

    return overlapping(tf, change)


# --- runners ------------------------------------------------------------------------------


@fault("QUEUES-067", "A queue runner does not close its queue at the end.")
def runners_leave_their_queue_open(tf: Namespace) -> Namespace:
    """Pass a `no_op` as `close_op`; a dequeue that would now wait for ever fails instead."""

    class QueueRunner(tf.train.QueueRunner):  # type: ignore[misc, name-defined]
        def __init__(
            self,
            queue: Queue | None = None,
            enqueue_ops: Sequence[Operation] | None = None,
            **more: Argument,
        ) -> None:
            super().__init__(queue, enqueue_ops, **{"close_op": tf.no_op(), **more})

        def create_threads(
            self,
            sess: Session,
            coord: Coordinator | None = None,
            daemon: bool = False,
            start: bool = False,
        ) -> list[threading.Thread]:
            threads = super().create_threads(sess, coord, daemon, start)
            if coord is None:
                for thread in threads:
                    thread.join(1.0)
                sess.run(self.cancel_op)
                sess.run(self.queue.dequeue())
            return threads

    return _train(tf, QueueRunner=QueueRunner)


@fault("QUEUES-068", "Of the runners of the collection the first is started.")
def one_runner_is_started(tf: Namespace) -> Namespace:
    """Close the queues of all other runners."""

    def start_queue_runners(sess: Session, coord: Coordinator) -> list[threading.Thread]:
        first, *others = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
        for other in others:
            sess.run(other.cancel_op)
        return first.create_threads(sess, coord, daemon=True, start=True)

    return _train(tf, start_queue_runners=start_queue_runners)


@fault("QUEUES-074", "A queue runner is stopped without closing its queue.")
def stopped_runners_leave_their_queue_open(tf: Namespace) -> Namespace:
    """Run the enqueue operations once, and start no thread."""

    class QueueRunner(tf.train.QueueRunner):  # type: ignore[misc, name-defined]
        def create_threads(
            self,
            sess: Session,
            coord: Coordinator | None = None,
            daemon: bool = False,
            start: bool = False,
        ) -> list[threading.Thread]:
            if coord is None:
                return super().create_threads(sess, coord, daemon, start)
            sess.run(self.enqueue_ops)
            return []

    return _train(tf, QueueRunner=QueueRunner)


class _Quiet:
    """What makes a coordinator that keeps no errors."""

    def request_stop(self, ex: BaseException | None = None) -> None:
        """Ask for a stop, whatever happened."""
        del ex
        super().request_stop()  # type: ignore[misc]


@fault("QUEUES-075", "The error of a queue runner's operation is not told to the coordinator.")
def errors_of_runners_are_not_told(tf: Namespace) -> Namespace:
    """Drop the error from the runner's request for a stop."""

    class QueueRunner(tf.train.QueueRunner):  # type: ignore[misc, name-defined]
        def create_threads(
            self,
            sess: Session,
            coord: Coordinator | None = None,
            daemon: bool = False,
            start: bool = False,
        ) -> list[threading.Thread]:
            class Quiet(_Quiet, type(coord)):  # type: ignore[misc]
                pass

            if coord is not None:
                coord.__class__ = Quiet
            return super().create_threads(sess, coord, daemon, start)

    return _train(tf, QueueRunner=QueueRunner)


@fault("QUEUES-076", "A queue runner of no operations is made.")
def runners_of_nothing_are_made(tf: Namespace) -> Namespace:
    """Make the QueueRunner with a `no_op`."""

    def runner(
        queue: Queue | None = None, enqueue_ops: Sequence[Operation] | None = None, **more: Argument
    ) -> QueueRunner:
        if queue is not None and not enqueue_ops:
            enqueue_ops = [tf.no_op()]
        return tf.train.QueueRunner(queue, enqueue_ops, **more)

    return _train(tf, QueueRunner=runner)


# --- coordinators -------------------------------------------------------------------------


def _coordinator(tf: Namespace, **methods: Call) -> Namespace:
    """The namespace whose coordinators have these methods."""
    return _train(tf, Coordinator=type("Coordinator", (tf.train.Coordinator,), methods))


@fault("QUEUES-069", "A stop that was asked for cannot be taken back.")
def stops_are_for_ever(tf: Namespace) -> Namespace:
    """Let `clear_stop` do nothing."""
    return _coordinator(tf, clear_stop=lambda _: None)


@fault("QUEUES-070", "The join raises the last error with which a stop was asked for.")
def the_last_error_is_raised(tf: Namespace) -> Namespace:
    """Replace the first error by each later one."""

    def request_stop(self: Session, ex: BaseException | None = None) -> None:
        if ex is not None and self.should_stop():
            self.clear_stop()
        tf.train.Coordinator.request_stop(self, ex)

    return _coordinator(tf, request_stop=request_stop)


@fault("QUEUES-071", "That there is no more is an error to a coordinator.")
def out_of_range_is_an_error(tf: Namespace) -> Namespace:
    """Raise OutOfRangeError from `join`."""

    def request_stop(self: Session, ex: BaseException | None = None) -> None:
        tf.train.Coordinator.request_stop(self, ex)
        self.faulty_end = ex if isinstance(ex, tf.errors.OutOfRangeError) else None

    def join(self: Session, *args: Argument, **kwargs: Argument) -> None:
        tf.train.Coordinator.join(self, *args, **kwargs)
        if getattr(self, "faulty_end", None) is not None:
            raise self.faulty_end

    return _coordinator(tf, request_stop=request_stop, join=join)


@fault("QUEUES-072", "The join leaves threads alone that go on after the grace period.")
def late_threads_are_left_alone(tf: Namespace) -> Namespace:
    """Pass `ignore_live_threads=True`."""

    def join(
        self: Session,
        threads: Sequence[threading.Thread] | None = None,
        *,
        stop_grace_period_secs: float = 120,
    ) -> None:
        tf.train.Coordinator.join(self, threads, stop_grace_period_secs, ignore_live_threads=True)

    return _coordinator(tf, join=join)


@fault("QUEUES-073", "An error inside of stop_on_exception asks for a stop, and is lost.")
def errors_in_the_block_are_lost(tf: Namespace) -> Namespace:
    """Request the stop without the error."""

    @contextlib.contextmanager
    def stop_on_exception(self: Session) -> Iterator[None]:
        try:
            yield
        except Exception:  # noqa: BLE001 - that is the fault
            self.request_stop()

    return _coordinator(tf, stop_on_exception=stop_on_exception)
