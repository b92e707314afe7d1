"""Faults of SPARSE: sparse tensors kept by number that stay, change places, or get lost."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, FeedDict, Feeds, Fetch, Fetches, Session, Value
from sessrun.spec.proto.config_pb2 import RunOptions
from sessrun.spec.proto.metadata_pb2 import RunMetadata

_TAKES = "TakeManySparseFromTensorsMap"
_READS = "DeserializeManySparse"
_ADDS = "AddManySparseToTensorsMap"


def _running(tf: Namespace, kind: str, change: Call) -> Namespace:
    """The namespace whose runs of an operation of this type are `change(session, base, feeds)`.

    Where all that is fetched are the outputs of such an operation.
    """

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self,
            fetches: Fetches,
            feed_dict: Feeds = None,
            options: RunOptions | None = None,
            run_metadata: RunMetadata | None = None,
        ) -> Value:
            conforming = super().run

            def base(feeds: Feeds = feed_dict) -> Value:
                return conforming(fetches, feeds, options, run_metadata)

            items = fetches if isinstance(fetches, list) else [fetches]
            fetched = [self.graph.as_graph_element(item) for item in items]
            if not fetched or any(getattr(item, "op", item).type != kind for item in fetched):
                return base()
            return change(self, base, feed_dict)

    return override(tf, Session=Session)


def _keyed(session: Session, feeds: Feeds, name: str) -> Fetch | None:
    """The key of what is fed to the placeholder of that name, None if nothing is."""
    graph = session.graph
    return next((key for key in feeds or () if graph.as_graph_element(key).op.name == name), None)


@fault("SPARSE-004", "A sparse tensor that was taken is there again for who asks by its number.")
def taken_ones_stay(tf: Namespace) -> Namespace:
    """Give what the last run that took something got, where the base refuses."""
    last: dict[Session, Value] = {}

    def change(session: Session, base: Call, _feeds: Feeds) -> Value:
        try:
            last[session] = base()
        except tf.errors.InvalidArgumentError as error:
            if "Unable to find" not in error.message or session not in last:
                raise
        return last[session]

    return _running(tf, _TAKES, change)


@fault("SPARSE-005", "Sparse tensors taken together come in the opposite order.")
def taken_in_the_opposite_order(tf: Namespace) -> Namespace:
    """Turn the numbers round."""

    def change(session: Session, base: Call, feeds: FeedDict) -> Value:
        key = _keyed(session, feeds, "numbers")
        return base() if key is None else base({**feeds, key: np.asarray(feeds[key])[::-1]})

    return _running(tf, _TAKES, change)


@fault("SPARSE-006", "The number of a row without elements comes after those of all others.")
def empty_rows_come_last(tf: Namespace) -> Namespace:
    """Number the rows that have elements from 0, before those without."""

    def change(session: Session, base: Call, feeds: Feeds) -> Value:
        key = _keyed(session, feeds, "indices")
        parts = base()
        if key is None or len(parts) != 3:
            return parts
        indices, values, shape = parts
        rows = np.unique(indices[:, 0], return_inverse=True)[1]
        return [np.column_stack([rows, indices[:, 1:]]).astype(np.int64), values, shape]

    return _running_alone(tf, change)


def _running_alone(tf: Namespace, change: Call) -> Namespace:
    """The namespace of `_running` for takes whose tensors were kept by rows in the same run."""

    def checked(session: Session, base: Call, feeds: Feeds) -> Value:
        ops = session.graph.get_operations()
        take = next(op for op in ops if op.type == _TAKES)
        is_of_rows = take.inputs[0].op.type == _ADDS
        return change(session, base, feeds) if is_of_rows else base()

    return _running(tf, _TAKES, checked)


@fault("SPARSE-007", "Of a sparse tensor read from bytes the shape is as small as it can be.")
def shapes_read_are_the_smallest(tf: Namespace) -> Namespace:
    """Compute the shape from the indices."""

    def change(_session: Session, base: Call, _feeds: Feeds) -> Value:
        indices, values, shape = base()
        smallest = indices.max(axis=0) + 1 if len(indices) else np.zeros_like(shape)
        return [indices, values, smallest]

    return _running(tf, _READS, change)
