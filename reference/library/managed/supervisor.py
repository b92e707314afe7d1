"""`tf.train.Supervisor`: a session with threads that save and write summaries. Source: TF 2.21."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Final

from sessrun.reference.api.queues.coordinator import Coordinator, LooperThread
from sessrun.reference.api.queues.queue_runner import QueueRunner
from sessrun.reference.api.saving.graph_pruning import write_graph
from sessrun.reference.api.saving.meta_graph import export_meta_graph
from sessrun.reference.api.saving.saver import Saver
from sessrun.reference.api.variables.global_step import global_step as step_of
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base import log_messages
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.managed.session_manager import SessionManager
from sessrun.reference.library.managed.supervised_graph import SupervisedGraph
from sessrun.reference.library.managed.supervisor_threads import (
    SVStepCounterThread,
    SVSummaryThread,
    SVTimerCheckpointThread,
)
from sessrun.reference.library.summaries.file_writer import FileWriter
from sessrun.reference.public import public
from sessrun.reference.session.resolve.feeds import FeedDict
from sessrun.reference.session.session import Session
from sessrun.spec.proto import ConfigProto, RunOptions
from sessrun.spec.proto.summary_pb2 import SessionLog, Summary

__all__ = ["Supervisor"]

_TWO_HOURS_S: Final = 7200


@public("train.Supervisor")
class Supervisor:
    """Makes a graph's model ready, in one worker as the chief, and runs services beside it.

    What is 0 (`USE_DEFAULT`) is found in a collection of the graph, or made for it; None says that
    it is not wanted. The graph is finalized.

    Args:
      graph: the graph, by default the default graph.
      ready_op: a string tensor of the names of uninitialized variables.
      ready_for_local_init_op: gives the names of what `local_init_op` still waits for.
      is_chief: whether this worker initializes, saves and writes summaries.
      init_op: initializes the model where no checkpoint is restored.
      init_feed_dict: what `init_op` is fed.
      local_init_op: initializes what each session has for itself.
      logdir: the folder of checkpoints and summaries.
      summary_op: the merged summaries.
      saver: saves and restores the model.
      global_step: counts the steps.
      save_summaries_secs: the seconds from one summary to the next; 0 for none.
      save_model_secs: the seconds from one checkpoint to the next; 0 for none.
      recovery_wait_secs: how long to wait between two looks whether the model is ready.
      stop_grace_secs: how long threads may take to end.
      checkpoint_basename: the first part of the names of the checkpoints.
      session_manager: makes the sessions; the operations above are not used by it then.
      summary_writer: writes the summaries.
      init_fn: is called after `init_op` with the session.
      local_init_run_options: the options of the run of `local_init_op`.

    Raises:
      ValueError: this is not the chief, and a variable has no device.

    """

    USE_DEFAULT: ClassVar[int] = 0

    def __init__(
        self,
        graph: Graph | None = None,
        ready_op: Tensor | int | None = USE_DEFAULT,
        ready_for_local_init_op: Tensor | int | None = USE_DEFAULT,
        is_chief: bool = True,
        init_op: Tensor | Operation | int | None = USE_DEFAULT,
        init_feed_dict: FeedDict | None = None,
        local_init_op: Tensor | Operation | int | None = USE_DEFAULT,
        logdir: str | None = None,
        summary_op: Tensor | int | None = USE_DEFAULT,
        saver: Saver | int | None = USE_DEFAULT,
        global_step: Tensor | Variable | int | None = USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: SessionManager | None = None,
        summary_writer: FileWriter | int | None = USE_DEFAULT,
        init_fn: Callable[[Session], object] | None = None,
        local_init_run_options: RunOptions | None = None,
    ) -> None:
        self._graph = get_default_graph() if graph is None else graph
        parts = self._parts = SupervisedGraph(self._graph)
        with self._graph.as_default():
            parts.find("ready_op", ready_op)
            parts.find("ready_for_local_init_op", ready_for_local_init_op)
            parts.find("init_op", init_op)
            parts.find("local_init_op", local_init_op)
            parts.find("saver", saver)
            parts.find("summary_op", summary_op)
            parts.find("global_step", global_step)
        self._meta_graph_def = export_meta_graph(
            graph_def=self._graph.as_graph_def(add_shapes=True),
            saver_def=parts.saver.saver_def if parts.saver else None,
            graph=self._graph,
        )
        self._init_feed_dict = init_feed_dict
        self._init_fn = init_fn
        self._is_chief = is_chief
        self._coord = Coordinator()
        self._stop_grace_secs = stop_grace_secs
        self._logdir = logdir if is_chief else None
        self._save_summaries_secs = save_summaries_secs if is_chief else None
        self._save_model_secs = save_model_secs if is_chief else None
        self._save_path = os.path.join(self._logdir, checkpoint_basename) if self._logdir else None
        self._summary_writer = self._writer(summary_writer) if is_chief else None
        self._graph_added_to_summary = False
        self._session_manager = session_manager or SessionManager(
            local_init_op=parts.local_init_op,
            ready_op=parts.ready_op,
            ready_for_local_init_op=parts.ready_for_local_init_op,
            graph=self._graph,
            recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options,
        )
        if not is_chief:
            parts.check_devices()
        self._graph.finalize()

    def _writer(self, given: Any) -> FileWriter | None:
        if given is not Supervisor.USE_DEFAULT:
            writer: FileWriter | None = given
            return writer
        return FileWriter(self._logdir) if self._logdir else None

    @property
    def is_chief(self) -> bool:
        """Whether this worker initializes, saves and writes summaries."""
        return self._is_chief

    @property
    def session_manager(self) -> SessionManager:
        """The manager that creates the sessions."""
        return self._session_manager

    @property
    def coord(self) -> Coordinator:
        """The coordinator of the threads."""
        return self._coord

    @property
    def init_op(self) -> Tensor | Operation | None:
        """The operation that initializes the model."""
        return self._parts.init_op

    @property
    def init_feed_dict(self) -> FeedDict | None:
        """The feeds of `init_op`."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Tensor | None:
        """The operation whose value is the names of uninitialized variables."""
        return self._parts.ready_op

    @property
    def ready_for_local_init_op(self) -> Tensor | None:
        """The operation whose value is the names of variables that `local_init_op` waits for."""
        return self._parts.ready_for_local_init_op

    @property
    def summary_writer(self) -> FileWriter | None:
        """The writer of the summaries; None where this is not the chief."""
        return self._summary_writer

    @property
    def summary_op(self) -> Tensor | None:
        """The merged summaries."""
        return self._parts.summary_op

    @property
    def save_summaries_secs(self) -> float | None:
        """The seconds from one summary to the next."""
        return self._save_summaries_secs

    @property
    def global_step(self) -> Tensor | Variable | None:
        """The variable that counts the steps."""
        return self._parts.global_step

    @property
    def saver(self) -> Saver | None:
        """The saver of the model."""
        return self._parts.saver

    @property
    def save_model_secs(self) -> float | None:
        """The seconds from one checkpoint to the next."""
        return self._save_model_secs

    @property
    def save_path(self) -> str | None:
        """The first part of the paths of the checkpoints."""
        return self._save_path

    def _write_graph(self) -> None:
        assert self._is_chief
        if self._logdir:
            write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_added_to_summary:
            self._summary_writer.add_graph(self._graph)
            self._summary_writer.add_meta_graph(self._meta_graph_def)
            self._graph_added_to_summary = True

    def start_standard_services(self, sess: Session) -> list[LooperThread] | None:
        """The threads that save and write summaries, started; None without a folder.

        Raises:
          RuntimeError: the supervisor is not the chief.

        """
        if not self._is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. "
                "Because only chief supervisors can write events."
            )
        if not self._logdir:
            log_messages.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        writer = self._summary_writer
        if self.global_step is not None and writer:
            step = step_of(sess, self.global_step)
            writer.add_session_log(SessionLog(status=SessionLog.START), step)
        threads: list[LooperThread] = []
        if self._save_summaries_secs and writer:
            if self.summary_op is not None:
                threads.append(SVSummaryThread(self, sess))
            if self.global_step is not None:
                threads.append(SVStepCounterThread(self, sess))
        if self.saver and self._save_model_secs:
            threads.append(SVTimerCheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: ConfigProto | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = _TWO_HOURS_S,
        start_standard_services: bool = True,
    ) -> Session:
        """A session whose model is ready: the chief initializes or restores it, others wait.

        Args:
          master: the target of the session.
          config: the configuration of the session.
          wait_for_checkpoint: whether the chief waits for a checkpoint.
          max_wait_secs: how long to wait.
          start_standard_services: whether services and queue runners are started.

        """
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            sess = self._session_manager.prepare_session(
                master,
                init_op=self.init_op,
                saver=self.saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs,
                config=config,
                init_feed_dict=self._init_feed_dict,
                init_fn=self._init_fn,
            )
            self._write_graph()
            if start_standard_services:
                log_messages.info("Starting standard services.")
                self.start_standard_services(sess)
        else:
            sess = self._session_manager.wait_for_session(
                master, config=config, max_wait_secs=max_wait_secs
            )
        if start_standard_services:
            log_messages.info("Starting queue runners.")
            self.start_queue_runners(sess)
        return sess

    def start_queue_runners(
        self, sess: Session, queue_runners: Sequence[QueueRunner] | None = None
    ) -> list[threading.Thread]:
        """Start the threads of queue runners, by default of all in the graph, and return them."""
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        return [
            thread
            for runner in queue_runners
            for thread in runner.create_threads(sess, coord=self._coord, daemon=True, start=True)
        ]

    def loop(
        self,
        timer_interval_secs: float | None,
        target: Callable[..., object],
        args: Sequence[object] | None = None,
        kwargs: Mapping[str, object] | None = None,
    ) -> LooperThread:
        """Start a thread that calls a function repeatedly until the threads are stopped."""
        return LooperThread.loop(self._coord, timer_interval_secs, target, args, kwargs)

    def stop(
        self,
        threads: Iterable[threading.Thread] | None = None,
        close_summary_writer: bool = True,
        ignore_live_threads: bool = False,
    ) -> None:
        """Request that the threads stop, and wait for them.

        Raises:
          BaseException: the error that a thread reported.
          RuntimeError: threads still run after the time they may take.

        """
        self._coord.request_stop()
        try:
            self._coord.join(
                threads,
                stop_grace_period_secs=self._stop_grace_secs,
                ignore_live_threads=ignore_live_threads,
            )
        finally:
            if close_summary_writer and self._summary_writer:
                self._summary_writer.add_session_log(SessionLog(status=SessionLog.STOP))
                self._summary_writer.close()
                self._graph_added_to_summary = False

    def request_stop(self, ex: BaseException | None = None) -> None:
        """Request that the threads stop, because of an error if one is given."""
        self._coord.request_stop(ex=ex)

    def should_stop(self) -> bool:
        """Whether a stop of the threads was requested."""
        return self._coord.should_stop()

    def stop_on_exception(self) -> AbstractContextManager[None]:
        """A context manager that turns an error into a request to stop the threads."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Wait until a stop of the threads is requested."""
        self._coord.wait_for_stop()

    def summary_computed(
        self, sess: Session, summary: Summary | bytes, global_step: int | None = None
    ) -> None:
        """Write a summary, at the session's step if none is given.

        Raises:
          RuntimeError: there is nothing that writes it.

        """
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self.global_step is not None:
            global_step = step_of(sess, self.global_step)
        self._summary_writer.add_summary(summary, global_step)

    @contextlib.contextmanager
    def managed_session(
        self,
        master: str = "",
        config: ConfigProto | None = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Session]:
        """A context manager of a session whose model is ready; it stops the threads at its end.

        An error inside asks the threads to stop and is raised once they have stopped. The end of
        the input (OutOfRangeError) is not an error.
        """
        with contextlib.ExitStack() as at_end:
            try:
                sess = self.prepare_or_wait_for_session(
                    master=master, config=config, start_standard_services=start_standard_services
                )
                at_end.callback(_close, sess)
                yield sess
            except Exception as error:  # noqa: BLE001 - `stop` raises it
                self.request_stop(error)
            finally:
                self.stop(close_summary_writer=close_summary_writer)

    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


def _close(sess: Session) -> None:
    """Close a session, even if operations are still running in it."""
    with contextlib.suppress(Exception):
        sess.close()
