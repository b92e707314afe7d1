"""Hooks of monitored sessions, their arguments and results, and their timers (TF 2.21)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sessrun.reference.api.queues.coordinator import Coordinator
from sessrun.reference.public import public
from sessrun.reference.session.session import Session
from sessrun.spec.proto import RunMetadata, RunOptions

__all__ = [
    "NeverTriggerTimer",
    "SecondOrStepTimer",
    "SessionRunArgs",
    "SessionRunContext",
    "SessionRunHook",
    "SessionRunValues",
    "joined_feeds",
    "merge_options",
]


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
      run_metadata: the metadata of the run.

    """

    results: Any
    options: RunOptions
    run_metadata: RunMetadata


@public("train.SessionRunContext")
class SessionRunContext:
    """One call of `run`, as the hooks see it.

    Args:
      original_args: the fetches, feeds and options that the caller gave to `run`.
      session: the session below the hooks.

    """

    def __init__(self, original_args: SessionRunArgs, session: Session) -> None:
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """The fetches, feeds and options that the caller gave to `run`."""
        return self._original_args

    @property
    def session(self) -> Session:
        """The session below the hooks: running it calls none of them."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a hook has requested a stop."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Request that the session stops after this run."""
        self._stop_requested = True


@public("train.SessionRunHook")
class SessionRunHook:
    """Base class of hooks: objects that a monitored session calls around each of its runs.

    The methods do nothing; a hook overrides those that it needs.
    """

    def begin(self) -> None:
        """Called once before the session is created, while the graph can still be changed."""

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Called after each session is created, a recovered one too.

        Args:
          session: the session, initialized.
          coord: the coordinator of its threads.

        """

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each run; returns fetches, feeds and options to add to it, or None."""
        del run_context
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after each run that did not fail."""

    def end(self, session: Session) -> None:
        """Called once at the end, unless an error ends the session; `session` can still run."""


#: Fields of RunOptions of which the largest value, of all hooks and the caller, is used.
_LARGEST: Final = (
    "trace_level",
    "timeout_in_ms",
    "inter_op_thread_pool",
    "output_partition_graphs",
    "report_tensor_allocations_upon_oom",
)


def joined_feeds(
    feeds: Mapping[object, object], others: Mapping[object, object], who: str
) -> dict[object, object]:
    """The feeds of both.

    Raises:
      RuntimeError: a key is in both.

    """
    both = [key for key in feeds if key in others]
    if both:
        raise RuntimeError(f"Same tensor is fed by {who}. Conflict(s): {both}")
    return {**feeds, **others}


def merge_options(options: RunOptions, others: RunOptions) -> None:
    """Merge the options of a hook into those of a run."""
    for name in _LARGEST:
        setattr(options, name, max(getattr(options, name), getattr(others, name)))
    debug, more = options.debug_options, others.debug_options
    debug.debug_tensor_watch_opts.extend(more.debug_tensor_watch_opts)
    debug.reset_disk_byte_usage = debug.reset_disk_byte_usage or more.reset_disk_byte_usage


class NeverTriggerTimer:
    """A timer that is never due, for hooks that act only at the end."""

    def reset(self) -> None:
        """Do nothing: this timer has no state."""

    def should_trigger_for_step(self, step: int) -> bool:
        """Always False."""
        del step
        return False

    def update_last_triggered_step(self, step: int) -> tuple[None, None]:
        """No seconds and no steps: this timer was never due."""
        del step
        return None, None

    def last_triggered_step(self) -> None:
        """None: this timer has no last step."""


@public("train.SecondOrStepTimer")
class SecondOrStepTimer:
    """A timer that is due every N seconds or every N steps, and the first time.

    Args:
      every_secs: the seconds after which it is due again.
      every_steps: the steps after which it is due again.

    Raises:
      ValueError: both are given, or neither.

    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs = every_secs
        self._every_steps = every_steps
        self.reset()

    def reset(self) -> None:
        """Forget the last update: it is due at the next step."""
        self._last_step: int | None = None
        self._last_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether it is due at this step; never twice for one step."""
        if self._last_step is None or self._last_time is None:
            return True
        if step == self._last_step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_time + self._every_secs
        assert self._every_steps is not None
        return bool(step >= self._last_step + self._every_steps)

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Reset it at this step; return the seconds and the steps since the last reset."""
        now = time.time()
        passed: tuple[float | None, int | None] = (None, None)
        if self._last_time is not None and self._last_step is not None:
            passed = (now - self._last_time, step - self._last_step)
        self._last_time, self._last_step = now, step
        return passed

    def last_triggered_step(self) -> int | None:
        """The step of the last update; None before the first."""
        return self._last_step
