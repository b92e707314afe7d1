"""`tf.train.QueueRunner`: threads that keep a queue filled. Source: TF 2.21."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Sequence
from typing import Any, Final

from sessrun.reference import errors
from sessrun.reference.api.queues.coordinator import Coordinator
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.default_session import get_default_session
from sessrun.reference.graph.name_prefixes import under, without
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public
from sessrun.reference.session.session import BaseSession, Session
from sessrun.spec.proto import QueueRunnerDef
from sessrun.spec.proto.foreign import adopt

__all__ = ["QueueRunner"]

#: The classes of sessions that start queue runners themselves, by name, as in TensorFlow: their
#: modules stand above this one.
_STARTED_BY_THEMSELVES: Final = ("MonitoredSession", "SingularMonitoredSession")


@public("train.QueueRunner", "train.queue_runner.QueueRunner")
class QueueRunner:
    """Enqueue operations that are run in threads, each again and again, until the queue is closed.

    Args:
      queue: the queue.
      enqueue_ops: the operations, one for each thread.
      close_op: closes the queue once all threads have ended; by default one is built.
      cancel_op: ends the threads that wait; by default one is built.
      queue_closed_exception_types: errors that mean that there is no more to enqueue;
        OutOfRangeError by default.

    Raises:
      ValueError: there is no queue or no operation.
      TypeError: the types are no tuple of classes of `tf.errors`.

    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Sequence[Any] | None = None,
        close_op: Operation | None = None,
        cancel_op: Operation | None = None,
        queue_closed_exception_types: tuple[type[errors.OpError], ...] | None = None,
    ) -> None:
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        types = queue_closed_exception_types
        if types is not None and not (
            isinstance(types, tuple)
            and types
            and all(issubclass(kind, errors.OpError) for kind in types)
        ):
            raise TypeError(
                "queue_closed_exception_types, when provided, must be a tuple of "
                f"tf.error types, but saw: {types}"
            )
        self.queue = queue
        self.enqueue_ops = enqueue_ops
        self.close_op = queue.close() if close_op is None else close_op
        self.cancel_op = (
            queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        )
        self.queue_closed_exception_types = types or (errors.OutOfRangeError,)
        self._prepare()

    def _prepare(self) -> None:
        """Make what the threads share."""
        self._lock = threading.Lock()
        #: How many threads run in each session.
        self._running: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._raised: list[BaseException] = []

    @staticmethod
    def from_proto(queue_runner_def: object, import_scope: str | None = None) -> QueueRunner:
        """The runner of operations that the default graph has, under `import_scope`.

        Raises:
          KeyError: the graph does not have one of them.

        """
        proto = adopt(queue_runner_def, QueueRunnerDef)
        graph = get_default_graph()

        def find(name: str) -> Tensor | Operation:
            result: Tensor | Operation = graph.as_graph_element(under(import_scope, name))
            return result

        self = QueueRunner.__new__(QueueRunner)
        self.queue = find(proto.queue_name)
        self.enqueue_ops = [find(name) for name in proto.enqueue_op_name]
        self.close_op, self.cancel_op = find(proto.close_op_name), find(proto.cancel_op_name)
        codes = proto.queue_closed_exception_types
        self.queue_closed_exception_types = tuple(
            errors.exception_type_from_error_code(code) for code in codes
        ) or (errors.OutOfRangeError,)
        self._prepare()
        return self

    def to_proto(self, export_scope: str | None = None) -> QueueRunnerDef | None:
        """The names of its operations, without `export_scope`; None if it is outside of that."""
        if export_scope is not None and not self.queue.name.startswith(export_scope):
            return None
        return QueueRunnerDef(
            queue_name=without(export_scope, self.queue.name),
            enqueue_op_name=[without(export_scope, op.name) for op in self.enqueue_ops],
            close_op_name=without(export_scope, self.close_op.name),
            cancel_op_name=without(export_scope, self.cancel_op.name),
            queue_closed_exception_types=[
                errors.error_code_from_exception_type(cls)
                for cls in self.queue_closed_exception_types
            ],
        )

    @property
    def name(self) -> str:
        """The name of the queue."""
        return str(self.queue.name)

    @property
    def exceptions_raised(self) -> list[BaseException]:
        """The errors that ended threads without a coordinator."""
        return self._raised

    def create_threads(
        self,
        sess: object,
        coord: Coordinator | None = None,
        daemon: bool = False,
        start: bool = False,
    ) -> list[threading.Thread]:
        """A thread for each operation; none while earlier ones of the session run.

        Args:
          sess: the session.
          coord: stops them and receives their errors; one more thread then cancels their waiting.
          daemon: whether the program may end while they run.
          start: whether they are started.

        """
        with self._lock:
            if self._running.get(sess, 0) > 0:
                return []
            self._running[sess] = len(self.enqueue_ops)
            self._raised = []
        word = f"QueueRunnerThread-{self.name}"
        threads = [
            threading.Thread(target=self._run, args=(sess, op, coord), name=f"{word}-{op.name}")
            for op in self.enqueue_ops
        ]
        if coord is not None:
            threads.append(
                threading.Thread(
                    target=self._close_on_stop, args=(sess, coord), name=f"{word}-close_on_stop"
                )
            )
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            thread.daemon = daemon or thread.daemon
            if start:
                thread.start()
        return threads

    def _run(self, sess: BaseSession, op: Operation, coord: Coordinator | None) -> None:
        is_last = False
        try:
            enqueue = sess.make_callable(op)
            while coord is None or not coord.should_stop():
                enqueue()
        except self.queue_closed_exception_types:
            is_last = self._leave(sess) == 0
            if is_last:
                self._run_quietly(sess, self.close_op)
            return
        except Exception as error:
            if coord is None:
                logging.getLogger("sessrun").exception("Exception in QueueRunner")
                with self._lock:
                    self._raised.append(error)
                self._leave(sess)
                raise
            coord.request_stop(error)
        self._leave(sess)

    def _leave(self, sess: BaseSession) -> int:
        """Count a thread out; how many are left."""
        with self._lock:
            self._running[sess] -= 1
            return self._running[sess]

    def _close_on_stop(self, sess: BaseSession, coord: Coordinator) -> None:
        coord.wait_for_stop()
        self._run_quietly(sess, self.cancel_op)

    @staticmethod
    def _run_quietly(sess: BaseSession, op: Operation) -> None:
        try:
            sess.run(op)
        except Exception as error:  # noqa: BLE001 - the session may be closed already
            logging.getLogger("sessrun").debug("Ignored exception: %s", error)


@public("train.add_queue_runner", "train.queue_runner.add_queue_runner")
def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Add a queue runner to a collection of the default graph."""
    get_default_graph().add_to_collection(collection, qr)


@public("train.queue_runner.start_queue_runners", "train.start_queue_runners")
def start_queue_runners(
    sess: BaseSession | None = None,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """The threads of every queue runner in a collection of the session's graph.

    Args:
      sess: the session, by default the default session; a managed one started its threads
        itself, so there are none for it.
      coord: the coordinator.
      daemon: whether the program may end while they run.
      start: whether they are started.
      collection: the collection.

    Raises:
      ValueError: there is not a session.
      TypeError: `sess` is not a session.

    """
    sess = get_default_session() if sess is None else sess
    if sess is None:
        raise ValueError("Cannot start queue runners: No default session is registered.")
    if type(sess).__name__ in _STARTED_BY_THEMSELVES:
        return []
    if not isinstance(sess, Session):
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    return [
        thread
        for runner in sess.graph.get_collection(collection)
        for thread in runner.create_threads(sess, coord=coord, daemon=daemon, start=start)
    ]
