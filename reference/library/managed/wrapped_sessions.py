"""The layers of a monitored session: hooks, coordinated threads, recovery. Source: TF 2.21.

From the inside out: a `HookedSession` calls the hooks around each run, a `CoordinatedSession`
stops the threads when it closes and raises the error of a thread, a `RecoverableSession` recreates
all of these when a worker or a parameter server was lost.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from sessrun.reference import errors
from sessrun.reference.api.queues.coordinator import Coordinator
from sessrun.reference.base import log_messages
from sessrun.reference.graph.graph import Graph
from sessrun.reference.library.managed.run_hooks import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    joined_feeds,
    merge_options,
)
from sessrun.reference.session.resolve.feeds import FeedDict
from sessrun.reference.session.resolve.fetches import Fetches
from sessrun.reference.session.session import Session
from sessrun.spec.proto import RunMetadata, RunOptions

__all__ = [
    "CoordinatedSession",
    "HookedSession",
    "RecoverableSession",
    "StepContext",
    "WrappedSession",
]

#: Errors after which a session is recreated: a task of the cluster was lost or restarted.
_PREEMPTION_ERRORS: Final = (errors.AbortedError, errors.UnavailableError)
_ANEW: Final = "The session is closed and made anew"


#: What a step function returns.
Result = TypeVar("Result")
#: A session, or a wrapper of one.
SessionLike: TypeAlias = "Session | WrappedSession"


class _Creator(Protocol):
    """Makes sessions."""

    def create_session(self) -> SessionLike:
        """A new session."""


class StepContext:
    """The argument of a step function: runs parts of a step, with the hooks or without.

    Args:
      session: the session below the hooks.
      run_with_hooks_fn: the run of the monitored session.

    """

    def __init__(self, session: Session | None, run_with_hooks_fn: Callable[..., Any]) -> None:
        self._session = session
        self._run_with_hooks_fn = run_with_hooks_fn

    @property
    def session(self) -> Any:
        """The session below the hooks: running it calls none of them."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """Run as the monitored session does, with the hooks."""
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self) -> None:
        """Leave the step function, and end the `with` of the session.

        Raises:
          StopIteration: always.

        """
        raise StopIteration("step_fn has requested the iterations to stop.")


class WrappedSession:
    """Base class of the wrappers of a session.

    Args:
      sess: the wrapped session.

    """

    def __init__(self, sess: SessionLike) -> None:
        self._sess: Any = sess  # None once it is closed
        self._inner_may_stop = isinstance(sess, WrappedSession)

    @property
    def graph(self) -> Graph:
        """The graph of the session."""
        graph: Graph = self._sess.graph
        return graph

    @property
    def sess_str(self) -> bytes | None:
        """The target of the session."""
        target: bytes | None = self._sess.sess_str
        return target

    def should_stop(self) -> bool:
        """Whether this wrapper or one inside it stops; true after `close`."""
        if self._check_stop() or not self._sess:
            return True
        return self._inner_may_stop and bool(self._sess.should_stop())

    def _check_stop(self) -> bool:
        """Whether this wrapper itself stops; subclasses override it."""
        return False

    def close(self) -> None:
        """Close the wrapped session; no effect the second time."""
        if self._sess:
            try:
                self._sess.close()
            except _PREEMPTION_ERRORS as error:
                log_messages.error("A lost task kept the session from being closed: %s", error)
            finally:
                self._sess = None

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run the wrapped session."""
        return self._sess.run(*args, **kwargs)

    def run_step_fn(
        self,
        step_fn: Callable[[StepContext], Result],
        raw_session: Session | None,
        run_with_hooks: Callable[..., Any] | None,
    ) -> Result:
        """The value of a step function."""
        return step_fn(StepContext(raw_session, run_with_hooks or self.run))


class RecoverableSession(WrappedSession):
    """A session that is recreated when a task of the cluster is lost.

    Args:
      sess_creator: makes the sessions.

    """

    def __init__(self, sess_creator: _Creator) -> None:
        self._sess_creator = sess_creator
        super().__init__(self._create_session())

    def _create_session(self) -> SessionLike:
        while True:
            try:
                return self._sess_creator.create_session()
            except _PREEMPTION_ERRORS as error:
                log_messages.info(
                    "A task was lost while the session was made. It is made anew. Error: %s", error
                )

    def _check_stop(self) -> bool:
        try:
            return not self._sess or self._sess._check_stop()  # noqa: SLF001 - a layer of ours
        except _PREEMPTION_ERRORS as error:
            log_messages.info(f"A task was lost. {_ANEW}. Error: %s", error)
            self.close()
            self._sess = self._create_session()
            return False
        except Exception:  # noqa: BLE001 - the next run raises it
            return True

    def run(
        self,
        fetches: Fetches,
        feed_dict: FeedDict | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:
        """Run; if a task of the cluster is lost, run again in a new session."""
        return self._until_it_lasts(
            lambda sess: sess.run(
                fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata
            )
        )

    def run_step_fn(
        self,
        step_fn: Callable[[StepContext], Result],
        raw_session: Session | None,
        run_with_hooks: Callable[..., Any] | None,
    ) -> Result:
        """The value of a step function, called again in a new session if a task is lost.

        As in TensorFlow, the session below the hooks stays the one of the first call.
        """
        del run_with_hooks

        def call(sess: WrappedSession) -> Result:
            return sess.run_step_fn(step_fn, raw_session, sess.run)

        return self._until_it_lasts(call)

    def _until_it_lasts(self, do: Callable[[Any], Result]) -> Result:
        while True:
            try:
                if not self._sess:
                    self._sess = self._create_session()
                return do(self._sess)
            except _PREEMPTION_ERRORS as error:
                log_messages.info(f"A task was lost during a run. {_ANEW}. Error: %s", error)
                self.close()
                self._sess = None


class CoordinatedSession(WrappedSession):
    """A session with threads, which `close` stops.

    Args:
      sess: the session inside.
      coord: the coordinator of the threads.
      stop_grace_period_secs: how long `close` waits for the threads to end.

    """

    def __init__(
        self, sess: SessionLike, coord: Coordinator, stop_grace_period_secs: float = 120
    ) -> None:
        super().__init__(sess)
        self._coord = coord
        self._stop_grace_period_secs = stop_grace_period_secs

    def _check_stop(self) -> bool:
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self) -> None:
        """Stop the threads, wait for them, and close the session.

        Raises:
          BaseException: the error that a thread reported.

        """
        self._coord.request_stop()
        try:
            self._coord.join(
                stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True
            )
        finally:
            with contextlib.suppress(Exception):
                super().close()

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run the wrapped session.

        Raises:
          Exception: the error that a thread reported if it is a lost task, else that of the run.

        """
        try:
            return self._sess.run(*args, **kwargs)
        except _PREEMPTION_ERRORS:
            raise
        except Exception as error:
            try:
                self._coord.raise_requested_exception()
            except _PREEMPTION_ERRORS:
                raise
            except Exception:  # noqa: BLE001 - the run's own error is raised
                raise error from None
            raise


class HookedSession(WrappedSession):
    """A session that calls hooks around each run.

    Args:
      sess: the session inside.
      hooks: the hooks, in the order of their calls.

    """

    def __init__(self, sess: Session, hooks: Sequence[SessionRunHook]) -> None:
        super().__init__(sess)
        self._hooks = hooks
        self._should_stop = False

    def _check_stop(self) -> bool:
        return self._should_stop

    def run(
        self,
        fetches: Fetches,
        feed_dict: FeedDict | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:
        """Run the fetches of the caller and of all hooks in one run.

        Raises:
          RuntimeError: a hook requested a stop before, or one tensor is fed twice.

        """
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        options = options or RunOptions()
        run_metadata = run_metadata or RunMetadata()
        wanted: dict[object, object] = {"caller": fetches}
        feeds: dict[object, object] = {}
        for hook in self._hooks:
            request = hook.before_run(context)
            if request is None:
                continue
            if request.fetches is not None:
                wanted[hook] = request.fetches
            if request.feed_dict:
                feeds = joined_feeds(feeds, request.feed_dict, "two hooks")
            if request.options:
                merge_options(options, request.options)
        if feeds and feed_dict:
            feeds = joined_feeds(feed_dict, feeds, "a SessionRunHook and user")
        results = super().run(
            fetches=wanted,
            feed_dict=feeds or feed_dict,
            options=options,
            run_metadata=run_metadata,
        )
        for hook in self._hooks:
            values = SessionRunValues(results.get(hook), options, run_metadata)
            hook.after_run(context, values)
        self._should_stop = self._should_stop or context.stop_requested
        return results["caller"]
