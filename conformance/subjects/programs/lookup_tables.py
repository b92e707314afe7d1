"""What programs of lookup tables share: tables, values that only a run knows, nodes, fetches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.program import Plain, Table
from sessrun.spec.cases.arguments import DTypeLike
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Fetches, Tensor, Value

__all__ = [
    "in_turn",
    "mutable_table",
    "of_unknown_shape",
    "sorted_pairs",
    "static_table",
    "table_nodes",
]


def static_table(
    tf: Namespace,
    keys: Sequence[Plain] = ("a", "b"),
    values: Sequence[Plain] = (1, 2),
    default: Plain = -1,
) -> Table:
    """A StaticHashTable of these keys and values."""
    initializer = tf.lookup.KeyValueTensorInitializer(list(keys), list(values))
    return tf.lookup.StaticHashTable(initializer, default)


def mutable_table(tf: Namespace, default: Plain = -1, **options: Plain) -> Table:
    """A MutableHashTable from strings to int32."""
    return tf.lookup.experimental.MutableHashTable(tf.string, tf.int32, default, **options)


def of_unknown_shape(tf: Namespace, value: Plain, dtype: DTypeLike | None = None) -> Tensor:
    """A tensor of a value whose shape is not known while the graph is built."""
    return tf.placeholder_with_default(tf.constant(value, dtype), None)


def table_nodes(tf: Namespace) -> list[Plain]:
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


def in_turn(tf: Namespace, *fetches: Fetches) -> list[Plain]:
    """The values of the fetches, one run after the other in one session; exports are sorted."""
    with tf.Session() as session:
        return attempt(*(lambda fetch=fetch: sorted_pairs(session.run(fetch)) for fetch in fetches))


def sorted_pairs(value: Value) -> Value:
    """The export of a table, a pair of keys and values, sorted by keys; other values unchanged."""
    if not (isinstance(value, tuple) and len(value) == 2):
        return value
    keys, values = value
    if not (isinstance(keys, np.ndarray) and isinstance(values, np.ndarray) and keys.ndim == 1):
        return value
    return sorted(zip(keys.tolist(), values.tolist(), strict=True)), values.dtype.name
