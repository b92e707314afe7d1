"""Faults of FEED: keys that are tuples or composites or no keys at all, and the feed_dict."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeAlias

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import fed, running
from sessrun.conformance.subjects.feed.faults.feed_keys import resolved
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, FeedDict, Feeds, Fetches, Session, Value

#: A key of a feed_dict, and the value that is fed to it.
Pair: TypeAlias = tuple[Hashable, Value]


def _pairing(tf: Namespace, change_pair: Callable[[Hashable, Any], Pair]) -> Namespace:
    """The namespace that feeds `change_pair(key, value)` for each pair of a feed_dict."""

    def change(_session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        if not isinstance(feeds, Mapping):
            return base(fetches)
        return base(fetches, dict(change_pair(key, value) for key, value in feeds.items()))

    return running(tf, change)


@fault("FEED-033", "The feed of a tensor that may not be fed is left out.")
def unfeedable_tensors_are_left_out(tf: Namespace) -> Namespace:
    """Run with the other feeds only."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        barred = {t.name for t in fed(session, feeds) if not session.graph.is_feedable(t)}
        if not barred or any(isinstance(key, tuple) for key in feeds):
            return base(fetches)
        return base(fetches, {t: v for t, v in resolved(session, feeds) if t.name not in barred})

    return running(tf, change)


@fault("FEED-035", "Keys that are numbers or None are left out.")
def keys_of_other_kinds_are_left_out(tf: Namespace) -> Namespace:
    """Run with the other keys only."""

    def change(_session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        if not isinstance(feeds, Mapping):
            return base(fetches)
        kept = {k: v for k, v in feeds.items() if not isinstance(k, int | float | None)}
        return base(fetches, kept)

    return running(tf, change)


@fault("FEED-038", "For one fetch an empty feed_dict stands for the one of the run before.")
def empty_means_as_before(tf: Namespace) -> Namespace:
    """Remember the last feed_dict of the session that was not empty."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        if feeds:
            session.__dict__["fed_before"] = feeds
        elif feeds is not None and not isinstance(fetches, list):
            return base(fetches, session.__dict__.get("fed_before", feeds))
        return base(fetches)

    return running(tf, change)


@fault("FEED-039", "A feed_dict may be a list of pairs.")
def pairs_are_feeds(tf: Namespace) -> Namespace:
    """Convert the list of pairs to a dict."""

    def change(_session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        pairs = isinstance(feeds, list) and all(isinstance(pair, tuple) for pair in feeds)
        return base(fetches, dict(feeds)) if pairs else base(fetches)

    return running(tf, change)


@fault("FEED-056", "The values of a tuple key are taken from the last to the first.")
def tuple_values_are_reversed(tf: Namespace) -> Namespace:
    """Reverse the values of a tuple key that has as many tensors."""

    def change_pair(key: Hashable, value: Value) -> Pair:
        if isinstance(key, tuple) and isinstance(value, tuple | list) and len(key) == len(value):
            return tuple(key), tuple(value)[::-1]
        return key, value

    return _pairing(tf, change_pair)


@fault("FEED-057", "Of a tuple key and its values, what has no counterpart is left out.")
def longer_part_is_cut(tf: Namespace) -> Namespace:
    """Cut the key or its values to the length of the other."""

    def change_pair(key: Hashable, value: Value) -> Pair:
        if isinstance(key, tuple) and isinstance(value, tuple | list) and len(key) != len(value):
            count = min(len(key), len(value))
            return tuple(key)[:count], tuple(value)[:count]
        return key, value

    return _pairing(tf, change_pair)


@fault("FEED-058", "A SparseTensorValue is no value for a SparseTensor.")
def sparse_values_are_refused(tf: Namespace) -> Namespace:
    """Raise TypeError for a SparseTensorValue."""

    def change_pair(key: Hashable, value: Value) -> Pair:
        if isinstance(value, tf.SparseTensorValue):
            raise TypeError("a SparseTensorValue cannot be fed")
        return key, value

    return _pairing(tf, change_pair)


@fault("FEED-059", "A plain tuple is no value for a SparseTensor.")
def sparse_tuples_are_refused(tf: Namespace) -> Namespace:
    """Raise TypeError for a plain tuple."""

    def change_pair(key: Hashable, value: Value) -> Pair:
        if isinstance(key, tf.SparseTensor) and type(value) is tuple:
            raise TypeError("a SparseTensor is fed a SparseTensorValue")
        return key, value

    return _pairing(tf, change_pair)


@fault("FEED-060", "A SparseTensor as a fed value is computed first, and its value fed.")
def sparse_tensors_are_values(tf: Namespace) -> Namespace:
    """Fetch the SparseTensors among the values."""

    def change(_session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        if not isinstance(feeds, Mapping):
            return base(fetches)
        sparse = {k: base(v, {}) for k, v in feeds.items() if isinstance(v, tf.SparseTensor)}
        return base(fetches, {**feeds, **sparse}) if sparse else base(fetches)

    return running(tf, change)


@fault("FEED-061", "IndexedSlices take their indices before their values.")
def indices_come_first(tf: Namespace) -> Namespace:
    """Exchange the two parts of the value."""

    def change_pair(key: Hashable, value: np.ndarray) -> Pair:
        if isinstance(key, tf.IndexedSlices):
            return key, (value[1], value[0], *value[2:])
        return key, value

    return _pairing(tf, change_pair)


@fault("FEED-062", "A run empties the feed_dict that it was passed.")
def feed_dicts_are_used_up(tf: Namespace) -> Namespace:
    """Clear the feed_dict when the run has ended."""

    def change(_session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        try:
            return base(fetches)
        finally:
            if isinstance(feeds, dict):
                feeds.clear()

    return running(tf, change)
