"""String attributes that are no UTF-8: they are bytes like any others, as TensorFlow has it."""

from __future__ import annotations

from typing import Any

import pytest

import sessrun.reference as tf

_ODD = b"\xff\xfe"
#: What makes a resource, with its attributes, and what asks for it: in TensorFlow 2.21 all of them
#: take any bytes as a shared name.
_RESOURCES: list[tuple[str, dict[str, Any], str, dict[str, int]]] = [
    ("FIFOQueueV2", {"component_types": [1]}, "QueueSizeV2", {}),
    ("HashTableV2", {"key_dtype": 7, "value_dtype": 9}, "LookupTableSizeV2", {}),
    ("MutableHashTableV2", {"key_dtype": 7, "value_dtype": 9}, "LookupTableSizeV2", {}),
    ("VariableV2", {"dtype": 1, "shape": ()}, "IsVariableInitialized", {"dtype": 1}),
    ("WholeFileReaderV2", {}, "ReaderNumRecordsProducedV2", {}),
    ("ConditionalAccumulator", {"dtype": 1, "shape": ()}, "AccumulatorNumAccumulated", {}),
    ("VarHandleOp", {"dtype": 1, "shape": ()}, "VarIsInitializedOp", {}),
]


def graph_of(*nodes: tuple[str, str, list[str], dict[str, Any]]) -> Any:
    """A GraphDef of nodes: name, op, inputs, attributes (numbers are dtypes)."""
    proto = tf.GraphDef()
    for name, op, inputs, attrs in nodes:
        node = proto.node.add(name=name, op=op, input=inputs)
        for key, value in attrs.items():
            if isinstance(value, bytes):
                node.attr[key].s = value
            elif isinstance(value, list):
                node.attr[key].list.type.extend(value)
            elif value == ():
                node.attr[key].shape.SetInParent()
            else:
                node.attr[key].type = value
    return proto


def ran(proto: Any, fetch: str, feeds: dict[str, Any] | None = None) -> Any:
    with tf.Graph().as_default():
        tf.import_graph_def(proto, name="")
        with tf.Session() as session:
            return session.run(fetch, feeds or {})


@pytest.mark.parametrize("case", _RESOURCES, ids=[case[0] for case in _RESOURCES])
def test_a_resource_is_shared_by_any_bytes(case: Any) -> None:
    op, attrs, user, user_attrs = case
    makers = [
        (f"q{i}", op, [], attrs | {"shared_name": name})
        for i, name in enumerate((_ODD, _ODD, b"\xff\xfd"))
    ]
    users = [(f"s{i}", user, [f"q{i}"], user_attrs) for i in range(3)]
    assert ran(graph_of(*makers, *users), "s0:0") == 0


def test_nodes_share_a_variable_where_the_bytes_are_equal() -> None:
    attrs = {"dtype": 1, "shape": ()}
    nodes = [
        (name, "VariableV2", [], attrs | {"shared_name": shared})
        for name, shared in (("v", _ODD), ("w", _ODD), ("other", b"\xff\xfd"))
    ]
    one = ("one", "Placeholder", [], {"dtype": 1})
    assign = ("assign", "Assign", ["v", "one"], {"T": 1})
    asks = [(f"is_{name}", "IsVariableInitialized", [name], {"dtype": 1}) for name, *_ in nodes]
    with tf.Graph().as_default():
        tf.import_graph_def(graph_of(*nodes, one, assign, *asks), name="")
        with tf.Session() as session:
            session.run("assign", {"one:0": 1.0})
            assert session.run(["is_v:0", "is_w:0", "is_other:0"]) == [True, True, False]


@pytest.mark.parametrize(
    "op", [case for case in _RESOURCES if case[0] != "VarHandleOp"], ids=lambda case: case[0]
)
@pytest.mark.parametrize(
    ("key", "value"),
    [("container", _ODD), ("container", b"a b"), ("container", b"_x"), ("shared_name", b"_x")],
)
def test_names_that_no_resource_may_have(op: Any, key: str, value: bytes) -> None:
    kind, attrs, user, user_attrs = op
    proto = graph_of(("q", kind, [], attrs | {key: value}), ("s", user, ["q"], user_attrs))
    with pytest.raises(tf.errors.InvalidArgumentError):
        ran(proto, "s:0")


@pytest.mark.parametrize(
    ("op", "inputs", "attrs", "code"),
    [
        ("UnicodeDecode", ["x"], {"input_encoding": _ODD}, 3),
        ("UnicodeTranscode", ["x"], {"input_encoding": _ODD, "output_encoding": b"UTF-8"}, 3),
        ("DecodeCompressed", ["x"], {"compression_type": _ODD}, 3),
        ("StringLower", ["x"], {"encoding": _ODD}, 3),
        ("StringToNumber", ["x"], {"out_type": 1}, 3),
        ("ReadFile", ["x"], {}, 5),
    ],
)
def test_odd_bytes_are_refused_with_a_code(
    op: str, inputs: list[str], attrs: dict[str, Any], code: int
) -> None:
    proto = graph_of(("x", "Placeholder", [], {"dtype": 7}), ("y", op, inputs, attrs))
    with pytest.raises(tf.errors.OpError) as caught:
        ran(proto, "y:0", {"x:0": _ODD})
    assert caught.value.error_code == code
    assert str(caught.value)


def test_a_separator_may_be_any_bytes() -> None:
    proto = graph_of(
        ("x", "Placeholder", [], {"dtype": 7}), ("y", "StringJoin", ["x", "x"], {"separator": _ODD})
    )
    proto.node[1].attr["N"].i = 2
    assert ran(proto, "y:0", {"x:0": b"a"}) == b"a\xff\xfea"
