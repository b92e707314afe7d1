"""`tf.train.MonitoredSession`: a session that initializes, recovers and calls hooks.

Source: TF 2.21.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, ClassVar, Final, Self

from sessrun.reference import errors
from sessrun.reference.api.queues.coordinator import Coordinator
from sessrun.reference.api.queues.queue_runner import start_queue_runners
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.graph.default_graph import get_collection, get_default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.library.managed.run_hooks import SessionRunHook
from sessrun.reference.library.managed.scaffold import Scaffold
from sessrun.reference.library.managed.session_creators import ChiefSessionCreator, SessionCreator
from sessrun.reference.library.managed.wrapped_sessions import (
    CoordinatedSession,
    HookedSession,
    RecoverableSession,
    Result,
    StepContext,
    WrappedSession,
)
from sessrun.reference.public import public
from sessrun.reference.session.resolve.feeds import FeedDict
from sessrun.reference.session.resolve.fetches import Fetches
from sessrun.reference.session.session import Session
from sessrun.spec.proto import ConfigProto, RunMetadata, RunOptions

__all__ = ["MonitoredSession", "SingularMonitoredSession"]

#: The arguments of a step function and of a method that is one.
_STEP_ARGUMENTS: Final = (("step_context",), ("self", "step_context"))


class _CoordinatedCreator(SessionCreator):
    """Makes sessions with hooks and the threads of the graph's queue runners."""

    def __init__(
        self,
        session_creator: SessionCreator,
        hooks: Sequence[SessionRunHook],
        stop_grace_period_secs: float,
    ) -> None:
        self._session_creator = session_creator
        self._hooks = hooks
        self._stop_grace_period_secs = stop_grace_period_secs
        self.coord: Coordinator | None = None
        self.tf_sess: Session | None = None

    def create_session(self) -> CoordinatedSession:
        """Create a session, start its queue runners, and call the hooks."""
        self.tf_sess = self._session_creator.create_session()
        self.coord = Coordinator(clean_stop_exception_types=[])
        if get_collection(GraphKeys.QUEUE_RUNNERS):
            start_queue_runners(sess=self.tf_sess, coord=self.coord)
        for hook in self._hooks:
            hook.after_create_session(self.tf_sess, self.coord)
        hooked = HookedSession(self.tf_sess, self._hooks)
        return CoordinatedSession(hooked, self.coord, self._stop_grace_period_secs)


class _MonitoredSession:
    """Base class of both kinds of monitored session."""

    StepContext: ClassVar = StepContext

    def __init__(
        self,
        session_creator: SessionCreator | None,
        hooks: Sequence[SessionRunHook] | None,
        should_recover: bool,
        stop_grace_period_secs: float = 120,
    ) -> None:
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        creator = session_creator or ChiefSessionCreator()
        self._coordinated_creator = _CoordinatedCreator(
            creator, self._hooks, stop_grace_period_secs
        )
        self._sess: WrappedSession | None = (
            RecoverableSession(self._coordinated_creator)
            if should_recover
            else self._coordinated_creator.create_session()
        )

    @property
    def graph(self) -> Graph | None:
        """The graph of the session; None once it is closed."""
        sess = self._tf_sess()
        return None if sess is None else sess.graph

    def run(
        self,
        fetches: Fetches,
        feed_dict: FeedDict | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:
        """Run, with the hooks; arguments and value as those of `Session.run`.

        Raises:
          RuntimeError: a hook requested a stop before, or one tensor is fed twice.

        """
        return self._open().run(
            fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata
        )

    def run_step_fn(self, step_fn: Callable[..., Result]) -> Result:
        """The value of a function that runs parts of a step without the hooks.

        Args:
          step_fn: a function of one argument, `step_context`, or a method of that one.

        Raises:
          ValueError: its arguments are others.
          StopIteration: it asked to stop.

        """
        arguments = _argument_names(step_fn)
        if arguments not in _STEP_ARGUMENTS:
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and "
                f"`step_context` arguments if it's an instance method. Got {arguments} instead."
            )
        return self._open().run_step_fn(step_fn, self._tf_sess(), run_with_hooks=None)

    def _open(self) -> WrappedSession:
        """The wrapped session; None after `close`, which has no `run`."""
        sess: Any = self._sess
        return sess  # type: ignore[no-any-return]  # None once it is closed

    def should_stop(self) -> bool:
        """Whether a hook or a thread requested a stop; true after `close`."""
        return self._sess is None or self._sess.should_stop()

    def close(self) -> None:
        """End the hooks and close the session.

        Raises:
          RuntimeError: the session is closed.

        """
        self._close()

    def __enter__(self) -> Self:
        """The session itself."""
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        """Close; OutOfRangeError and StopIteration are not raised further."""
        del exception_value, traceback
        if exception_type in {errors.OutOfRangeError, StopIteration}:
            exception_type = None
        self._close(failed=exception_type is not None)
        return exception_type is None

    def _close(self, *, failed: bool = False) -> None:
        creator = self._coordinated_creator
        try:
            if not failed:
                sess: Any = creator.tf_sess  # None once it is closed
                for hook in self._hooks:
                    hook.end(sess)
        finally:
            try:
                if self._sess is None:
                    raise RuntimeError("Session is already closed.")
                self._sess.close()
            finally:
                self._sess = creator.tf_sess = creator.coord = None
                if not self._graph_was_finalized:
                    get_default_graph()._unsafe_unfinalize()  # noqa: SLF001 - TensorFlow's name

    def _is_closed(self) -> bool:
        return self._tf_sess() is None

    def _tf_sess(self) -> Session | None:
        """The session below the hooks; None once it is closed."""
        return self._coordinated_creator.tf_sess


@public("train.MonitoredSession")
class MonitoredSession(_MonitoredSession):
    """A session that calls hooks, ends its threads, and recovers when a task is lost.

    Args:
      session_creator: makes the session; a `ChiefSessionCreator` by default.
      hooks: are called around each run.
      stop_grace_period_secs: how long threads may take to end.

    """

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        super().__init__(session_creator, hooks, True, stop_grace_period_secs)


@public("train.SingularMonitoredSession")
class SingularMonitoredSession(_MonitoredSession):
    """A session that calls hooks and ends its threads, and that fails when a task is lost.

    Args:
      hooks: are called around each run.
      scaffold: what makes the model ready.
      master: the target of the session.
      config: its configuration.
      checkpoint_dir: the folder of checkpoints; the latest is restored.
      stop_grace_period_secs: how long threads may take to end.
      checkpoint_filename_with_path: the checkpoint to restore instead.

    """

    def __init__(
        self,
        hooks: Sequence[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: ConfigProto | None = None,
        checkpoint_dir: str | None = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        creator = ChiefSessionCreator(
            scaffold=scaffold,
            master=master,
            config=config,
            checkpoint_dir=checkpoint_dir,
            checkpoint_filename_with_path=checkpoint_filename_with_path,
        )
        super().__init__(creator, hooks, False, stop_grace_period_secs)

    def raw_session(self) -> Session | None:
        """The session below the hooks; None once it is closed."""
        return self._tf_sess()


def _argument_names(function: Callable[..., object]) -> tuple[str, ...]:
    """The names of a callable's arguments, without `self` and those that are given already."""
    if isinstance(function, functools.partial):
        left = _argument_names(function.func)[len(function.args) :]
        return tuple(name for name in left if name not in function.keywords)
    called: Any = getattr(function, "__call__", None)  # noqa: B004 - an object's method is wanted
    method = called if inspect.ismethod(called) else function
    names = tuple(inspect.getfullargspec(method).args)
    return names[1:] if inspect.ismethod(method) else names
