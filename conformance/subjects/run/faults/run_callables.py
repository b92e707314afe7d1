"""Faults of RUN: callables with another structure, order, memory or moment of refusal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Fetch, Fetches, Session, Value


def _making(
    tf: Namespace,
    change: Callable[[Session, Callable[..., Call], Fetches, Sequence[Fetch] | None], Call],
) -> Namespace:
    """The namespace whose `make_callable` is `change(session, base, fetches, feed_list)`."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        shut = False

        def make_callable(
            self,
            fetches: Fetches,
            feed_list: Sequence[Fetch] | None = None,
            accept_options: bool = False,
        ) -> Call:
            conforming = super().make_callable

            def base(fetches: Fetches, feed_list: Sequence[Fetch] | None = feed_list) -> Call:
                return conforming(fetches, feed_list, accept_options)

            return change(self, base, fetches, feed_list)

        def close(self) -> None:
            self.shut = True
            super().close()

    return override(tf, Session=Session)


@fault("RUN-034", "A callable of a tuple of fetches returns a list.")
def callables_return_lists(tf: Namespace) -> Namespace:
    """Turn the tuple that a call returns into a list."""

    def change(
        _session: Session,
        base: Callable[..., Call],
        fetches: Fetches,
        _feed_list: Sequence[Fetch] | None,
    ) -> Call:
        call = base(fetches)
        if not isinstance(fetches, tuple):
            return call
        return lambda *args, **kwargs: list(call(*args, **kwargs))

    return _making(tf, change)


@fault("RUN-035", "The arguments of a callable are fed in the order of the tensors' names.")
def feeds_arguments_by_name(tf: Namespace) -> Namespace:
    """Sort the feed_list by name."""

    def change(
        _session: Session,
        base: Callable[..., Call],
        fetches: Fetches,
        feed_list: Sequence[Fetch] | None,
    ) -> Call:
        if not isinstance(feed_list, list | tuple):
            return base(fetches)
        return base(fetches, sorted(feed_list, key=lambda tensor: getattr(tensor, "name", tensor)))

    return _making(tf, change)


@fault("RUN-036", "A call with too few arguments is TypeError.")
def counts_the_arguments(tf: Namespace) -> Namespace:
    """Compare the numbers of arguments and feeds, as a Python function would."""

    def change(
        _session: Session,
        base: Callable[..., Call],
        fetches: Fetches,
        feed_list: Sequence[Fetch] | None,
    ) -> Call:
        call = base(fetches)

        def counted(*args: Argument, **kwargs: Argument) -> Value:
            count = len(feed_list or ())
            if len(args) < count:
                raise TypeError(f"the callable takes {count} arguments")
            return call(*args, **kwargs)

        return counted

    return _making(tf, change)


@fault("RUN-037", "A callable without feeds executes once and repeats its value.")
def callables_remember(tf: Namespace) -> Namespace:
    """Keep the value of the first call."""

    def change(
        _session: Session,
        base: Callable[..., Call],
        fetches: Fetches,
        feed_list: Sequence[Fetch] | None,
    ) -> Call:
        call = base(fetches)
        if feed_list:
            return call
        kept: list[Value] = []

        def remembered(*args: Argument, **kwargs: Argument) -> Value:
            if not kept:
                kept.append(call(*args, **kwargs))
            return kept[0]

        return remembered

    return _making(tf, change)


@fault("RUN-038", "Invalid fetches of a callable are refused only when it is called.")
def refuses_fetches_late(tf: Namespace) -> Namespace:
    """Make the callable at its first call where it has no feed_list."""

    def change(
        _session: Session,
        base: Callable[..., Call],
        fetches: Fetches,
        feed_list: Sequence[Fetch] | None,
    ) -> Call:
        if feed_list is not None:
            return base(fetches)

        def late(*args: Argument, **kwargs: Argument) -> Value:
            return base(fetches)(*args, **kwargs)

        return late

    return _making(tf, change)


@fault("RUN-039", "A feed_list that is no list stands for a list of itself.")
def takes_a_single_feed(tf: Namespace) -> Namespace:
    """Wrap a single feed."""

    def change(
        _session: Session,
        base: Callable[..., Call],
        fetches: Fetches,
        feed_list: Sequence[Fetch] | None,
    ) -> Call:
        single = feed_list is not None and not isinstance(feed_list, list | tuple)
        return base(fetches, [feed_list] if single else feed_list)

    return _making(tf, change)


@fault("RUN-040", "A call without feeds after its session was closed is RuntimeError.")
def closed_callables_are_runtime_errors(tf: Namespace) -> Namespace:
    """Raise what a run on a closed session raises."""

    def change(
        session: Session,
        base: Callable[..., Call],
        fetches: Fetches,
        _feed_list: Sequence[Fetch] | None,
    ) -> Call:
        call = base(fetches)

        def checked(*args: Argument, **kwargs: Argument) -> Value:
            if session.shut:
                raise RuntimeError("Attempted to use a closed Session.")
            return call(*args, **kwargs)

        return checked

    return _making(tf, change)
