"""The services of a supervisor: summaries, steps per second, checkpoints. Source: TF 2.21."""

from __future__ import annotations

import time
from typing import Any, Final, Protocol

from sessrun.reference.api.queues.coordinator import Coordinator, LooperThread
from sessrun.reference.api.variables.global_step import global_step
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base import log_messages
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.summaries.file_writer import FileWriter
from sessrun.reference.session.session import Session
from sessrun.spec.proto.summary_pb2 import SessionLog, Summary

__all__ = ["SVStepCounterThread", "SVSummaryThread", "SVTimerCheckpointThread"]

_MESSAGES: Final = 10


class Supervised(Protocol):
    """The attributes of a supervisor that its services use."""

    @property
    def coord(self) -> Coordinator:
        """The coordinator of the threads."""

    @property
    def summary_op(self) -> Tensor | None:
        """The merged summaries."""

    @property
    def summary_writer(self) -> FileWriter | None:
        """Writes the summaries."""

    @property
    def global_step(self) -> Variable | Tensor | None:
        """Counts the steps."""

    @property
    def saver(self) -> Any:
        """Saves the model."""

    @property
    def save_summaries_secs(self) -> float | None:
        """The seconds from one summary to the next."""

    @property
    def save_model_secs(self) -> float | None:
        """The seconds from one checkpoint to the next."""

    @property
    def save_path(self) -> str | None:
        """The first part of the paths of the checkpoints."""


class SVSummaryThread(LooperThread):
    """Writes the summaries.

    Args:
      sv: the supervisor.
      sess: the session that they are run in.

    """

    def __init__(self, sv: Supervised, sess: Session) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self) -> None:
        """Run the summary operation and write its value."""
        step = None
        if self._sv.global_step is None:
            summaries = self._sess.run(self._sv.summary_op)
        else:
            summaries, step = self._sess.run([self._sv.summary_op, self._sv.global_step])
        if self._sv.summary_writer:
            log_messages.info("Recording summary at step %s.", step)
            self._sv.summary_writer.add_summary(summaries, step)


class SVStepCounterThread(LooperThread):
    """Writes the steps per second.

    Args:
      sv: the supervisor.
      sess: the session of the steps.
      step_counter: what counts them, by default the supervisor's global step.

    """

    def __init__(
        self, sv: Supervised, sess: Session, step_counter: Tensor | Variable | None = None
    ) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess
        counter = sv.global_step if step_counter is None else step_counter
        assert counter is not None  # it is started for a step only
        self._step_counter = counter
        self._summary_tag = f"{counter.op.name}/sec"
        self._last_time, self._last_step = 0.0, 0

    def start_loop(self) -> None:
        """Note where it begins."""
        self._last_time = time.time()
        self._last_step = global_step(self._sess, self._step_counter)

    def run_loop(self) -> None:
        """Write the rate since the last time."""
        step = global_step(self._sess, self._step_counter)
        now = time.time()
        steps, seconds = step - self._last_step, now - self._last_time
        self._last_step, self._last_time = step, now
        rate = steps / seconds if seconds > 0.0 else float("inf")
        if self._sv.summary_writer:
            value = Summary.Value(tag=self._summary_tag, simple_value=rate)
            self._sv.summary_writer.add_summary(Summary(value=[value]), step)
        log_messages.log_first_n(log_messages.INFO, "%s: %g", _MESSAGES, self._summary_tag, rate)


class SVTimerCheckpointThread(LooperThread):
    """Saves the model.

    Args:
      sv: the supervisor.
      sess: the session whose model is saved.

    """

    def __init__(self, sv: Supervised, sess: Session) -> None:
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self) -> None:
        """Save the model and write a SessionLog of the checkpoint."""
        sv = self._sv
        log_messages.info("Saving checkpoint to path %s", sv.save_path)
        assert sv.save_path is not None  # it is started for a supervisor that saves only
        sv.saver.save(self._sess, sv.save_path, global_step=sv.global_step)
        if sv.summary_writer and sv.global_step is not None:
            noted = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=sv.save_path)
            sv.summary_writer.add_session_log(noted, global_step(self._sess, sv.global_step))
