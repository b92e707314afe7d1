"""Vectors of GRAPH and PLACEMENT: GraphDefs that `import_graph_def` refuses with ValueError."""

from __future__ import annotations

from functools import partial
from typing import cast

from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case
from sessrun.conformance.subjects.graph.cases.graph_definitions import (
    FLOAT,
    INT,
    Json,
    add,
    graph_def,
    halves,
    node,
    placeholder,
    same,
)
from sessrun.spec.proto.graph_pb2 import GraphDef


def _fill(c: ApiAuthor, target: Symbol, message: Message) -> None:
    """Record the steps that give an empty message of the API the content of this one."""
    for field, value in message.ListFields():
        of_target = getattr(target, field.name)
        if field.message_type is None:
            if field.is_repeated:
                for item in value:
                    of_target.append(item)
            else:
                c.set(target, field.name, cast(Recordable, value))
        elif field.message_type.GetOptions().map_entry:
            for key in sorted(value):
                _fill(c, of_target[key], value[key])
        elif field.is_repeated:
            for item in value:
                _fill(c, of_target.add(), item)
        else:
            _fill(c, of_target, value)


def _refused(c: ApiAuthor, *definitions: Json) -> None:
    """The import of each GraphDef must raise ValueError."""
    for content in definitions:
        definition = c.tf.GraphDef()
        _fill(c, definition, ParseDict(content, GraphDef()))
        c.raises("ValueError", partial(c.tf.import_graph_def, definition, name=""))


# --- cycles, names, inputs ----------------------------------------------------------------


@api_case("GRAPH-056", title="The import of a cycle is ValueError.")
def imported_cycles(c: ApiAuthor) -> None:
    x = placeholder("x")
    _refused(
        c,
        graph_def(x, add("a", "b", "x"), same("b", "a")),
        graph_def(node("a", "NoOp", "^b"), node("b", "NoOp", "^a")),
        graph_def(node("a", "NoOp", "^a")),
    )


@api_case("GRAPH-057", title="The import of two nodes of one name is ValueError.")
def imported_nodes_of_one_name(c: ApiAuthor) -> None:
    x, n = placeholder("x"), node("n", "NoOp")
    _refused(c, graph_def(x, same("y", "x"), node("y", "Neg", "x", T=FLOAT)), graph_def(n, n))


@api_case("GRAPH-059", title="The import of an input that names no node is ValueError.")
def imported_unknown_inputs(c: ApiAuthor) -> None:
    x = placeholder("x")
    _refused(c, graph_def(x, add("y", "x", "nowhere")), graph_def(node("n", "NoOp", "^nowhere")))


@api_case("GRAPH-061", title="The import of an index of no output is ValueError.")
def imported_indices_of_no_output(c: ApiAuthor) -> None:
    nothing = node("nothing", "NoOp")
    _refused(
        c, graph_def(*halves(), same("y", "halves:2")), graph_def(nothing, same("y", "nothing"))
    )


@api_case("GRAPH-062", title="The import of a node of a wrong name is ValueError.")
def imported_wrong_names(c: ApiAuthor) -> None:
    names = ("", "a b", "a:0", "_a", "-a", "/a")
    _refused(c, *(graph_def(node(name, "NoOp")) for name in names))


# --- signatures ---------------------------------------------------------------------------


@api_case("GRAPH-063", title="The import of too many or too few inputs is ValueError.")
def imported_counts_of_inputs(c: ApiAuthor) -> None:
    x = placeholder("x")
    _refused(
        c,
        graph_def(x, same("y", "x", "x")),
        graph_def(x, node("y", "AddV2", "x", T=FLOAT)),
        graph_def(x, same("y", "^x")),
    )


@api_case("GRAPH-064", title="The import of an input of another dtype is ValueError.")
def imported_dtypes_that_disagree(c: ApiAuthor) -> None:
    x, i = placeholder("x"), placeholder("i", INT)
    _refused(c, graph_def(x, i, add("y", "x", "i")), graph_def(x, node("y", "LogicalNot", "x")))


@api_case("GRAPH-065", title="The import of a control input before data is ValueError.")
def imported_control_inputs_before_data(c: ApiAuthor) -> None:
    x = placeholder("x")
    _refused(
        c,
        graph_def(x, same("y", "^x", "x")),
        graph_def(x, node("y", "Sub", "x", "^x", "x", T=FLOAT)),
    )


@api_case("GRAPH-067", title="The import of a node that lacks an attribute is ValueError.")
def imported_nodes_without_attributes(c: ApiAuthor) -> None:
    x, axis, split = halves()
    _refused(
        c,
        graph_def(node("p", "Placeholder")),
        graph_def(x, axis, {**split, "attr": {"T": FLOAT}}),
        graph_def(node("a", "Const", dtype=FLOAT)),
    )


@api_case("GRAPH-068", title="The import of an attribute of another kind is ValueError.")
def imported_attributes_of_another_kind(c: ApiAuthor) -> None:
    a, number = placeholder("a", shape=[2, 2]), {"i": "1"}
    _refused(
        c,
        graph_def(a, node("y", "MatMul", "a", "a", T=FLOAT, transpose_b=number)),
        graph_def(a, node("y", "Neg", "a", T=number)),
    )


@api_case("GRAPH-069", title="The import of a dtype that is not admitted is ValueError.")
def imported_dtypes_not_admitted(c: ApiAuthor) -> None:
    text = {"type": "DT_STRING"}
    _refused(
        c,
        graph_def(placeholder("s", text), node("y", "Neg", "s", T=text)),
        graph_def(placeholder("i", INT), node("y", "Floor", "i", T=INT)),
    )


@api_case("GRAPH-071", title="The import of shapes that contradict each other is ValueError.")
def imported_contradicting_shapes(c: ApiAuthor) -> None:
    two, three = placeholder("two", shape=[2]), placeholder("three", shape=[3])
    _refused(
        c,
        graph_def(two, three, add("y", "two", "three")),
        graph_def(two, node("y", "MatMul", "two", "two", T=FLOAT)),
    )


# --- versions, devices --------------------------------------------------------------------


@api_case("GRAPH-072", title="The import of a GraphDef for a much later version is ValueError.")
def imported_later_versions(c: ApiAuthor) -> None:
    versions = (1_000_000, 2**31 - 1)
    _refused(c, *(graph_def(node("n", "NoOp"), min_consumer=number) for number in versions))


@api_case("GRAPH-073", title="The import of a node colocated with no node is ValueError.")
def imported_colocation_with_nothing(c: ApiAuthor) -> None:
    groups = {"list": {"s": ["bG9jOkBub3doZXJl"]}}
    _refused(c, graph_def(placeholder("x"), node("y", "Neg", "x", T=FLOAT, _class=groups)))


@api_case("PLACEMENT-029", title="The import of a device that is no device name is ValueError.")
def imported_devices_that_are_none(c: ApiAuthor) -> None:
    devices = ("/bogus", "/device:CPU:x")
    _refused(c, *(graph_def({**node("n", "NoOp"), "device": name}) for name in devices))
