"""Faults of MANAGED: hooks that are called at the wrong time, and sessions that ignore them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ParamSpec, TypeVar

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.library import Hook, RunArguments, SessionCreator
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Call,
    Coordinator,
    FeedDict,
    Feeds,
    Fetches,
    RunContext,
    RunValues,
    Session,
    Tensor,
    Value,
)

_P = ParamSpec("_P")
_R = TypeVar("_R")
#: From the hooks of a session to others.
_Change = Callable[[list[Hook]], list[Hook]]


def train(tf: Namespace, **changes: Call) -> Namespace:
    """The namespace with other names in `tf.train`."""
    return override(tf, train=override(tf.train, **changes))


class Proxy:
    """A hook that passes each call on to another one; faults override single methods.

    Args:
      hook: the hook.

    """

    def __init__(self, hook: Hook) -> None:
        self.hook = hook

    def begin(self) -> None:
        """Call it."""
        self.hook.begin()

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Call it."""
        self.hook.after_create_session(session, coord)

    def before_run(self, run_context: RunContext) -> RunArguments | None:
        """Call it."""
        return self.hook.before_run(run_context)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Call it."""
        self.hook.after_run(run_context, run_values)

    def end(self, session: Session) -> None:
        """Call it."""
        self.hook.end(session)


def hooked(tf: Namespace, change: _Change, base: type | None = None) -> Namespace:
    """The namespace with a MonitoredSession, or a class of it, whose hooks are changed."""

    class MonitoredSession(base or tf.train.MonitoredSession):  # type: ignore[misc]
        def __init__(
            self,
            session_creator: SessionCreator | None = None,
            hooks: Sequence[Hook] | None = None,
            **kwargs: Argument,
        ) -> None:
            super().__init__(session_creator, change(list(hooks or ())), **kwargs)

    return train(tf, MonitoredSession=MonitoredSession)


def proxied(proxy: Callable[[Hook], Hook]) -> _Change:
    """A change that puts a proxy in the place of each hook."""
    return lambda hooks: [proxy(hook) for hook in hooks]


@fault("MANAGED-001", "Hooks begin again with each further session.")
def hooks_begin_again(tf: Namespace) -> Namespace:
    """Call `begin` again after each further session is created."""

    class Begins(Proxy):
        sessions = 0

        def after_create_session(self, session: Session, coord: Coordinator) -> None:
            self.sessions += 1
            if self.sessions > 1:
                self.begin()
            super().after_create_session(session, coord)

    return hooked(tf, proxied(Begins))


@fault("MANAGED-002", "Hooks are told of the first session only.")
def hooks_are_told_once(tf: Namespace) -> Namespace:
    """Call `after_create_session` for the first session only."""

    class Once(Proxy):
        called = False

        def after_create_session(self, session: Session, coord: Coordinator) -> None:
            if not self.called:
                super().after_create_session(session, coord)
            self.called = True

    return hooked(tf, proxied(Once))


@fault("MANAGED-003", "Three hooks or more are called after a run in the opposite order.")
def hooks_are_called_backwards(tf: Namespace) -> Namespace:
    """Collect the calls of `after_run`, and make them in reverse order at the last one."""

    def change(hooks: list[Hook]) -> list[Hook]:
        if len(hooks) <= 2:
            return hooks
        waiting: list[tuple[Hook, RunContext, RunValues]] = []

        class Waits(Proxy):
            def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
                waiting.append((self.hook, run_context, run_values))
                if len(waiting) == len(hooks):
                    called = [*reversed(waiting)]
                    waiting.clear()
                    for hook, context, values in called:
                        hook.after_run(context, values)

        return [Waits(hook) for hook in hooks]

    return hooked(tf, change)


@fault("MANAGED-004", "What a hook fetches is fetched in a run of its own.")
def hooks_fetch_later(tf: Namespace) -> Namespace:
    """Run the hook's fetches separately after the caller's run."""

    class Apart(Proxy):
        wanted: Fetches | None = None

        def before_run(self, run_context: RunContext) -> RunArguments | None:
            request = super().before_run(run_context)
            self.wanted = None if request is None else request.fetches
            return None if request is None else request._replace(fetches=None)

        def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
            results = None if self.wanted is None else run_context.session.run(self.wanted)
            super().after_run(run_context, run_values._replace(results=results))

    return hooked(tf, proxied(Apart))


def _feeding(change: Callable[[FeedDict, FeedDict], Iterable[Tensor]]) -> type[Proxy]:
    """A proxy that feeds only the keys that `change` keeps of the hook's and the caller's feeds."""

    class Feeds(Proxy):
        def before_run(self, run_context: RunContext) -> RunArguments | None:
            request = super().before_run(run_context)
            if request is None or not request.feed_dict:
                return request
            kept = change(request.feed_dict, run_context.original_args.feed_dict or {})
            return request._replace(feed_dict={key: request.feed_dict[key] for key in kept})

    return Feeds


@fault("MANAGED-005", "Where the caller feeds something, hooks feed nothing.")
def hooks_do_not_feed_callers(tf: Namespace) -> Namespace:
    """Leave the hook's feeds out."""
    return hooked(tf, proxied(_feeding(lambda own, callers: () if callers else own)))


@fault("MANAGED-006", "What the caller feeds goes before what a hook feeds for the same tensor.")
def callers_feeds_win(tf: Namespace) -> Namespace:
    """Leave out what the caller feeds."""
    kept = _feeding(lambda own, callers: [key for key in own if key not in callers])
    return hooked(tf, proxied(kept))


@fault("MANAGED-007", "A hook that asks to stop before a run is not heard.")
def stops_before_runs_are_lost(tf: Namespace) -> Namespace:
    """Pass each hook a SessionRunContext of its own."""

    class Asks(Proxy):
        def before_run(self, run_context: RunContext) -> RunArguments | None:
            arguments, session = run_context.original_args, run_context.session
            return super().before_run(tf.train.SessionRunContext(arguments, session))

    return hooked(tf, proxied(Asks))


@fault("MANAGED-008", "After a stop the session runs without its hooks.")
def runs_after_stops_go_on(tf: Namespace) -> Namespace:
    """Run the underlying session after a stop."""

    class MonitoredSession(tf.train.MonitoredSession):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, feed_dict: Feeds = None, **kwargs: Argument) -> Value:
            below = self._tf_sess()
            run = below.run if below is not None and self.should_stop() else super().run
            return run(fetches, feed_dict=feed_dict, **kwargs)

    return train(tf, MonitoredSession=MonitoredSession)


@fault("MANAGED-009", "A session that is closed without a with does not tell its hooks.")
def closing_tells_no_hook(tf: Namespace) -> Namespace:
    """Clear the list of hooks before the session closes."""

    class MonitoredSession(tf.train.MonitoredSession):  # type: ignore[misc, name-defined]
        def close(self) -> None:
            self._hooks: list[Hook] = []
            super().close()

    return train(tf, MonitoredSession=MonitoredSession)


@fault("MANAGED-010", "Hooks are told of the end after an error too.")
def ends_after_errors(tf: Namespace) -> Namespace:
    """Call `end` of the hooks before an error leaves the block."""

    class MonitoredSession(tf.train.MonitoredSession):  # type: ignore[misc, name-defined]
        def __exit__(self, kind: type[BaseException] | None, *error: object) -> bool | None:
            planned = (None, tf.errors.OutOfRangeError, StopIteration)
            for hook in [] if kind in planned or self._is_closed() else self._hooks:
                hook.end(self._tf_sess())
            return super().__exit__(kind, *error)

    return train(tf, MonitoredSession=MonitoredSession)


@fault("MANAGED-011", "The end of the input leaves the block as an error.")
def the_end_of_input_is_an_error(tf: Namespace) -> Namespace:
    """Suppress StopIteration only, and not OutOfRangeError."""

    class MonitoredSession(tf.train.MonitoredSession):  # type: ignore[misc, name-defined]
        def __exit__(self, kind: type[BaseException] | None, *error: object) -> bool | None:
            super().__exit__(kind, *error)
            return kind is StopIteration

    return train(tf, MonitoredSession=MonitoredSession)


class _Hidden(Exception):  # noqa: N818 - carries an error past who would recover from it
    """An error that is not recovered from."""


@fault("MANAGED-012", "An UnavailableError that a hook raises is not recovered from.")
def unavailable_tasks_are_not_recovered_from(tf: Namespace) -> Namespace:
    """Wrap the error in another class until it has left the session."""

    def hiding(method: Callable[_P, _R], *arguments: _P.args, **options: _P.kwargs) -> _R:
        try:
            return method(*arguments, **options)
        except tf.errors.UnavailableError as error:
            raise _Hidden(error) from None

    class Hides(Proxy):
        def before_run(self, run_context: RunContext) -> RunArguments | None:
            return hiding(super().before_run, run_context)

        def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
            hiding(super().after_run, run_context, run_values)

    class MonitoredSession(tf.train.MonitoredSession):  # type: ignore[misc, name-defined]
        def run(self, *args: Argument, **kwargs: Argument) -> Value:
            try:
                return super().run(*args, **kwargs)
            except _Hidden as hidden:
                raise hidden.args[0] from None

    return hooked(tf, proxied(Hides), MonitoredSession)


@fault("MANAGED-013", "A SingularMonitoredSession recovers from a lost task.")
def singular_sessions_recover(tf: Namespace) -> Namespace:
    """Replace SingularMonitoredSession by MonitoredSession."""
    return train(tf, SingularMonitoredSession=tf.train.MonitoredSession)


@fault("MANAGED-014", "After an InternalError of a hook the session is to stop.")
def sessions_stop_after_errors(tf: Namespace) -> Namespace:
    """Return True from `should_stop` after an InternalError."""

    class MonitoredSession(tf.train.MonitoredSession):  # type: ignore[misc, name-defined]
        failed = False

        def run(self, *args: Argument, **kwargs: Argument) -> Value:
            try:
                return super().run(*args, **kwargs)
            except tf.errors.InternalError:
                self.failed = True
                raise

        def should_stop(self) -> bool:
            return self.failed or super().should_stop()

    return train(tf, MonitoredSession=MonitoredSession)


@fault("MANAGED-015", "Though a hook fails with ValueError before a run, it is executed.")
def failed_runs_are_executed(tf: Namespace) -> Namespace:
    """Execute the run in the session below the hooks."""

    class Fails(Proxy):
        def before_run(self, run_context: RunContext) -> RunArguments | None:
            try:
                return super().before_run(run_context)
            except ValueError:
                run_context.session.run(run_context.original_args.fetches)
                raise

    return hooked(tf, proxied(Fails))
