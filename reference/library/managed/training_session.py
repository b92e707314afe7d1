"""`tf.train.MonitoredTrainingSession`: the monitored session of a training. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

from sessrun.reference.library.managed.checkpoint_hook import CheckpointSaverHook
from sessrun.reference.library.managed.monitored_session import MonitoredSession
from sessrun.reference.library.managed.run_hooks import SessionRunHook
from sessrun.reference.library.managed.scaffold import Scaffold
from sessrun.reference.library.managed.session_creators import (
    ChiefSessionCreator,
    WorkerSessionCreator,
)
from sessrun.reference.library.managed.summary_hooks import StepCounterHook, SummarySaverHook
from sessrun.reference.public import public
from sessrun.spec.proto import ConfigProto

__all__ = ["MonitoredTrainingSession"]


@final
class UseDefault:
    """The type of `USE_DEFAULT`."""


#: Stands for an argument that is not given, as None says that nothing is to be done.
USE_DEFAULT: Final = UseDefault()
_SUMMARY_STEPS: Final = 100
_CHECKPOINT_S: Final = 600
_TWO_HOURS_S: Final = 7200


@public("train.MonitoredTrainingSession")
def MonitoredTrainingSession(  # noqa: N802 - a function with a class's name, as TensorFlow has it
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: str | None = None,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: float | UseDefault | None = USE_DEFAULT,
    save_summaries_steps: int | UseDefault | None = USE_DEFAULT,
    save_summaries_secs: float | UseDefault | None = USE_DEFAULT,
    config: ConfigProto | None = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = _TWO_HOURS_S,
    save_checkpoint_steps: int | UseDefault | None = USE_DEFAULT,
    summary_dir: str | None = None,
    save_graph_def: bool = True,
) -> MonitoredSession:
    """A monitored session with the hooks that a training needs.

    Args:
      master: the target of the session.
      is_chief: whether this is the worker that initializes, saves and writes summaries.
      checkpoint_dir: the folder of the checkpoints; the latest is restored.
      scaffold: what makes the model ready.
      hooks: are called after the chief's own.
      chief_only_hooks: are called before them, only where this is the chief.
      save_checkpoint_secs: the seconds from one checkpoint to the next, by default 600.
      save_summaries_steps: the steps from one summary to the next, by default 100.
      save_summaries_secs: the seconds from one summary to the next.
      config: the configuration of the session.
      stop_grace_period_secs: how long threads may take to end.
      log_step_count_steps: the steps from one count of steps a second to the next.
      max_wait_secs: how long a worker waits for the chief.
      save_checkpoint_steps: the steps from one checkpoint to the next.
      summary_dir: the folder of the summaries, by default that of the checkpoints.
      save_graph_def: whether the graph is written with the checkpoints.

    """
    scaffold = scaffold or Scaffold()
    if not is_chief:
        worker = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(worker, hooks or [], stop_grace_period_secs)
    all_hooks: list[SessionRunHook] = list(chief_only_hooks or ())
    folder = summary_dir or checkpoint_dir
    steps, secs = _chosen(save_summaries_steps, save_summaries_secs, _SUMMARY_STEPS, None)
    if folder:
        all_hooks += _summary_hooks(folder, scaffold, log_step_count_steps, steps, secs)
    steps, secs = _chosen(save_checkpoint_steps, save_checkpoint_secs, None, _CHECKPOINT_S)
    if checkpoint_dir and (_wanted(steps) or _wanted(secs)):
        all_hooks.append(
            CheckpointSaverHook(
                checkpoint_dir,
                save_secs=secs,
                save_steps=steps,
                scaffold=scaffold,
                save_graph_def=save_graph_def,
            )
        )
    all_hooks.extend(hooks or ())
    chief = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(chief, all_hooks, stop_grace_period_secs)


def _summary_hooks(
    folder: str, scaffold: Scaffold, count_steps: int | None, steps: int | None, secs: float | None
) -> list[SessionRunHook]:
    """The hooks that write to the folder of the summaries."""
    hooks: list[SessionRunHook] = []
    if _wanted(count_steps):
        hooks.append(StepCounterHook(output_dir=folder, every_n_steps=count_steps))
    if _wanted(steps) or _wanted(secs):
        hooks.append(
            SummarySaverHook(scaffold=scaffold, save_steps=steps, save_secs=secs, output_dir=folder)
        )
    return hooks


def _chosen(
    steps: int | UseDefault | None,
    secs: float | UseDefault | None,
    usual_steps: int | None,
    usual_secs: int | None,
) -> tuple[int | None, float | None]:
    """The given steps and seconds; the defaults where neither is given."""
    if isinstance(steps, UseDefault) and isinstance(secs, UseDefault):
        return usual_steps, usual_secs
    return (
        None if isinstance(steps, UseDefault) else steps,
        None if isinstance(secs, UseDefault) else secs,
    )


def _wanted(limit: float | None) -> bool:
    return limit is not None and limit > 0
