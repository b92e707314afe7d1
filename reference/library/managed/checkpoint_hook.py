"""`tf.train.CheckpointSaverHook`: saves the model now and then. Source: TF 2.21."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from sessrun.reference.api.queues.coordinator import Coordinator
from sessrun.reference.api.saving.graph_pruning import write_graph
from sessrun.reference.api.saving.meta_graph import export_meta_graph
from sessrun.reference.api.saving.saver import Saver
from sessrun.reference.api.variables.global_step import needed_global_step_read
from sessrun.reference.base import log_messages
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.graph.default_graph import get_collection, get_default_graph
from sessrun.reference.library.managed.run_hooks import (
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from sessrun.reference.library.managed.scaffold import Scaffold
from sessrun.reference.library.summaries.file_writer import FileWriterCache
from sessrun.reference.public import public
from sessrun.reference.session.session import Session
from sessrun.spec.proto.summary_pb2 import SessionLog

__all__ = ["CheckpointSaverHook", "CheckpointSaverListener"]

#: The number of steps that one run is taken to make before the actual global step is read.
_ANY_NUMBER_OF_STEPS: Final = 1_000_000


@public("train.CheckpointSaverListener")
class CheckpointSaverListener:
    """Base class of objects that are called before and after each save; its methods do nothing."""

    def begin(self) -> None:
        """Once, before the session is made: the graph may still be changed."""

    def before_save(self, session: Session, global_step_value: int) -> None:
        """Before each save."""

    def after_save(self, session: Session, global_step_value: int) -> bool | None:
        """After each save; true asks to stop."""

    def end(self, session: Session, global_step_value: int) -> None:
        """Once, at the end."""


@public("train.CheckpointSaverHook")
class CheckpointSaverHook(SessionRunHook):
    """Saves the model when the session is made, now and then, and at the end.

    Args:
      checkpoint_dir: the folder of the checkpoints.
      save_secs: the seconds from one save to the next.
      save_steps: the steps from one save to the next.
      saver: what saves; by default that of the scaffold, else the graph's only one.
      checkpoint_basename: the first part of the names of the checkpoints.
      scaffold: whose saver saves.
      listeners: are called around each save.
      save_graph_def: whether the graph is written too.

    Raises:
      ValueError: there are a saver and a scaffold, or not exactly one of seconds and steps.

    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Saver | None = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Scaffold | None = None,
        listeners: Sequence[CheckpointSaverListener] | None = None,
        save_graph_def: bool = True,
    ) -> None:
        log_messages.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver = saver
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = listeners or []
        self._steps_per_run = _ANY_NUMBER_OF_STEPS
        self._save_graph_def = save_graph_def

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        """Find the global step and the writer of the folder; tell the listeners.

        Raises:
          RuntimeError: there is no global step.

        """
        self._summary_writer = FileWriterCache.get(self._checkpoint_dir)
        self._global_step_tensor = needed_global_step_read("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Write the graph, and save the model in its present state."""
        del coord
        step = session.run(self._global_step_tensor)
        graph = get_default_graph()
        nodes = graph.as_graph_def(add_shapes=True)
        if self._save_graph_def:
            write_graph(nodes, self._checkpoint_dir, "graph.pbtxt")
        saver = self._get_saver()
        saver_def = saver.saver_def if saver else None
        self._summary_writer.add_graph(graph)
        self._summary_writer.add_meta_graph(export_meta_graph(graph_def=nodes, saver_def=saver_def))
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the step, which may be that before or after the run."""
        del run_context
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Save if the timer is due; request a stop if a listener does."""
        if not self._timer.should_trigger_for_step(run_values.results + self._steps_per_run):
            return
        step = run_context.session.run(self._global_step_tensor)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Session) -> None:
        """Save the last step, unless that is saved; tell the listeners."""
        step = session.run(self._global_step_tensor)
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Session, step: int) -> bool:
        """Save the model; whether a listener asks to stop."""
        log_messages.info("Calling checkpoint listeners before saving checkpoint %d...", step)
        for listener in self._listeners:
            listener.before_save(session, step)
        log_messages.info("Saving checkpoints for %d into %s.", step, self._save_path)
        self._get_saver().save(
            session, self._save_path, global_step=step, write_meta_graph=self._save_graph_def
        )
        noted = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._summary_writer.add_session_log(noted, step)
        log_messages.info("Calling checkpoint listeners after saving checkpoint %d...", step)
        should_stop = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                text = "A CheckpointSaverListener requested that training be stopped. listener: %s"
                log_messages.info(text, listener)
                should_stop = True
        return should_stop

    def _get_saver(self) -> Saver:
        """The saver: the given one, the scaffold's, or the only one of the graph.

        Raises:
          RuntimeError: nothing was given, and the graph has none or several.

        """
        if self._saver is None and self._scaffold is not None:
            saver: Saver = self._scaffold.saver
            return saver
        if self._saver is None:
            key = GraphKeys.SAVERS
            savers = get_collection(key)
            if not savers:
                raise RuntimeError(
                    f"No items in collection {key}. Please add a saver to the "
                    "collection or provide a saver or scaffold."
                )
            if len(savers) > 1:
                raise RuntimeError(
                    f"More than one item in collection {key}. Please indicate which one to use by "
                    "passing it to the constructor."
                )
            self._saver = savers[0]
        return self._saver
