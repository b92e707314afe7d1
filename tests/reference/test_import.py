"""GraphDefs: what is written can be read back, here and by TensorFlow; others are refused."""

from __future__ import annotations

import numpy as np
import pytest

import sessrun.reference as tf


def node(graph_def, name, op, inputs=(), **attrs):
    made = graph_def.node.add(name=name, op=op, input=list(inputs))
    for key, value in attrs.items():
        made.attr[key].CopyFrom(value)
    return graph_def


def floats(value):
    proto = tf.make_tensor_proto(np.float32(value))
    return {"dtype": tf.AttrValue(type=1), "value": tf.AttrValue(tensor=proto)}


T = {"T": tf.AttrValue(type=1)}


@pytest.fixture
def simple():
    graph_def = node(tf.GraphDef(), "a", "Const", **floats(1))
    node(graph_def, "b", "Const", **floats(2))
    return node(graph_def, "c", "AddV2", ["a", "b"], **T)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_each_import_gets_a_scope_of_its_own(simple) -> None:
    names = [tf.import_graph_def(simple, return_elements=["c"])[0].name for _ in range(2)]
    assert names == ["import/c", "import_1/c"]
    roots = [tf.import_graph_def(simple, name="", return_elements=["c"])[0].name for _ in range(2)]
    assert roots == ["c", "c_1"]


def test_an_input_can_be_replaced(simple) -> None:
    seven = tf.constant(7.0)
    (total,) = tf.import_graph_def(simple, {"a:0": seven}, ["c:0"])
    with tf.Session() as sess:
        assert sess.run(total) == 9.0


def test_a_graph_read_back_is_the_same_graph(graph) -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    with tf.device("/cpu:0"), tf.control_dependencies([x]):
        tf.identity(x[:, 0] * 2.0, name="y")
    tf.constant(["a", b"\xff"])
    tf.constant([1, 2], tf.bfloat16)
    tf.constant(1 + 2j)
    written = graph.as_graph_def()
    with tf.Graph().as_default() as again:
        tf.import_graph_def(written, name="")
        assert again.as_graph_def() == written


def test_nodes_may_stand_in_any_order() -> None:
    graph_def = node(tf.GraphDef(), "b", "Identity", ["a"], **T)
    node(graph_def, "a", "Const", **floats(1))
    assert tf.import_graph_def(graph_def, return_elements=["b"])[0].inputs[0].op.type == "Const"


def ill_formed():
    one = floats(1)
    yield "unknown input", node(tf.GraphDef(), "a", "Identity", ["zz"], **T), ValueError
    yield "too few inputs", node(tf.GraphDef(), "a", "Identity", [], **T), ValueError
    yield (
        "missing attr",
        node(node(tf.GraphDef(), "a", "Const", **one), "b", "Identity", ["a"]),
        ValueError,
    )
    yield "twice", node(node(tf.GraphDef(), "a", "Const", **one), "a", "Const", **one), ValueError
    yield (
        "cycle",
        node(node(tf.GraphDef(), "a", "Identity", ["b"], **T), "b", "Identity", ["a"], **T),
        ValueError,
    )
    yield "bad name", node(tf.GraphDef(), "a b", "Const", **one), ValueError
    yield "unknown op", node(tf.GraphDef(), "a", "Nope"), tf.errors.NotFoundError
    yield "wrong kind", node(tf.GraphDef(), "a", "Placeholder", dtype=tf.AttrValue(i=3)), ValueError
    yield (
        "no dtype",
        node(tf.GraphDef(), "a", "Placeholder", dtype=tf.AttrValue(type=77)),
        ValueError,
    )


@pytest.mark.parametrize(
    ("graph_def", "error"), [pytest.param(g, e, id=i) for i, g, e in ill_formed()]
)
def test_an_ill_formed_graph_is_refused_and_leaves_nothing(graph, graph_def, error) -> None:
    tf.constant(1.0, name="first")
    with pytest.raises(error):
        tf.import_graph_def(graph_def, name="")
    assert [op.name for op in graph.get_operations()] == ["first"]


@pytest.mark.parametrize("graph_def", [3, None, b""])
def test_only_a_graph_def_is_imported(graph_def) -> None:
    with pytest.raises(TypeError):
        tf.import_graph_def(graph_def)


def test_unused_replacements_are_an_error(simple) -> None:
    with pytest.raises(ValueError, match="zz:0"):
        tf.import_graph_def(simple, {"zz": tf.constant(1.0)})


@pytest.mark.tensorflow
@pytest.mark.slow
def test_tensorflow_reads_what_is_written_here_and_the_other_way_round(graph) -> None:
    tensorflow = pytest.importorskip("tensorflow")
    v1 = tensorflow.compat.v1
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    tf.identity((x @ [[1.0], [2.0]])[:, 0] * 2.0, name="y")
    theirs = v1.GraphDef.FromString(graph.as_graph_def().SerializeToString())
    fed = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    with v1.Graph().as_default() as other, v1.Session(graph=other) as sess:
        v1.import_graph_def(theirs, name="")
        expected = sess.run("y:0", {"x:0": fed})
        written = other.as_graph_def()
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(written, name="")
        np.testing.assert_array_equal(sess.run("y:0", {"x:0": fed}), expected)
