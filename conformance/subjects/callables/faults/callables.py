"""Faults of CALLABLES: closed sessions, shapes, options, names and growth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, FeedDict, Feeds, Fetch, Fetches, Session, Value


def _making(tf: Namespace, make: Callable[[Session, Call, Fetches, Any, bool], Call]) -> Namespace:
    """The namespace whose `make_callable` is `make(session, base, fetches, feeds, options)`."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        shut = False

        def make_callable(
            self,
            fetches: Fetches,
            feed_list: Sequence[Fetch] | None = None,
            accept_options: bool = False,
        ) -> Call:
            return make(self, super().make_callable, fetches, feed_list, accept_options)

        def close(self) -> None:
            self.shut = True
            super().close()

    return override(tf, Session=Session)


@fault("CALLABLES-001", "A callable with a feed_list answers None once its session is closed.")
def closed_callables_are_silent(tf: Namespace) -> Namespace:
    """Return None where a closed session raises an error."""

    def make(session: Session, base: Call, fetches: Fetches, feeds: Feeds, options: bool) -> Call:
        call = base(fetches, feeds, options)
        if not feeds:
            return call

        def quiet(*args: Argument, **kwargs: Argument) -> Value:
            return None if session.shut else call(*args, **kwargs)

        return quiet

    return _making(tf, make)


@fault("CALLABLES-002", "An argument of another shape is InvalidArgumentError of the run.")
def shapes_of_arguments_fail_the_run(tf: Namespace) -> Namespace:
    """Raise InvalidArgumentError for an argument of another shape."""

    def make(_session: Session, base: Call, fetches: Fetches, feeds: Feeds, options: bool) -> Call:
        call = base(fetches, feeds, options)

        def late(*args: Argument, **kwargs: Argument) -> Value:
            try:
                return call(*args, **kwargs)
            except ValueError as error:
                text = str(error)
            raise tf.errors.InvalidArgumentError(None, None, text)

        return late if feeds else call

    return _making(tf, make)


@fault("CALLABLES-003", "A callable without a feed_list takes no options.")
def only_feeding_callables_take_options(tf: Namespace) -> Namespace:
    """Drop `accept_options` where there is no feed_list."""

    def make(_session: Session, base: Call, fetches: Fetches, feeds: Feeds, options: bool) -> Call:
        return base(fetches, feeds, options and feeds is not None)

    return _making(tf, make)


@fault("CALLABLES-004", "A feed_list takes Tensors only: a name in it is TypeError.")
def feed_lists_take_no_names(tf: Namespace) -> Namespace:
    """Raise TypeError for names in a feed_list."""

    def make(
        _session: Session, base: Call, fetches: Fetches, feeds: FeedDict, options: bool
    ) -> Call:
        call = base(fetches, feeds, options)

        def strict(*args: Argument, **kwargs: Argument) -> Value:
            if any(isinstance(key, str) for key in feeds):
                raise TypeError("a feed_list takes Tensors")
            return call(*args, **kwargs)

        return strict if isinstance(feeds, list | tuple) else call

    return _making(tf, make)


@fault("CALLABLES-005", "A callable runs the graph as it is when it is called.")
def callables_know_the_whole_graph(tf: Namespace) -> Namespace:
    """Run the fetches once more if the graph has grown since the callable was built."""

    def make(session: Session, base: Call, fetches: Fetches, feeds: Feeds, options: bool) -> Call:
        call, known = base(fetches, feeds, options), session.graph.version

        def renewed(*args: Argument, **kwargs: Argument) -> Value:
            if feeds is None and not session.shut and session.graph.version != known:
                session.run(fetches)
            return call(*args, **kwargs)

        return renewed

    return _making(tf, make)


@fault("CALLABLES-006", "A closed session makes no callable.")
def closed_sessions_make_no_callable(tf: Namespace) -> Namespace:
    """Raise an error in `make_callable`."""

    def make(session: Session, base: Call, fetches: Fetches, feeds: Feeds, options: bool) -> Call:
        if session.shut:
            raise tf.errors.CancelledError(None, None, "Session has been closed.")
        return base(fetches, feeds, options)

    return _making(tf, make)
