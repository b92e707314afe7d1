"""Programs that give plain functions odd arguments: comparisons, registrations, GraphDefs."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _compared(tf: Any) -> Any:
    """Shapes and dtypes beside what is none."""
    others = (
        None, 1, -1, "a", b"a", object, (1, 2), [1, 2], [1, None], [1, "a"], {}, {1: 2},
        np.array([1, 2]), np.float32, np.dtype("int32"), 1.5, "float32", "FLOAT", True,
    )  # fmt: skip
    mine = (
        tf.TensorShape([1, 2]), tf.TensorShape(None), tf.TensorShape([1, None]), tf.TensorShape([]),
        tf.Dimension(2), tf.Dimension(None), tf.float32, tf.int32, tf.string,
    )  # fmt: skip
    return [
        attempt(*(lambda o=other, m=value: (m == o, m != o) for other in others)) for value in mine
    ]


class _Thing:
    """What becomes a tensor by a registered function."""

    def __init__(self, value: float) -> None:
        self.value = value


class _Part(_Thing):
    """One of a kind."""


def _registered(tf: Any) -> Any:
    """Functions that convert: by class, by priority, and what registrations are refused."""
    register = tf.register_tensor_conversion_function

    def convert(value: Any, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
        if as_ref or dtype == tf.string:
            return NotImplemented
        return tf.constant(value.value, dtype or tf.float64, name=name)

    def later(value: Any, **_: Any) -> Any:
        return tf.constant(value.value + 100)

    return attempt(
        lambda: register((), convert), lambda: register([], convert), lambda: register(1, convert),
        lambda: register((_Thing, 1), convert), lambda: register(int, convert),
        lambda: register((_Thing, float), convert), lambda: register(_Part, 3),
        lambda: register(_Thing, convert), lambda: register(_Part, later, 200),
        lambda: tf.convert_to_tensor(_Thing(2), name="named"),
        lambda: tf.convert_to_tensor(_Part(3), tf.int32),
        lambda: tf.convert_to_tensor(_Thing(2), tf.string),
        lambda: run(tf, [tf.add(_Thing(2), tf.constant(1.0, tf.float64)), tf.negative(_Part(4))]),
    )  # fmt: skip


def _versions(tf: Any) -> Any:
    """GraphDefs for other producers and consumers."""
    now, least = tf.version.GRAPH_DEF_VERSION, tf.version.GRAPH_DEF_VERSION_MIN_CONSUMER
    oldest = tf.version.GRAPH_DEF_VERSION_MIN_PRODUCER

    def imported(**fields: Any) -> Any:
        with tf.Graph().as_default() as graph:
            definition = tf.GraphDef()
            definition.node.add(name="n", op="NoOp")
            for name, value in fields.items():
                target = getattr(definition.versions, name)
                target.extend(value) if isinstance(value, list) else setattr(
                    definition.versions, name, value
                )
            tf.import_graph_def(definition, name="")
            told = graph.graph_def_versions
            names = [op.name for op in graph.get_operations()]
            return told.producer == now, told.min_consumer, names

    return attempt(*(lambda f=fields: imported(**f) for fields in (
        {}, {"producer": now}, {"producer": now + 1}, {"producer": oldest}, {"producer": 1},
        {"producer": now, "min_consumer": least}, {"producer": now, "min_consumer": now},
        {"producer": now, "min_consumer": now + 1}, {"min_consumer": now - 1},
        {"producer": now, "bad_consumers": [now]}, {"producer": now, "bad_consumers": [now - 1]},
    )))  # fmt: skip


BEHAVIOURS = {"compared": _compared, "registered": _registered, "versions": _versions}
