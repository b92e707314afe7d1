"""Vectors of GRAPH: GraphDefs as an engine gets them, well-formed and not."""

from __future__ import annotations

from typing import Any

import numpy as np

from sessrun.conformance.authoring.record import EngineAuthor, engine_case
from sessrun.conformance.subjects.run.cases.run import cell, floats, ints

#: A message, in the JSON mapping of protocol buffers.
Json = dict[str, Any]

FLOAT: Json = {"type": "DT_FLOAT"}
INT: Json = {"type": "DT_INT32"}
_REFUSED = [3]


def graph_def(*nodes: Json, min_consumer: int = 0) -> Json:
    """Give the GraphDef of these nodes."""
    return {"node": list(nodes), "versions": {"producer": 2000, "minConsumer": min_consumer}}


def node(name: str, op: str, *inputs: str, **attrs: Json) -> Json:
    """Give a NodeDef; attributes are AttrValues."""
    return {"name": name, "op": op, "input": list(inputs), "attr": dict(attrs)}


def placeholder(name: str, dtype: Json = FLOAT, shape: list[int] | None = None) -> Json:
    """Give a Placeholder, of unknown shape if none is given."""
    if shape is None:
        return node(name, "Placeholder", dtype=dtype, shape={"shape": {"unknownRank": True}})
    dims = [{"size": str(size)} for size in shape]
    return node(name, "Placeholder", dtype=dtype, shape={"shape": {"dim": dims}})


def const(name: str, *, dtype: str, shape: list[int], **content: Any) -> Json:
    """Give a Const whose tensor has the content given in protobuf's fields."""
    dims = [{"size": str(size)} for size in shape]
    tensor = {"dtype": dtype, "tensorShape": {"dim": dims}, **content}
    return node(name, "Const", dtype={"type": dtype}, value={"tensor": tensor})


def add(name: str, x: str, y: str, *control: str, dtype: Json = FLOAT) -> Json:
    """Give an AddV2."""
    return node(name, "AddV2", x, y, *control, T=dtype)


def same(name: str, *inputs: str, dtype: Json = FLOAT) -> Json:
    """Give an Identity."""
    return node(name, "Identity", *inputs, T=dtype)


def halves() -> list[Json]:
    """Give the nodes `x`, fed, and `halves`, its two halves."""
    axis = const("axis", dtype="DT_INT32", shape=[], intVal=[0])
    split = node("halves", "Split", "axis", "x", num_split={"i": "2"}, T=FLOAT)
    return [placeholder("x"), axis, split]


def refused(c: EngineAuthor, **definitions: Json) -> None:
    """Each GraphDef must be refused when a session is opened on it."""
    for name, definition in definitions.items():
        c.graph_json(definition, name)
        c.open(name, name, error=_REFUSED)


# --- op types, cycles, names --------------------------------------------------------------


@engine_case("GRAPH-055", title="A GraphDef with an unknown op type is refused with code 5.")
def unknown_op_type(c: EngineAuthor) -> None:
    c.graph_json(graph_def(placeholder("x"), node("y", "NoSuchOperation", "x", T=FLOAT)))
    c.open(error=[5])


@engine_case("GRAPH-055", title="A node of unknown type is refused though nothing needs it.")
def unneeded_unknown_op_type(c: EngineAuthor) -> None:
    c.graph_json(graph_def(placeholder("x"), same("y", "x")), "good")
    c.graph_json(graph_def(placeholder("x"), same("y", "x"), node("z", "Identitas")), "bad")
    c.open("bad", "bad", error=[5])
    c.open("good").run(["y:0"], {"x:0": np.float32(2)}, values=[np.float32(2)])


@engine_case("GRAPH-056", title="A cycle of data inputs is refused.")
def cycle_of_data_inputs(c: EngineAuthor) -> None:
    x = placeholder("x")
    refused(
        c,
        pair=graph_def(x, add("a", "b", "x"), add("b", "a", "x")),
        itself=graph_def(x, add("a", "x", "a")),
        three=graph_def(x, same("a", "c"), same("b", "a"), add("c", "b", "x")),
    )


@engine_case("GRAPH-056", title="A cycle that a control input closes is refused.")
def cycle_of_a_control_input(c: EngineAuthor) -> None:
    x = placeholder("x")
    refused(
        c,
        mixed=graph_def(x, same("a", "x", "^b"), same("b", "a")),
        control=graph_def(x, same("a", "x", "^b"), same("b", "x", "^a")),
        itself=graph_def(x, same("a", "x", "^a")),
        nodes=graph_def(x, node("a", "NoOp", "^b"), node("b", "NoOp", "^a")),
    )


@engine_case("GRAPH-057", title="Two nodes of one name are refused, equal ones too.")
def two_nodes_of_one_name(c: EngineAuthor) -> None:
    x = placeholder("x")
    refused(
        c,
        different=graph_def(x, same("y", "x"), node("y", "Neg", "x", T=FLOAT)),
        equal=graph_def(x, same("y", "x"), same("y", "x")),
        sources=graph_def(x, x),
    )


@engine_case("GRAPH-058", title="Names that differ only in case are different nodes.")
def names_differ_in_case(c: EngineAuthor) -> None:
    upper = node("Y", "Neg", "x", T=FLOAT)
    c.graph_json(graph_def(placeholder("x"), same("y", "x"), upper, add("z", "Y", "Y")))
    feed = {"x:0": np.float32(3)}
    c.open().run(["y:0", "Y:0", "z:0"], feed, values=[*map(np.float32, (3, -3, -6))])


@engine_case("GRAPH-059", title="An input that names no node is refused.")
def unknown_input(c: EngineAuthor) -> None:
    x = placeholder("x")
    refused(
        c,
        data=graph_def(x, add("y", "x", "nowhere")),
        indexed=graph_def(x, same("y", "nowhere:1")),
        case=graph_def(x, same("y", "X")),
    )


@engine_case("GRAPH-059", title="A control input that names no node is refused.")
def unknown_control_input(c: EngineAuthor) -> None:
    x = placeholder("x")
    refused(
        c,
        beside_data=graph_def(x, same("y", "x", "^nowhere")),
        alone=graph_def(x, node("n", "NoOp", "^nowhere")),
    )


@engine_case("GRAPH-060", title="Input a is output 0 of a, a:1 its output 1.")
def inputs_name_outputs(c: EngineAuthor) -> None:
    names = {"first": "halves", "zero": "halves:0", "second": "halves:1"}
    c.graph_json(graph_def(*halves(), *(same(name, to) for name, to in names.items())))
    s = c.open()
    feed = {"x:0": floats(1, 2, 3, 4)}
    s.run(["first:0"], feed, values=[floats(1, 2)])
    s.run(["zero:0"], feed, values=[floats(1, 2)])
    s.run(["second:0"], feed, values=[floats(3, 4)])


@engine_case("GRAPH-060", title="Outputs reach the consumers that name them, in any order.")
def outputs_reach_their_consumers(c: EngineAuthor) -> None:
    parts = node("parts", "Unpack", "x", num={"i": "3"}, T=INT, axis={"i": "0"})
    last = node("last", "Sub", "parts:2", "parts", T=INT)
    nodes = [last, node("middle", "Sub", "parts:1", "parts:2", T=INT), parts]
    c.graph_json(graph_def(*nodes, placeholder("x", INT)))
    feed = {"x:0": ints(1, 10, 100)}
    c.open().run(["last:0", "middle:0"], feed, values=[np.int32(99), np.int32(-90)])


@engine_case("GRAPH-061", title="An output index that the node does not have is refused.")
def no_such_output(c: EngineAuthor) -> None:
    refused(
        c,
        one_too_far=graph_def(*halves(), same("y", "halves:2")),
        far=graph_def(*halves(), same("y", "halves:7")),
        single=graph_def(placeholder("x"), same("y", "x:1")),
    )


@engine_case("GRAPH-061", title="An output index of an operation without outputs is refused.")
def no_output_at_all(c: EngineAuthor) -> None:
    nothing = node("nothing", "NoOp")
    refused(c, zero=graph_def(nothing, same("y", "nothing")))


@engine_case("GRAPH-062", title="An empty node name, or one with a wrong character, is refused.")
def wrong_characters_in_a_name(c: EngineAuthor) -> None:
    names = {"empty": "", "space": "a b", "colon": "a:0", "caret": "a^b", "umlaut": "ä"}
    refused(c, **{key: graph_def(placeholder(name)) for key, name in names.items()})


@engine_case("GRAPH-062", title="A node name that starts with _, - or / is refused.")
def wrong_start_of_a_name(c: EngineAuthor) -> None:
    names = {"underscore": "_a", "dash": "-a", "slash": "/a", "caret": "^a"}
    refused(c, **{key: graph_def(placeholder(name)) for key, name in names.items()})


# --- signatures ---------------------------------------------------------------------------


@engine_case("GRAPH-063", title="A node with more inputs than its op type has is refused.")
def too_many_inputs(c: EngineAuthor) -> None:
    x = placeholder("x")
    refused(
        c,
        unary=graph_def(x, same("y", "x", "x")),
        binary=graph_def(x, node("y", "AddV2", "x", "x", "x", T=FLOAT)),
        source=graph_def(x, node("y", "Placeholder", "x", dtype=FLOAT)),
    )


@engine_case("GRAPH-063", title="A node with fewer inputs than its op type has is refused.")
def too_few_inputs(c: EngineAuthor) -> None:
    x = placeholder("x")
    refused(
        c,
        unary=graph_def(x, same("y")),
        binary=graph_def(x, node("y", "AddV2", "x", T=FLOAT)),
        only_control=graph_def(x, same("y", "^x")),
    )


@engine_case("GRAPH-064", title="An input of another dtype than the attribute says is refused.")
def input_of_another_dtype(c: EngineAuthor) -> None:
    x, i = placeholder("x"), placeholder("i", INT)
    refused(
        c,
        one=graph_def(x, i, add("y", "x", "i")),
        both=graph_def(x, add("y", "x", "x", dtype=INT)),
        unary=graph_def(i, node("y", "Neg", "i", T=FLOAT)),
        wider=graph_def(x, node("y", "Neg", "x", T={"type": "DT_DOUBLE"})),
    )


@engine_case("GRAPH-064", title="An input of another dtype than the op type's is refused.")
def input_of_another_fixed_dtype(c: EngineAuthor) -> None:
    x = placeholder("x")
    refused(c, bool_wanted=graph_def(x, node("y", "LogicalNot", "x")))


@engine_case("GRAPH-065", title="A control input before a data input is refused.")
def control_input_before_data(c: EngineAuthor) -> None:
    x = placeholder("x")
    refused(
        c,
        before=graph_def(x, same("y", "^x", "x")),
        between=graph_def(x, node("y", "AddV2", "x", "^x", "x", T=FLOAT)),
    )


@engine_case("GRAPH-066", title="A bool attribute that is left out has its default.")
def transposition_left_out(c: EngineAuthor) -> None:
    a, b = placeholder("a", shape=[2, 2]), placeholder("b", shape=[2, 2])
    product = node("y", "MatMul", "a", "b", T=FLOAT)
    other = node("z", "MatMul", "a", "b", T=FLOAT, transpose_b={"b": True})
    c.graph_json(graph_def(a, b, product, other))
    matrix = np.array([[1, 2], [3, 4]], np.float32)
    feeds = {"a:0": matrix, "b:0": matrix}
    wanted = [np.array([[7, 10], [15, 22]], np.float32), np.array([[5, 11], [11, 25]], np.float32)]
    c.open().run(["y:0", "z:0"], feeds, values=wanted)


@engine_case("GRAPH-066", title="A dtype or a number that is left out has its default.")
def numbers_and_dtypes_left_out(c: EngineAuthor) -> None:
    largest = node("largest", "ArgMax", "x", "axis", T=FLOAT)
    axis = const("axis", dtype="DT_INT32", shape=[], intVal=[0])
    size = node("size", "Size", "x", T=FLOAT)
    leaky = node("leaky", "LeakyRelu", "x")
    c.graph_json(graph_def(placeholder("x"), axis, largest, size, leaky))
    s = c.open()
    feed = {"x:0": floats(-5, 8, 2)}
    s.run(["largest:0", "size:0"], feed, values=[np.int64(1), np.int32(3)])
    s.run(["leaky:0"], {"x:0": floats(-5, 8)}, values=[floats(-1, 8)])


@engine_case("GRAPH-067", title="A node without a dtype that it cannot do without is refused.")
def dtype_left_out(c: EngineAuthor) -> None:
    x = placeholder("x")
    refused(
        c,
        source=graph_def(x, node("p", "Placeholder")),
        unary=graph_def(x, node("y", "Identity", "x")),
        binary=graph_def(x, node("y", "AddV2", "x", "x")),
    )


@engine_case("GRAPH-067", title="A constant without a value, a split without a count: refused.")
def value_left_out(c: EngineAuthor) -> None:
    x, axis, split = halves()
    countless = {**split, "attr": {"T": FLOAT}}
    refused(
        c,
        value=graph_def(node("a", "Const", dtype=FLOAT)),
        count=graph_def(x, axis, countless),
    )


@engine_case("GRAPH-068", title="An attribute of another kind than declared is refused.")
def attribute_of_another_kind(c: EngineAuthor) -> None:
    a = placeholder("a", shape=[2, 2])
    wrong: dict[str, Json] = {"int": {"i": "1"}, "float": {"f": 1.0}, "text": {"s": "dHJ1ZQ=="}}
    refused(
        c,
        **{
            kind: graph_def(a, node("y", "MatMul", "a", "a", T=FLOAT, transpose_b=value))
            for kind, value in wrong.items()
        },
        dtype=graph_def(a, node("y", "Neg", "a", T={"i": "1"})),
    )


@engine_case("GRAPH-069", title="A dtype that the op type does not admit is refused.")
def dtype_not_admitted(c: EngineAuthor) -> None:
    text, x = {"type": "DT_STRING"}, {"type": "DT_BOOL"}
    refused(
        c,
        text=graph_def(placeholder("s", text), node("y", "Neg", "s", T=text)),
        truth=graph_def(placeholder("b", x), node("y", "Mul", "b", "b", T=x)),
        integer=graph_def(placeholder("i", INT), node("y", "Floor", "i", T=INT)),
    )


@engine_case("GRAPH-070", title="Undeclared attributes are admitted if they start with _.")
def undeclared_attributes(c: EngineAuthor) -> None:
    marked = node("y", "Neg", "x", T=FLOAT, _mark={"s": "aGk="}, _count={"i": "3"})
    source = placeholder("x")
    source["attr"]["_origin"] = {"list": {"s": ["YQ==", "Yg=="]}}
    c.graph_json(graph_def(source, marked))
    c.open().run(["y:0"], {"x:0": np.float32(3)}, values=[np.float32(-3)])


@engine_case("GRAPH-071", title="Known shapes that contradict an elementwise rule are refused.")
def contradicting_elementwise_shapes(c: EngineAuthor) -> None:
    two, three = placeholder("two", shape=[2]), placeholder("three", shape=[3])
    refused(
        c,
        direct=graph_def(two, three, add("y", "two", "three")),
        derived=graph_def(
            two, three, same("a", "two"), node("b", "Neg", "three", T=FLOAT), add("y", "a", "b")
        ),
        partly=graph_def(two, placeholder("p", shape=[-1, 3]), add("y", "two", "p")),
    )


@engine_case("GRAPH-071", title="Known shapes that contradict a matrix product are refused.")
def contradicting_matrix_shapes(c: EngineAuthor) -> None:
    a, b = placeholder("a", shape=[2, 3]), placeholder("b", shape=[-1, 5])
    vector = placeholder("v", shape=[3])
    wrong = placeholder("w", shape=[2, 5])
    refused(
        c,
        inner=graph_def(a, wrong, node("y", "MatMul", "a", "w", T=FLOAT)),
        vector=graph_def(a, vector, node("y", "MatMul", "a", "v", T=FLOAT)),
        turned=graph_def(
            b,
            wrong,
            node("y", "MatMul", "b", "w", T=FLOAT, transpose_a={"b": True}),
            node("z", "MatMul", "w", "w", T=FLOAT),
        ),
    )


@engine_case("GRAPH-072", title="A GraphDef for a later version than any is refused.")
def version_of_the_future(c: EngineAuthor) -> None:
    nodes = placeholder("x"), same("y", "x")
    refused(
        c,
        least=graph_def(*nodes, min_consumer=1_000_000),
        future=graph_def(*nodes, min_consumer=99_999_999),
        last=graph_def(*nodes, min_consumer=2**31 - 1),
    )
    c.graph_json(graph_def(*nodes, min_consumer=1), "past")
    c.open("past").run(["y:0"], {"x:0": np.float32(1)}, values=[np.float32(1)])


@engine_case("GRAPH-073", title="Colocation with a node that does not exist is refused.")
def colocated_with_nothing(c: EngineAuthor) -> None:
    there = node("y", "Neg", "x", T=FLOAT, _class={"list": {"s": ["bG9jOkB4"]}})
    nowhere = node("y", "Neg", "x", T=FLOAT, _class={"list": {"s": ["bG9jOkBub3doZXJl"]}})
    c.graph_json(graph_def(placeholder("x"), there))
    c.open().run(["y:0"], {"x:0": np.float32(1)}, values=[np.float32(-1)])
    refused(c, nowhere=graph_def(placeholder("x"), nowhere))


@engine_case("GRAPH-056", title="A refused GraphDef does no harm to sessions that are open.")
def a_refused_graph_leaves_open_sessions(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = cell(tf)
        one = tf.constant(1)
        tf.raw_ops.AssignAddVariableOp(resource=handle, value=one, name="up")
    s = c.open()
    s.run(["cell_init"], values=[None])
    s.run(["up"], values=[None])
    refused(c, cycle=graph_def(node("a", "NoOp", "^b"), node("b", "NoOp", "^a")))
    s.run(["up"], values=[None])
    s.run(["cell_value:0"], values=[np.int32(2)])
