"""Faults of FETCH, FEED and RUN: limits of size that an engine does not declare."""

from __future__ import annotations

from typing import Final

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import running
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Feeds, Fetches, Session, Value

#: The bytes of a block, and how many fetches a run may have.
_BLOCK: Final = 1 << 16
_FETCHES: Final = 256


@fault("FETCH-049", "Of a fetched tensor only the first 64 KiB are copied.")
def large_fetches_are_cut(tf: Namespace) -> Namespace:
    """Leaves zeros behind the first block."""

    def change(_session: Session, base: Call, fetches: Fetches, _feeds: Feeds) -> Value:
        values = base(fetches)
        return [_cut(value) for value in values] if isinstance(values, list) else _cut(values)

    return running(tf, change)


@fault("FEED-064", "Of a fed array only the first 64 KiB are copied.")
def large_feeds_are_cut(tf: Namespace) -> Namespace:
    """Leaves zeros behind the first block."""

    def change(_session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        if not isinstance(feeds, dict):
            return base(fetches)
        return base(fetches, {key: _cut(value) for key, value in feeds.items()})

    return running(tf, change)


@fault("RUN-054", "Beyond 256 fetches the values begin again.")
def fetches_begin_again(tf: Namespace) -> Namespace:
    """Return the value at the index modulo 256, as a table with one-byte indices does."""

    def change(_session: Session, base: Call, fetches: Fetches, _feeds: Feeds) -> Value:
        values = base(fetches)
        if not isinstance(values, list):
            return values
        return [values[index % _FETCHES] for index in range(len(values))]

    return running(tf, change)


def _cut(value: Value) -> Value:
    if isinstance(value, bytes):
        return value[:_BLOCK]
    if not isinstance(value, np.ndarray) or value.nbytes <= _BLOCK or value.dtype.kind == "O":
        return value
    kept = value.copy()
    kept.reshape(-1)[_BLOCK // value.itemsize :] = 0
    return kept
