"""Faults of SPARSE: SparseTensors that come back as something else, or take anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Feeds, Fetches, Session, Tensor, Value
from sessrun.spec.proto.config_pb2 import RunOptions
from sessrun.spec.proto.metadata_pb2 import RunMetadata


def _running(tf: Namespace, change: Callable[[Session, Call, Fetches, Feeds], Value]) -> Namespace:
    """The namespace whose `run` is `change(session, base, fetches, feed_dict)`."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self,
            fetches: Fetches,
            feed_dict: Feeds = None,
            options: RunOptions | None = None,
            run_metadata: RunMetadata | None = None,
        ) -> Value:
            conforming = super().run

            def base(fetches: Fetches, feed_dict: Feeds = feed_dict) -> Value:
                return conforming(fetches, feed_dict, options, run_metadata)

            return change(self, base, fetches, feed_dict)

    return override(tf, Session=Session)


@fault("SPARSE-001", "A fed SparseTensor that is fetched comes back as a plain tuple.")
def fed_sparse_tensors_come_back_as_tuples(tf: Namespace) -> Namespace:
    """Take the type off the value of a sparse fetch that is fed, alone or in a list."""

    def change(_session: Session, base: Call, fetches: Fetches, feed_dict: Feeds) -> Value:
        value = base(fetches)
        fed = [key for key in feed_dict or () if isinstance(key, tf.SparseTensor)]
        if any(fetches is key for key in fed):
            return tuple(value)
        if type(fetches) is list and any(fetches[0] is key for key in fed):
            return [tuple(value[0]), *value[1:]]
        return value

    return _running(tf, change)


@fault("SPARSE-002", "A SparseTensor inside a structure comes back as the list of its parts.")
def nested_sparse_tensors_come_back_as_lists(tf: Namespace) -> Namespace:
    """Take the type off every sparse value that is not the whole fetch or first in a list."""

    def stripped(value: Any, depth: int) -> Value:
        if isinstance(value, tf.SparseTensorValue):
            return list(value) if depth > 1 else value
        if type(value) is dict:
            return {key: stripped(item, depth + 2) for key, item in value.items()}
        if type(value) in {list, tuple}:
            return type(value)(stripped(item, depth + 1) for item in value)
        return value

    def is_sparse(fetches: Fetches) -> bool:
        if isinstance(fetches, dict) and type(fetches) is dict:
            return any(map(is_sparse, fetches.values()))
        if isinstance(fetches, list | tuple) and type(fetches) in {list, tuple}:
            return any(map(is_sparse, fetches))
        return isinstance(fetches, tf.SparseTensor)

    def change(_session: Session, base: Call, fetches: Fetches, _feed_dict: Feeds) -> Value:
        return stripped(base(fetches), 0) if is_sparse(fetches) else base(fetches)

    return _running(tf, change)


@fault("SPARSE-003", "A single number fed to a SparseTensor stands for each of its parts.")
def a_number_feeds_every_part(tf: Namespace) -> Namespace:
    """Feed each part of the key a vector of the number."""

    def change(_session: Session, base: Call, fetches: Fetches, feed_dict: Feeds) -> Value:
        fed: dict[Tensor, Value] = {}
        for key, value in (feed_dict or {}).items():
            if isinstance(key, tf.SparseTensor) and isinstance(value, int | float | None):
                fed.update({key.indices: [[0]], key.values: [value or 0], key.dense_shape: [1]})
            else:
                fed[key] = value
        return base(fetches, fed or None)

    return _running(tf, change)
