"""Faults of FEED: fed values that change on their way, and arrays that do not stay as they were."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import elements, needed, running
from sessrun.conformance.subjects.feed.faults.feed_keys import hasty, resolved
from sessrun.conformance.subjects.feed.faults.feed_shapes import misfits
from sessrun.spec.cases.arguments import DType
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Call, FeedDict, Feeds, Fetches, Session, Tensor, Value


def _converting(tf: Namespace, changed: Callable[[Tensor, Any], Value]) -> Namespace:
    """The namespace that feeds `changed(tensor, value)` for each value of a valid feed_dict."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        pairs = resolved(session, feeds) if isinstance(feeds, Mapping) else []
        if not pairs or len(pairs) < len(feeds):
            return base(fetches)
        return base(fetches, {tensor: changed(tensor, value) for tensor, value in pairs})

    return running(tf, change)


@fault("FEED-012", "Three or more feeds of one dtype and shape are matched in order of name.")
def matches_feeds_in_order_of_name(tf: Namespace) -> Namespace:
    """Give the keys of each dtype and shape, sorted by name, the values in the order they came."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        pairs = resolved(session, feeds) if isinstance(feeds, Mapping) else []
        if len(pairs) < 3 or len(pairs) < len(feeds):
            return base(fetches)
        kinds: dict[tuple[DType, tuple[int, ...]], list[tuple[Tensor, Value]]] = {}
        for tensor, value in pairs:
            kinds.setdefault((tensor.dtype, np.shape(value)), []).append((tensor, value))
        mixed: dict[str, Value] = {}
        for group in kinds.values():
            names = [tensor.name for tensor, _ in group]
            if len(group) > 2:  # pairs are fed in too many cases of other clauses
                names.sort()
            mixed |= zip(names, (value for _, value in group), strict=True)
        return base(fetches, mixed)

    return running(tf, change)


@fault("FEED-014", "64-bit integers beyond 2**53 lose their last bits, as in a double.")
def integers_pass_through_doubles(tf: Namespace) -> Namespace:
    """Clear the last bits of large int64 and uint64 values."""

    def changed(tensor: Tensor, value: Array) -> Value:
        if tensor.dtype.name not in {"int64", "uint64"} or not np.size(value):
            return value
        array = np.asarray(value)
        if array.dtype.kind not in "iu" or np.all((array <= 2**53) & (array >= -(2**53))):
            return value
        return array - array % 2048

    return _converting(tf, changed)


@fault("FEED-015", "Bytes lose their trailing NULs.")
def bytes_end_at_their_nuls(tf: Namespace) -> Namespace:
    """Strip trailing NULs from every fed element of bytes."""

    def changed(tensor: Tensor, value: Value) -> Value:
        if tensor.dtype.name != "string" or not isinstance(value, bytes | list | np.ndarray):
            return value
        array = np.asarray(value, dtype=object)
        items = [item.rstrip(b"\0") if isinstance(item, bytes) else item for item in array.flat]
        stripped = np.empty(array.size, dtype=object)
        stripped[:] = items
        return stripped.reshape(array.shape)

    return _converting(tf, changed)


@fault("FEED-029", "Updates execute before a value is found that cannot be converted.")
def updates_before_converting(tf: Namespace) -> Namespace:
    """Execute the updates where all keys are valid and all shapes fit."""

    def concerns(session: Session, feeds: FeedDict) -> bool:
        pairs = resolved(session, feeds)
        return len(pairs) == len(feeds) and not any(misfits(*pair) for pair in pairs)

    return hasty(tf, concerns)


@fault("FEED-030", "A negation computes in place, in the array that was fed.")
def negates_in_place(tf: Namespace) -> Namespace:
    """Negate fed float arrays whose tensor a Neg of the run consumes."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        values = base(fetches)
        pairs = resolved(session, feeds) if isinstance(feeds, Mapping) else []
        ops = needed(elements(session, fetches), [tensor for tensor, _ in pairs])
        fetched = {element.name for element in elements(session, fetches)}
        negated = {op.inputs[0].name for op in ops if op.type == "Neg"} - fetched
        for tensor, value in pairs:
            if tensor.name in negated and isinstance(value, np.ndarray) and value.flags.writeable:
                np.negative(value, out=value)
        return values

    return running(tf, change)


@fault("FEED-032", "The value fed for a reference variable is stored in the variable.")
def stores_what_is_fed_for_a_variable(tf: Namespace) -> Namespace:
    """Run an assignment to the variable with the fed value after the run."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        values = base(fetches)
        for tensor, value in resolved(session, feeds) if isinstance(feeds, Mapping) else ():
            if tensor.op.type in {"Variable", "VariableV2"}:
                for op in [user for user in tensor.consumers() if user.type == "Assign"][:1]:
                    base(op, {op.inputs[1]: value})
        return values

    return running(tf, change)
