"""Hooks of monitored sessions, and their arguments (TF 2.21)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sessrun.reference.api.queues.coordinator import Coordinator
from sessrun.reference.public import public
from sessrun.reference.session.session import Session
from sessrun.spec.proto import RunMetadata, RunOptions

__all__ = ["SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues"]


@public("train.SessionRunArgs")
class SessionRunArgs(NamedTuple):
    """Fetches, feeds and options that a hook adds to a run.

    Attributes:
      fetches: a fetch structure, whose value `after_run` is given; or None.
      feed_dict: feeds besides the caller's.
      options: options, which are joined with the caller's.

    """

    fetches: Any
    feed_dict: Mapping[object, object] | None = None
    options: RunOptions | None = None


@public("train.SessionRunValues")
class SessionRunValues(NamedTuple):
    """The results of a run.

    Attributes:
      results: the value of the hook's own fetches; None if it had none.
      options: the options of the run.
      run_metadata: what the run told about itself.

    """

    results: Any
    options: RunOptions
    run_metadata: RunMetadata


@public("train.SessionRunContext")
class SessionRunContext:
    """One call of `run`, as the hooks see it.

    Args:
      original_args: what the caller asked for.
      session: the session below the hooks.

    """

    def __init__(self, original_args: SessionRunArgs, session: Session) -> None:
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """What the caller asked for."""
        return self._original_args

    @property
    def session(self) -> Session:
        """The session below the hooks: running it calls none of them."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a hook has asked to stop."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Ask the session to run nothing after this run."""
        self._stop_requested = True


@public("train.SessionRunHook")
class SessionRunHook:
    """Is called when a monitored session is made, around each run, and at its end.

    Each method does nothing here; a hook has those it needs.
    """

    def begin(self) -> None:
        """Once, before the session is made: the graph may still be changed."""

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """After each session is made, also after one that is made anew.

        Args:
          session: the session, initialized.
          coord: the coordinator of its threads.

        """

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Before each run; what shall be run with it."""
        del run_context
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """After each run that did not fail."""

    def end(self, session: Session) -> None:
        """Once, at the end, unless an error ends it. The session still runs, without hooks."""
