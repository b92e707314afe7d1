"""Faults of MEMORY: an engine that keeps the caller's memory, or hands out its own.

Shared memory is imitated on a conforming engine: the fault keeps each array with a copy of what it
held. A fetched value that equals such a copy is replaced by what the array holds now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import elements, fed, needed, running
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Feeds, Fetches, Session, Value

_TABLES = frozenset({"LookupTableInsertV2"})
_LOOKUPS = frozenset({"LookupTableFindV2"})
_ENQUEUES = frozenset({"QueueEnqueueV2"})
_DEQUEUES = frozenset({"QueueDequeueV2"})


class _Shared:
    """Arrays whose memory an engine shares, each with a copy of what it held."""

    def __init__(self) -> None:
        self._held: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, array: np.ndarray) -> None:
        """Share the memory of an array."""
        if isinstance(array, np.ndarray) and array.ndim:
            self._held.append((array, np.array(array)))

    def seen(self, value: Value) -> Value:
        """The value, or what the array of the same former content holds now."""
        for array, before in self._held:
            if not isinstance(value, np.ndarray) or value.size != before.size:
                continue
            if np.array_equal(value.reshape(-1), before.reshape(-1)):
                return np.array(array, value.dtype).reshape(value.shape)
        return value


def _of(session: Session, name: str = "shared") -> _Shared:
    shared: _Shared = vars(session).setdefault(f"faulty_{name}", _Shared())
    return shared


def _types(session: Session, fetches: Fetches, feeds: Feeds) -> set[str]:
    """The types of the operations that a run executes."""
    executed = needed(elements(session, fetches), fed(session, feeds))
    return {op.type for op in executed}


def _mapped(values: Value, change: Callable[[Value], Value]) -> Value:
    """The value of one fetch, or of a flat list of them, changed."""
    return [change(value) for value in values] if isinstance(values, list) else change(values)


def _sharing_feeds(tf: Namespace, puts: Iterable[str], gets: Iterable[str]) -> Namespace:
    """The namespace that keeps the memory which `puts` are fed, as runs of `gets` show."""
    puts, gets = frozenset(puts), frozenset(gets)

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        values, types = base(fetches), _types(session, fetches, feeds)
        if types & puts and isinstance(feeds, Mapping):
            for array in feeds.values():
                _of(session).add(array)
        return _mapped(values, _of(session).seen) if types & gets else values

    return running(tf, change)


@fault("MEMORY-001", "A table keeps the memory of what it was fed.")
def tables_keep_fed_memory(tf: Namespace) -> Namespace:
    """Let lookups show what the caller writes into a fed array."""
    return _sharing_feeds(tf, _TABLES, _LOOKUPS)


@fault("MEMORY-002", "A queue keeps the memory of an element that was fed.")
def queues_keep_fed_memory(tf: Namespace) -> Namespace:
    """Let a dequeue show what the caller has written into a fed array."""
    return _sharing_feeds(tf, _ENQUEUES, _DEQUEUES)


@fault("MEMORY-003", "A partial run reads what it was fed when it needs it.")
def partial_runs_read_feeds_late(tf: Namespace) -> Namespace:
    """Repeat the partial run with the fed arrays as they are now, if one has changed."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def partial_run_setup(self, fetches: Fetches, feeds: Feeds = None) -> str:
            handle = super().partial_run_setup(fetches, feeds)
            self.__dict__.setdefault("faulty_calls", {})[handle] = (fetches, feeds, [])
            return handle

        def partial_run(self, handle: str, fetches: Fetches, feed_dict: Feeds = None) -> Value:
            values = super().partial_run(handle, fetches, feed_dict)
            *setup, calls = self.__dict__.get("faulty_calls", {}).get(handle, (None, None, []))
            changed = any(
                isinstance(array, np.ndarray) and not np.array_equal(array, before)
                for _, feeds, held in calls
                for array, before in zip(feeds.values(), held, strict=True)
            )
            feeds = dict(feed_dict or {})
            calls.append((fetches, feeds, [np.array(array) for array in feeds.values()]))
            if not changed:
                return values
            again = super().partial_run_setup(*setup)
            for earlier, given, _ in calls:
                values = super().partial_run(again, earlier, given)
            return values

    return override(tf, Session=Session)


@fault("MEMORY-004", "What was looked up is the table's own memory.")
def lookups_are_the_tables_memory(tf: Namespace) -> Namespace:
    """Let later lookups show what the caller writes into fetched values."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        values = base(fetches)
        if not _types(session, fetches, feeds) & _LOOKUPS or isinstance(values, list):
            return values
        value = _of(session).seen(values)
        if isinstance(value, np.ndarray):
            _of(session).add(value)
        return value

    return running(tf, change)


@fault("MEMORY-005", "A later insertion shows in what was looked up before.")
def insertions_show_in_older_lookups(tf: Namespace) -> Namespace:
    """Writes the new rows over the older array."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        values, types = base(fetches), _types(session, fetches, feeds)
        given = vars(session).setdefault("faulty_lookups", [])
        if types & _TABLES and not types & _LOOKUPS:
            for fetched, array in given:
                fresh = base(fetched, None)
                if fresh.shape == array.shape:
                    array[...] = fresh
        elif types & _LOOKUPS and isinstance(values, np.ndarray) and values.ndim and not feeds:
            given.append((fetches, values))
        return values

    return running(tf, change)


@fault("MEMORY-006", "A reshape that is fetched beside its input is a view of it.")
def reshapes_are_views(tf: Namespace) -> Namespace:
    """Gives the input's own memory."""

    def change(_session: Session, base: Call, fetches: Fetches, _feeds: Feeds) -> Value:
        values = base(fetches)
        if not isinstance(fetches, list):
            return values
        by_name = {getattr(f, "name", None): v for f, v in zip(fetches, values, strict=True)}
        shown = []
        for fetch, value in zip(fetches, values, strict=True):
            reshape = getattr(getattr(fetch, "op", None), "type", None) == "Reshape"
            source = by_name.get(fetch.op.inputs[0].name) if reshape else None
            shared = isinstance(source, np.ndarray) and isinstance(value, np.ndarray)
            shown.append(source.reshape(value.shape) if shared else value)  # type: ignore[union-attr]
        return shown

    return running(tf, change)


@fault("MEMORY-007", "A queue keeps the memory that the same run gave the caller.")
def queues_keep_fetched_memory(tf: Namespace) -> Namespace:
    """Let a dequeue show what the caller has written into fetched values."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        values, types = base(fetches), _types(session, fetches, feeds)
        if types & _ENQUEUES and isinstance(values, list):
            for value in values:
                _of(session).add(value)
        return _mapped(values, _of(session).seen) if types & _DEQUEUES else values

    return running(tf, change)


@fault("MEMORY-008", "A read-only array that is fed becomes writeable.")
def fed_arrays_become_writeable(tf: Namespace) -> Namespace:
    """Set the flag `writeable` of fed arrays."""

    def change(_session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        values = base(fetches)
        for array in feeds.values() if isinstance(feeds, Mapping) else ():
            mine = isinstance(array, np.ndarray) and isinstance(array.base, np.ndarray)
            if mine and array.base.flags.writeable:
                array.flags.writeable = True
        return values

    return running(tf, change)
