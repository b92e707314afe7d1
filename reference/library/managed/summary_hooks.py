"""Hooks that write summaries: steps per second, a graph's summaries, profiles. Source: TF 2.21."""

from __future__ import annotations

import logging
import os
from typing import Final

from sessrun.reference.api.variables.global_step import get_global_step, needed_global_step_read
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base import log_messages
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.managed.run_hooks import (
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from sessrun.reference.library.managed.scaffold import Scaffold
from sessrun.reference.library.managed.timeline import Timeline
from sessrun.reference.library.summaries.file_writer import FileWriter, FileWriterCache
from sessrun.reference.public import public
from sessrun.reference.session.session import Session
from sessrun.reference.state.files.file_object import GFile
from sessrun.spec.proto import RunOptions, StepStats
from sessrun.spec.proto.summary_pb2 import SessionLog, Summary

__all__ = ["ProfilerHook", "StepCounterHook", "SummarySaverHook"]

#: How often at most the log says that the global step did not increase.
_WARNINGS: Final = 5


@public("train.StepCounterHook")
class StepCounterHook(SessionRunHook):
    """Writes the steps per second, every N steps or every N seconds.

    Args:
      every_n_steps: the steps between two summaries.
      every_n_secs: the seconds between two summaries.
      output_dir: the folder of the event file.
      summary_writer: the writer to use instead of one for `output_dir`.

    Raises:
      ValueError: there is not exactly one of steps and seconds.

    """

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: FileWriter | None = None,
    ) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._last_global_step: int | None = None
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        """Find the global step and the writer.

        Raises:
          RuntimeError: there is no global step.

        """
        self._summary_writer = _writer(self._summary_writer, self._output_dir)
        self._global_step_tensor = needed_global_step_read("StepCounterHook")
        self._summary_tag = f"{get_global_step().op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetch the global step, whose value may be that before or after the run."""
        del run_context
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write the rate if the timer is due; log if the step has not increased."""
        stale = run_values.results
        if self._timer.should_trigger_for_step(stale + self._steps_per_run):
            step = run_context.session.run(self._global_step_tensor)
            if self._timer.should_trigger_for_step(step):
                seconds, steps = self._timer.update_last_triggered_step(step)
                if seconds is not None and steps is not None:
                    self._log_and_record(steps, seconds, step)
        if stale == self._last_global_step:
            log_messages.log_first_n(
                logging.WARNING,
                "It seems that global step (tf.train.get_global_step) has not been increased. "
                "Current value (could be stable): %s vs previous value: %s.",
                _WARNINGS,
                stale,
                self._last_global_step,
            )
        self._last_global_step = stale

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        """Write and log the steps per second."""
        rate = elapsed_steps / elapsed_time
        if self._summary_writer is not None:
            value = Summary.Value(tag=self._summary_tag, simple_value=rate)
            self._summary_writer.add_summary(Summary(value=[value]), global_step)
        log_messages.info("%s: %g", self._summary_tag, rate)


@public("train.SummarySaverHook")
class SummarySaverHook(SessionRunHook):
    """Writes summaries every N steps or every N seconds.

    Args:
      save_steps: the steps between two writes.
      save_secs: the seconds between two writes.
      output_dir: the folder of the event file.
      summary_writer: the writer to use instead of one for `output_dir`.
      scaffold: the scaffold whose `summary_op` is written.
      summary_op: a string tensor with a serialized `Summary`, or a list of such tensors.

    Raises:
      ValueError: there is not exactly one of scaffold and summaries, or of seconds and steps.

    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: FileWriter | None = None,
        scaffold: Scaffold | None = None,
        summary_op: Tensor | list[Tensor] | None = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        """Find the global step and the writer.

        Raises:
          RuntimeError: there is no global step.

        """
        self._summary_writer = _writer(self._summary_writer, self._output_dir)
        self._next_step: int | None = None
        self._global_step_tensor = needed_global_step_read("SummarySaverHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetch the step, and the summaries if the timer is due."""
        del run_context
        self._request_summary = self._next_step is None or (
            self._timer.should_trigger_for_step(self._next_step)
        )
        wanted: dict[str, Tensor | Variable | list[Tensor]] = {
            "global_step": self._global_step_tensor
        }
        summaries = self._summary_list() if self._request_summary else None
        if summaries is not None:
            wanted["summary"] = summaries
        return SessionRunArgs(wanted)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write the summaries, and at the first run a SessionLog of the start."""
        if not self._summary_writer:
            return
        step = run_values.results["global_step"] + 1
        if self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
        if self._next_step is None:
            self._summary_writer.add_session_log(SessionLog(status=SessionLog.START), step)
        if self._request_summary:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._summary_writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Session | None = None) -> None:
        """Flush the writer."""
        del session
        if self._summary_writer:
            self._summary_writer.flush()

    def _summary_list(self) -> list[Tensor] | None:
        summaries = self._summary_op
        if summaries is None and self._scaffold is not None:
            summaries = self._scaffold.summary_op
        return summaries if summaries is None or isinstance(summaries, list) else [summaries]


@public("train.ProfilerHook")
class ProfilerHook(SessionRunHook):
    """Traces a run every N steps or seconds, and writes the trace for a browser's trace viewer.

    Args:
      save_steps: the steps between two writes.
      save_secs: the seconds between two writes.
      output_dir: the folder of the files.
      show_dataflow: whether the files show the data flow between operations.
      show_memory: whether they show the memory in use.

    Raises:
      ValueError: there is not exactly one of steps and seconds.

    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        self._output_file = os.path.join(output_dir, "timeline-{}.json")
        self._file_writer = FileWriterCache.get(output_dir)
        self._show_dataflow = show_dataflow
        self._show_memory = show_memory
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        """Find the global step.

        Raises:
          RuntimeError: the graph has no global step.

        """
        self._next_step: int | None = None
        self._global_step_tensor = needed_global_step_read("ProfilerHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetch the step, and trace the run if the timer is due; the first run is not traced."""
        del run_context
        self._request_summary = self._next_step is not None and (
            self._timer.should_trigger_for_step(self._next_step)
        )
        options = RunOptions(trace_level=RunOptions.FULL_TRACE) if self._request_summary else None
        return SessionRunArgs({"global_step": self._global_step_tensor}, options=options)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write the trace."""
        stale = run_values.results["global_step"]
        if self._next_step is None:
            self._timer.update_last_triggered_step(stale)
        step = stale + 1
        if self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
            self._timer.update_last_triggered_step(step)
            traced = run_values.run_metadata
            self._save(step, self._output_file.format(step), traced.step_stats)
            self._file_writer.add_run_metadata(traced, f"step_{step}")
        self._next_step = step + 1

    def _save(self, step: int, save_path: str, step_stats: StepStats) -> None:
        log_messages.info("Saving timeline for %d into '%s'.", step, save_path)
        with GFile(save_path, "w") as file:
            file.write(
                Timeline(step_stats).generate_chrome_trace_format(
                    show_dataflow=self._show_dataflow, show_memory=self._show_memory
                )
            )


def _writer(writer: FileWriter | None, folder: str | None) -> FileWriter | None:
    """The given writer, else the cached writer of the folder, else None."""
    return FileWriterCache.get(folder) if writer is None and folder else writer
