"""Programs of unusual arguments: comparisons, conversion functions, GraphDefs, raw operations."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _compared(tf):
    """Shapes, dimensions and dtypes compared with objects of other types."""
    others = (
        None,
        1,
        -1,
        "a",
        b"a",
        object,
        (1, 2),
        [1, 2],
        [1, None],
        [1, "a"],
        {},
        {1: 2},
        np.array([1, 2]),
        np.float32,
        np.dtype("int32"),
        1.5,
        "float32",
        "FLOAT",
        True,
    )
    mine = (
        tf.TensorShape([1, 2]),
        tf.TensorShape(None),
        tf.TensorShape([1, None]),
        tf.TensorShape([]),
        tf.Dimension(2),
        tf.Dimension(None),
        tf.float32,
        tf.int32,
        tf.string,
    )
    return [
        attempt(*(lambda o=other, m=value: (m == o, m != o) for other in others)) for value in mine
    ]


class _Thing:
    """A class that a registered function converts to a tensor."""

    def __init__(self, value: float) -> None:
        self.value = value


class _Part(_Thing):
    """A subclass of it."""


def _registered(tf):
    """Conversion functions by class and by priority, and registrations that are refused."""
    register = tf.register_tensor_conversion_function

    def convert(value, dtype=None, name=None, as_ref: bool = False):
        if as_ref or dtype == tf.string:
            return NotImplemented
        return tf.constant(value.value, dtype or tf.float64, name=name)

    def later(value, **_):
        return tf.constant(value.value + 100)

    return attempt(
        lambda: register((), convert),
        lambda: register([], convert),
        lambda: register(1, convert),
        lambda: register((_Thing, 1), convert),
        lambda: register(int, convert),
        lambda: register((_Thing, float), convert),
        lambda: register(_Part, 3),
        lambda: register(_Thing, convert),
        lambda: register(_Part, later, 200),
        lambda: tf.convert_to_tensor(_Thing(2), name="named"),
        lambda: tf.convert_to_tensor(_Part(3), tf.int32),
        lambda: tf.convert_to_tensor(_Thing(2), tf.string),
        lambda: run(tf, [tf.add(_Thing(2), tf.constant(1.0, tf.float64)), tf.negative(_Part(4))]),
    )


def _versions(tf):
    """Imports of GraphDefs with other producers and consumers."""
    now, least = tf.version.GRAPH_DEF_VERSION, tf.version.GRAPH_DEF_VERSION_MIN_CONSUMER
    oldest = tf.version.GRAPH_DEF_VERSION_MIN_PRODUCER

    def imported(**fields):
        with tf.Graph().as_default() as graph:
            definition = tf.GraphDef()
            definition.node.add(name="n", op="NoOp")
            for name, value in fields.items():
                target = getattr(definition.versions, name)
                target.extend(value) if isinstance(value, list) else setattr(
                    definition.versions, name, value
                )
            tf.import_graph_def(definition, name="")
            versions = graph.graph_def_versions
            consumer = {now: "now", now - 1: "before"}.get(
                versions.min_consumer, versions.min_consumer
            )
            names = [op.name for op in graph.get_operations()]
            return versions.producer == now, consumer, names

    return attempt(
        *(
            lambda f=fields: imported(**f)
            for fields in (
                {},
                {"producer": now},
                {"producer": now + 1},
                {"producer": oldest},
                {"producer": 1},
                {"producer": now, "min_consumer": least},
                {"producer": now, "min_consumer": now},
                {"producer": now, "min_consumer": now + 1},
                {"min_consumer": now - 1},
                {"producer": now, "bad_consumers": [now]},
                {"producer": now, "bad_consumers": [now - 1]},
            )
        )
    )


def _attribute_lists(tf):
    """Attributes that are lists with a last item that is not allowed, or that are too short."""
    raw, text = tf.raw_ops, tf.constant(["1,2"])

    def parsed(*defaults):
        return raw.DecodeCSV(records=text, record_defaults=[tf.constant(d) for d in defaults])

    def single(**options):
        given = {
            "sparse_keys": [],
            "sparse_types": [],
            "dense_keys": [],
            "dense_shapes": [],
            "dense_defaults": [],
            "num_sparse": 0,
            "serialized": "",
            **options,
        }
        return raw.ParseSingleExample(**given)

    return attempt(
        lambda: parsed([1.0], [2]),
        lambda: parsed([1.0], [True]),
        lambda: parsed([True], [1.0]),
        lambda: parsed([1.0], [2], [1j]),
        lambda: parsed(),
        lambda: single(sparse_keys=["a", "b"], sparse_types=[tf.float32, tf.int64], num_sparse=2),
        lambda: single(sparse_keys=["a", "b"], sparse_types=[tf.float32, tf.bool], num_sparse=2),
        lambda: single(sparse_keys=["a"], sparse_types=[tf.int32], num_sparse=1),
        lambda: raw.FIFOQueueV2(component_types=[]),
        lambda: raw.Stage(values=[]),
        lambda: raw.StringFormat(inputs=[], template="a"),
        lambda: raw.PaddingFIFOQueueV2(component_types=[tf.int32, tf.float32], shapes=[[1]]),
        lambda: raw.Conv2D(
            input=tf.zeros([1, 3, 3, 1]),
            filter=tf.zeros([1, 1, 1, 1]),
            strides=[1, 1, 1, 1],
            padding="SAME",
            data_format="CHWN",
        ),
        lambda: raw.MaxPool(input=tf.zeros([1, 3, 3, 1]), ksize=[1], strides=[1], padding="SAME"),
        lambda: raw.Unpack(value=[1], num=-1),
        lambda: raw.Pack(values=[]),
        lambda: raw.AddN(inputs=[]),
        lambda: raw.ConcatV2(values=[[1]], axis=0),
        lambda: raw.Bitcast(input=[1], type=tf.string),
        lambda: raw.Cast(x=1, DstT="what"),
    )


def _raw(tf):
    """Raw operations are functions whose arguments are passed by name only."""
    raw = tf.raw_ops
    return attempt(
        lambda: raw.Add is raw.Add,
        lambda: raw.Add == raw.AddV2,
        lambda: raw.Add(x=1.0, y=2.0),
        lambda: raw.AddV2(x=tf.constant(1), y=tf.get_variable("of_floats", [], tf.float32)),
        lambda: tf.nest.map_structure(
            lambda part: type(part).__name__, tf.SparseTensor([[0]], [1], [2])
        ),
        lambda: raw.Add(1.0, 2.0),
        lambda: raw.Add(x=1.0),
        lambda: raw.Add(x=1.0, y=2.0, z=3.0),
        lambda: raw.Add(x=1.0, y=2.0, name="named"),
        lambda: raw.NoSuchOperation(x=1),
        lambda: raw.Unique(x=[1, 1])._fields,
        lambda: raw.NoOp(),
        lambda: raw.Unpack(value=[1], num=1),
    )


def _texts(tf):
    """String attributes that are not valid UTF-8, built and imported."""
    odd = b"\xff\xfea"

    def built(value):
        with tf.Graph().as_default() as graph:
            op = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], shared_name=value).op
            definition = graph.as_graph_def()
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(definition, name="")
            again = graph.get_operation_by_name(op.name)
            names = [operation.get_attr("shared_name") for operation in (op, again)]
            return names, again.node_def == op.node_def

    return attempt(*(lambda v=value: built(v) for value in ("a", "\u00e9", b"b", odd, "", 3, None)))


BEHAVIOURS = {
    "attribute lists": _attribute_lists,
    "raw": _raw,
    "texts": _texts,
    "compared": _compared,
    "registered": _registered,
    "versions": _versions,
}
