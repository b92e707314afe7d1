"""Faults of FEED: placeholders that are not fed, feeds that no fetch needs, shapes, sharing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import elements, fed, needed, running
from sessrun.conformance.subjects.feed.faults.feed_conversion import converting
from sessrun.conformance.subjects.feed.faults.feed_keys import is_tensor, resolved
from sessrun.conformance.subjects.feed.faults.feed_shapes import misfits
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Call, FeedDict, Feeds, Fetches, Session, Tensor, Value


@fault("FEED-007", "A placeholder that is not fed has the value that it was fed last.")
def placeholders_remember(tf: Namespace) -> Namespace:
    """Feed the placeholders that a run lacks with what an earlier run fed."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        last = session.__dict__.setdefault("last_fed", {})
        given = fed(session, feeds)
        lacking = {op.name for op in needed(elements(session, fetches), given)}
        more = {name: value for name, value in last.items() if name.partition(":")[0] in lacking}
        values = base(fetches, {**(feeds or {}), **more}) if more else base(fetches)
        for tensor, value in resolved(session, feeds) if isinstance(feeds, Mapping) else ():
            if tensor.op.type == "Placeholder":
                last[tensor.name] = value
        return values

    return running(tf, change)


@fault("FEED-008", "A run with feeds must feed the string placeholders that nothing consumes.")
def unused_placeholders_must_be_fed(tf: Namespace) -> Namespace:
    """Raise InvalidArgumentError for a string placeholder without consumers."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        given = {tensor.name for tensor in fed(session, feeds)}
        for op in session.graph.get_operations() if given else ():
            unused = op.type == "Placeholder" and not op.outputs[0].consumers()
            if unused and op.outputs[0].dtype == tf.string and op.outputs[0].name not in given:
                raise tf.errors.InvalidArgumentError(None, op, f"{op.name} must be fed")
        return base(fetches)

    return running(tf, change)


@fault("FEED-010", "A placeholder with a default takes the default's shape only.")
def defaults_give_the_shape(tf: Namespace) -> Namespace:
    """Refuse a value of another shape than the static one of the default."""

    def convert(tensor: Tensor, value: Array) -> Value:
        if tensor.op.type == "PlaceholderWithDefault":
            shape = tensor.op.inputs[0].shape
            if not shape.is_compatible_with(np.shape(value)):
                raise ValueError(f"{tensor.name} has a default of shape {shape}")
        return value

    return converting(tf, convert)


@fault("FEED-011", "A feed of a constant that no fetch needs is refused.")
def unneeded_feeds_are_refused(tf: Namespace) -> Namespace:
    """Raise ValueError where a fed constant is neither fetched nor above a fetch."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        names = {op.name for op in needed(elements(session, fetches), [])}
        for tensor in fed(session, feeds):
            if names and tensor.op.type == "Const" and tensor.op.name not in names:
                raise ValueError(f"no fetch needs {tensor.name}")
        return base(fetches)

    return running(tf, change)


@fault("FEED-013", "The first feed of a partly known shape fixes the shape for the session.")
def first_shape_holds(tf: Namespace) -> Namespace:
    """Refuse another number of rows for a placeholder of shape [None, 2]."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        first = session.__dict__.setdefault("first_shapes", {})
        for tensor, value in resolved(session, feeds) if isinstance(feeds, Mapping) else ():
            known = tensor.op.type == "Placeholder" and tensor.shape.ndims is not None
            if known and tensor.shape.as_list() == [None, 2]:
                shape = first.setdefault(tensor.name, np.shape(value))
                if shape != np.shape(value):
                    raise ValueError(f"{tensor.name} was fed shape {shape} before")
        return base(fetches)

    return running(tf, change)


@fault("FEED-027", "A value for a tensor that is no placeholder is cut or repeated to its shape.")
def other_tensors_are_resized(tf: Namespace) -> Namespace:
    """Resize the value where the static shape of the tensor is known."""

    def convert(tensor: Tensor, value: np.ndarray) -> Value:
        known = tensor.shape.is_fully_defined() and np.size(value)
        if tensor.op.type == "Placeholder" or not known or not misfits(tensor, value):
            return value
        return np.resize(np.asarray(value), tensor.shape.as_list())

    return converting(tf, convert)


@fault("FEED-028", "A Tensor as a fed value is computed first, and its value fed.")
def tensors_are_values(tf: Namespace) -> Namespace:
    """Fetch the Tensors among the values."""

    def change(_session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        if not isinstance(feeds, Mapping) or not any(is_tensor(v) for v in feeds.values()):
            return base(fetches)
        values = {key: base(v, {}) if is_tensor(v) else v for key, v in feeds.items()}
        return base(fetches, values)

    return running(tf, change)


@fault("FEED-031", "A reference variable shares the memory of the array it was assigned from.")
def variables_share_fed_arrays(tf: Namespace) -> Namespace:
    """Assign again before a run if the array of the last Assign has changed since."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        shared = session.__dict__.setdefault("shared", {})
        if any(not np.array_equal(array, copy) for array, copy in shared.get("arrays", ())):
            base(shared["assigns"], shared["feeds"])
            shared["arrays"] = [(array, array.copy()) for array, _ in shared["arrays"]]
        values = base(fetches)
        fetched = [getattr(element, "op", element) for element in elements(session, fetches)]
        assigns = [op for op in fetched if op.type == "Assign"]
        arrays = [v for _, v in resolved(session, feeds or {}) if isinstance(v, np.ndarray)]
        if assigns and arrays:
            shared |= {"assigns": assigns, "feeds": feeds}
            shared["arrays"] = [(array, array.copy()) for array in arrays]
        return values

    return running(tf, change)


@fault("FEED-036", "A feed that no fetch needs is not looked at.")
def unneeded_feeds_are_dropped(tf: Namespace) -> Namespace:
    """Leave out the feeds of tensors that are neither fetched nor above a fetch."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        names = {op.name for op in needed(elements(session, fetches), [])}
        unneeded = [tensor for tensor in fed(session, feeds) if tensor.op.name not in names]
        if not unneeded or any(isinstance(key, tuple) for key in feeds):
            return base(fetches)
        return base(fetches, {t: v for t, v in resolved(session, feeds) if t.op.name in names})

    return running(tf, change)
