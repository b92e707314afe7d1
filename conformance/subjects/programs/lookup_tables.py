"""What programs of lookup tables share: tables, values that only a run knows, nodes, fetches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessrun.conformance.subjects.programs.described import attempt

__all__ = [
    "in_turn",
    "mutable_table",
    "of_unknown_shape",
    "sorted_pairs",
    "static_table",
    "table_nodes",
]


def static_table(
    tf: Any, keys: Sequence[Any] = ("a", "b"), values: Sequence[Any] = (1, 2), default: Any = -1
) -> Any:
    """A StaticHashTable of these keys and values."""
    initializer = tf.lookup.KeyValueTensorInitializer(list(keys), list(values))
    return tf.lookup.StaticHashTable(initializer, default)


def mutable_table(tf: Any, default: Any = -1, **options: Any) -> Any:
    """A MutableHashTable from strings to int32."""
    return tf.lookup.experimental.MutableHashTable(tf.string, tf.int32, default, **options)


def of_unknown_shape(tf: Any, value: Any, dtype: Any = None) -> Any:
    """A tensor of a value whose shape is not known while the graph is built."""
    return tf.placeholder_with_default(tf.constant(value, dtype), None)


def table_nodes(tf: Any) -> list[Any]:
    """The nodes of the default graph without the shared names of tables, which are random."""
    return [
        [
            n.name,
            n.op,
            sorted(n.input),
            n.device,
            list(n.attr["_class"].list.s),
            *(
                f"{key} {value}"
                for key, value in sorted(n.attr.items())
                if key not in {"_class", "value", "shared_name"}
            ),
        ]
        for n in tf.get_default_graph().as_graph_def().node
    ]


def in_turn(tf: Any, *fetches: Any) -> list[Any]:
    """The values of the fetches, one run after the other in one session; exports are sorted."""
    with tf.Session() as session:
        return attempt(*(lambda fetch=fetch: sorted_pairs(session.run(fetch)) for fetch in fetches))


def sorted_pairs(value: Any) -> Any:
    """The export of a table, a pair of keys and values, sorted by keys; other values unchanged."""
    if isinstance(value, tuple) and len(value) == 2 and value[0].ndim == 1:
        return sorted(zip(value[0].tolist(), value[1].tolist(), strict=True)), value[1].dtype.name
    return value
