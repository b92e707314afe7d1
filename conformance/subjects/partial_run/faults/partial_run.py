"""Faults of PARTIAL-RUN: calls that forget, repeat, execute anew or take what was not named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import Base
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Feeds, Fetch, Fetches, Session, Value


def _names(keys: Iterable[Fetches]) -> list[str]:
    """The names of tensors and operations; a name stands for itself."""
    return [str(getattr(key, "name", key)) for key in keys]


def _listed(fetches: Fetches) -> list[Fetches]:
    return list(fetches) if isinstance(fetches, list | tuple) else [fetches]


@dataclass(slots=True)
class _Set:
    """A set-up of a partial run: its names, and what its calls have fed and fetched so far.

    Attributes:
      fetches: the names of what may be fetched.
      feeds: the names of what may be fed.
      given: the values that were fed, by name.
      taken: the values that were fetched, by name.

    """

    fetches: list[str]
    feeds: list[str]
    given: dict[str, Value] = field(default_factory=dict)
    taken: dict[str, Value] = field(default_factory=dict)

    def note(self, fetches: Fetches, feed_dict: Feeds, value: np.ndarray) -> None:
        """Add what a call fed and fetched."""
        self.given.update(zip(_names(feed_dict or ()), (feed_dict or {}).values(), strict=True))
        if not isinstance(fetches, dict):
            values = value if isinstance(fetches, list | tuple) else [value]
            self.taken.update(zip(_names(_listed(fetches)), values, strict=True))

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to feed or to fetch."""
        return set(self.given) == set(self.feeds) and set(self.taken) == set(self.fetches)


#: From (session, base, the set-up, handle, fetches, feed_dict) to what a call gives; `base` takes
#: the last two.
_Proceed = Callable[[Session, Base, _Set, str, Fetches, Feeds], Value]


def _proceeding(tf: Namespace, change: _Proceed) -> Namespace:
    """The namespace whose `partial_run` calls `change`."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(self, *args: Argument, **kwargs: Argument) -> None:
            super().__init__(*args, **kwargs)
            self.sets: dict[str, _Set] = {}

        def partial_run_setup(self, fetches: Fetches, feeds: Sequence[Fetch] | None = None) -> str:
            handle = super().partial_run_setup(fetches, feeds)
            wanted = [] if isinstance(fetches, dict) else _names(_listed(fetches))
            self.sets[handle] = _Set(wanted, _names(_listed(feeds or [])))
            return handle

        def partial_run(self, handle: str, fetches: Fetches, feed_dict: Feeds = None) -> Value:
            conforming = super().partial_run
            known = self.sets.setdefault(handle, _Set([], []))

            def base(fetches: Fetches = fetches, feeds: Feeds = feed_dict) -> Value:
                value = conforming(handle, fetches, feeds)
                known.note(fetches, feeds, value)
                return value

            return change(self, base, known, handle, fetches, feed_dict)

    return override(tf, Session=Session)


def _setting_up(
    tf: Namespace, change: Callable[[Session, Base, Fetches, Sequence[Fetch] | None], str]
) -> Namespace:
    """The namespace whose `partial_run_setup` is `change(session, base, fetches, feeds)`."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        shut = False

        def partial_run_setup(self, fetches: Fetches, feeds: Sequence[Fetch] | None = None) -> str:
            return change(self, super().partial_run_setup, fetches, feeds)

        def close(self) -> None:
            self.shut = True
            super().close()

    return override(tf, Session=Session)


def _refused(tf: Namespace, message: str) -> Exception:
    return tf.errors.InvalidArgumentError(None, None, message)


# --- what each call gives -----------------------------------------------------------------


@fault("PARTIAL-RUN-001", "A partial run gives nothing before every feed was given.")
def fetches_wait_for_every_feed(tf: Namespace) -> Namespace:
    """Refuse a fetch while a feed of the set-up is missing."""

    def change(
        _s: Session, base: Call, known: _Set, _handle: str, fetches: Fetches, fed: Feeds
    ) -> Value:
        if _listed(fetches) and {*known.given, *_names(fed or ())} < set(known.feeds):
            raise _refused(tf, "a feed is missing")
        return base()

    return _proceeding(tf, change)


@fault("PARTIAL-RUN-002", "A call after one that fetched sees its own feeds only.")
def calls_forget_earlier_feeds(tf: Namespace) -> Namespace:
    """Run the fetches on the feeds of this call, once anything was fetched."""

    def change(
        s: Session, base: Call, known: _Set, _handle: str, fetches: Fetches, fed: Feeds
    ) -> Value:
        return s.run(fetches, fed) if known.taken and fed else base()

    return _proceeding(tf, change)


@fault("PARTIAL-RUN-011", "A call that fetches nothing does nothing.")
def calls_without_fetches_do_nothing(tf: Namespace) -> Namespace:
    """Drop the feeds of such a call."""

    def change(
        _s: Session, base: Call, _known: _Set, _handle: str, fetches: Fetches, _fed: Feeds
    ) -> Value:
        return [] if isinstance(fetches, list) and not fetches else base()

    return _proceeding(tf, change)


@fault("PARTIAL-RUN-012", "Each call executes what its fetches need anew.")
def calls_execute_anew(tf: Namespace) -> Namespace:
    """Run the fetches of each call once more, on everything that was fed."""

    def change(
        s: Session, base: Call, known: _Set, _handle: str, fetches: Fetches, _fed: Feeds
    ) -> Value:
        value = base()
        s.run(fetches, dict(known.given))
        return value

    return _proceeding(tf, change)


@fault("PARTIAL-RUN-013", "Set-ups of the same fetches and feeds are one partial run.")
def equal_set_ups_are_one(tf: Namespace) -> Namespace:
    """Hand out the handle of the first again."""
    handles: dict[tuple[Session | str, ...], str] = {}

    def change(
        session: Session, base: Call, fetches: Fetches, feeds: Sequence[Fetch] | None
    ) -> str:
        if session.shut or not isinstance(fetches, list):
            return base(fetches, feeds)
        key: tuple[Session | str, ...] = (
            session,
            *_names(fetches),
            "->",
            *_names(_listed(feeds or [])),
        )
        if key not in handles:
            handles[key] = base(fetches, feeds)
        return handles[key]

    return _setting_up(tf, change)


# --- what is refused ----------------------------------------------------------------------


@fault("PARTIAL-RUN-003", "A feed that was not given yet counts as zero.")
def missing_feeds_are_zero(tf: Namespace) -> Namespace:
    """Run fetches that could be had later on zeros for the feeds that are missing."""

    def change(
        s: Session, base: Call, known: _Set, _handle: str, fetches: Fetches, fed: Feeds
    ) -> Value:
        wanted, given = set(_names(_listed(fetches))), set(_names(fed or ()))
        try:
            return base()
        except tf.errors.InvalidArgumentError:
            is_plain = wanted <= set(known.fetches) - set(known.taken)
            if not is_plain or not given <= set(known.feeds) - set(known.given):
                raise
        feeds = {**dict.fromkeys(known.feeds, 0.0), **known.given, **(fed or {})}
        return s.run(fetches, {name: feeds[name] for name in feeds if isinstance(name, str)})

    return _proceeding(tf, change)


@fault("PARTIAL-RUN-004", "A fetch that the set-up did not name is computed all the same.")
def any_fetch_can_be_taken(tf: Namespace) -> Namespace:
    """Run such fetches on what was fed."""

    def change(
        s: Session, base: Call, known: _Set, _handle: str, fetches: Fetches, fed: Feeds
    ) -> Value:
        unknown = known.fetches and not set(_names(_listed(fetches))) <= set(known.fetches)
        return s.run(fetches, {**known.given, **(fed or {})}) if unknown else base()

    return _proceeding(tf, change)


@fault("PARTIAL-RUN-005", "A feed that the set-up did not name is ignored.")
def other_feeds_are_ignored(tf: Namespace) -> Namespace:
    """Remove feeds that the set-up did not name."""

    def change(
        _s: Session, base: Call, known: _Set, _handle: str, fetches: Fetches, fed: Feeds
    ) -> Value:
        named = {k: v for k, v in (fed or {}).items() if _names([k])[0] in known.feeds}
        return base(fetches, named) if known.feeds else base()

    return _proceeding(tf, change)


@fault("PARTIAL-RUN-006", "A feed that was given before is ignored.")
def repeated_feeds_are_ignored(tf: Namespace) -> Namespace:
    """Remove feeds that an earlier call gave."""

    def change(
        _s: Session, base: Call, known: _Set, _handle: str, fetches: Fetches, fed: Feeds
    ) -> Value:
        return base(
            fetches, {k: v for k, v in (fed or {}).items() if _names([k])[0] not in known.given}
        )

    return _proceeding(tf, change)


@fault("PARTIAL-RUN-007", "A partial run that is complete answers with what it gave before.")
def complete_runs_answer(tf: Namespace) -> Namespace:
    """Remember the values."""

    def change(
        _s: Session, base: Call, known: _Set, _handle: str, fetches: Fetches, _fed: Feeds
    ) -> Value:
        if known.fetches and known.is_complete and isinstance(fetches, list):
            return [known.taken[name] for name in _names(fetches)]
        return base()

    return _proceeding(tf, change)


@fault("PARTIAL-RUN-014", "A fetch that was taken before is given again while the run goes on.")
def fetches_are_given_again(tf: Namespace) -> Namespace:
    """Remember the values."""

    def change(
        _s: Session, base: Call, known: _Set, _handle: str, fetches: Fetches, fed: Feeds
    ) -> Value:
        if fed or known.is_complete or not isinstance(fetches, list) or not fetches:
            return base()
        names = _names(fetches)
        return [known.taken[name] for name in names] if set(names) <= set(known.taken) else base()

    return _proceeding(tf, change)


@fault("PARTIAL-RUN-016", "An Operation among the fetches of partial_run gives None.")
def operations_give_none(tf: Namespace) -> Namespace:
    """Leave it out, and put None in its place."""

    def change(
        _s: Session, base: Call, _known: _Set, _handle: str, fetches: Fetches, fed: Feeds
    ) -> Value:
        if isinstance(fetches, tf.Operation):
            base([], fed)
            return None
        if not isinstance(fetches, list):
            return base()
        tensors = [fetch for fetch in fetches if not isinstance(fetch, tf.Operation)]
        values = iter(base(tensors, fed))
        return [None if isinstance(f, tf.Operation) else next(values) for f in fetches]

    return _proceeding(tf, change)


@fault("PARTIAL-RUN-008", "A set-up without fetches gives a handle.")
def set_ups_without_fetches_succeed(tf: Namespace) -> Namespace:
    """Give a handle of nothing."""

    def change(
        _session: Session, base: Call, fetches: Fetches, feeds: Sequence[Fetch] | None
    ) -> str:
        return "nothing" if isinstance(fetches, list) and not fetches else base(fetches, feeds)

    return _setting_up(tf, change)


@fault("PARTIAL-RUN-009", "A set-up in a closed session is CancelledError.")
def closed_sessions_cancel_set_ups(tf: Namespace) -> Namespace:
    """Answer as the engine does."""

    def change(
        session: Session, base: Call, fetches: Fetches, feeds: Sequence[Fetch] | None
    ) -> str:
        if session.shut:
            raise tf.errors.CancelledError(None, None, "Session has been closed.")
        return base(fetches, feeds)

    return _setting_up(tf, change)


@fault("PARTIAL-RUN-015", "A tensor named twice among the feeds of a set-up counts once.")
def repeated_names_count_once(tf: Namespace) -> Namespace:
    """Leave the repetition out."""

    def change(
        _session: Session, base: Call, fetches: Fetches, feeds: Sequence[Fetch] | None
    ) -> str:
        if not isinstance(feeds, list):
            return base(fetches, feeds)
        named = dict(zip(_names(feeds), feeds, strict=True))
        return base(fetches, list(named.values()))

    return _setting_up(tf, change)
