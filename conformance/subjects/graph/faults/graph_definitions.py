"""Faults of GRAPH: what an engine makes of a GraphDef, well-formed or not."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import data_inputs, editing, running
from sessrun.spec.cases.arguments import Argument, DType
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Element, FeedDict, Fetches, Session, Value
from sessrun.spec.proto.graph_pb2 import GraphDef, NodeDef

#: Operations of one input.
_UNARY: Final = frozenset({"Identity", "Neg", "Abs", "Square", "Relu", "Floor"})


def second_try(tf: Namespace, change: Callable[[GraphDef], None]) -> Namespace:
    """The namespace that imports a changed copy of a GraphDef that ValueError refuses."""

    def import_graph_def(
        graph_def: GraphDef, *args: Argument, **kwargs: Argument
    ) -> Sequence[Element] | None:
        try:
            return tf.import_graph_def(graph_def, *args, **kwargs)
        except ValueError as refusal:
            copy = tf.GraphDef()
            copy.CopyFrom(graph_def)
            change(copy)
            try:
                return tf.import_graph_def(copy, *args, **kwargs)
            except ValueError:
                raise refusal from None

    return override(tf, import_graph_def=import_graph_def)


# --- op types, cycles, names --------------------------------------------------------------


@fault("GRAPH-055", "An unknown op type is reported as unimplemented.")
def unknown_is_unimplemented(tf: Namespace) -> Namespace:
    """Raise UnimplementedError (code 12) instead of NotFoundError (code 5)."""

    def import_graph_def(*args: Argument, **kwargs: Argument) -> Sequence[Element] | None:
        try:
            return tf.import_graph_def(*args, **kwargs)
        except tf.errors.NotFoundError as error:
            raise tf.errors.UnimplementedError(None, None, str(error)) from error

    return override(tf, import_graph_def=import_graph_def)


@fault("GRAPH-056", "A control input that closes a cycle is dropped.")
def breaks_cycles_of_control_inputs(tf: Namespace) -> Namespace:
    """Drop control edges from nodes that depend on the node themselves."""

    def change(definition: GraphDef) -> None:
        nodes = {node.name: node for node in definition.node}
        for node in definition.node:
            for name in [name for name in node.input if name.startswith("^")]:
                if node.name in _above(nodes, name[1:]):
                    node.input.remove(name)

    return second_try(tf, change)


def _above(nodes: dict[str, NodeDef], start: str) -> set[str]:
    """The names of the nodes that a node needs, with its own."""
    above, waiting = set(), [start]
    while waiting:
        name = waiting.pop()
        if name in nodes and name not in above:
            above.add(name)
            controls = [i[1:] for i in nodes[name].input if i.startswith("^")]
            waiting += [*data_inputs(nodes[name]), *controls]
    return above


@fault("GRAPH-057", "The last of several nodes of one name counts.")
def last_of_one_name(tf: Namespace) -> Namespace:
    """Drop the earlier nodes of a name."""

    def change(definition: GraphDef) -> None:
        last = {node.name: node for node in definition.node}
        kept = [node for node in definition.node if node is last[node.name]]
        copies = tf.GraphDef(node=kept).node
        del definition.node[:]
        definition.node.extend(copies)

    return second_try(tf, change)


@fault("GRAPH-058", "Names that differ only in case are refused.")
def case_is_ignored_in_graph_defs(tf: Namespace) -> Namespace:
    """Compare the names in lower case."""

    def change(definition: GraphDef) -> None:
        names = {node.name for node in definition.node}
        if len({name.lower() for name in names}) < len(names):
            raise ValueError("two nodes have one name")

    return editing(tf, change)


@fault("GRAPH-059", "A control input that names no node is ignored.")
def unknown_control_inputs_are_ignored(tf: Namespace) -> Namespace:
    """Remove control inputs that name no node."""

    def change(definition: GraphDef) -> None:
        names = {f"^{node.name}" for node in definition.node}
        for node in definition.node:
            node.input[:] = [i for i in node.input if not i.startswith("^") or i in names]

    return second_try(tf, change)


@fault("GRAPH-060", "An input without an index is the last of the outputs of an Unpack.")
def bare_input_is_the_last_output(tf: Namespace) -> Namespace:
    """Rewrite inputs from operations that unpack."""

    def change(definition: GraphDef) -> None:
        last = {
            node.name: f"{node.name}:{node.attr['num'].i - 1}"
            for node in definition.node
            if node.op == "Unpack"
        }
        for node in definition.node:
            node.input[:] = [last.get(name, name) for name in node.input]

    return editing(tf, change)


@fault("GRAPH-061", "An output index one too high means the last output.")
def index_too_high_is_the_last(tf: Namespace) -> Namespace:
    """Lower the indices of a GraphDef that is refused by one."""

    def lower(match: re.Match[str]) -> str:
        return f":{max(int(match[1]) - 1, 0)}"

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            node.input[:] = [re.sub(r":(\d+)$", lower, name) for name in node.input]

    return second_try(tf, change)


@fault("GRAPH-062", "A wrong character in a node's name becomes a dot.")
def wrong_names_are_mended(tf: Namespace) -> Namespace:
    """Replace the wrong characters of names by dots."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            node.name = re.sub(r"[^A-Za-z0-9./>_-]|^[_/-]", ".", node.name)

    return second_try(tf, change)


# --- signatures ---------------------------------------------------------------------------


@fault("GRAPH-063", "Surplus inputs of operations of one input are ignored.")
def surplus_inputs_are_ignored(tf: Namespace) -> Namespace:
    """Keep the first input and the control inputs."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            if node.op in _UNARY and data_inputs(node):
                controls = [name for name in node.input if name.startswith("^")]
                node.input[:] = [*node.input[:1], *controls]

    return second_try(tf, change)


@fault("GRAPH-064", "The attribute T is ignored where a placeholder is the input.")
def dtype_of_the_input_counts(tf: Namespace) -> Namespace:
    """Set T to the dtype of the first input."""

    def change(definition: GraphDef) -> None:
        sources = {n.name: n.attr["dtype"] for n in definition.node if n.op == "Placeholder"}
        for node in definition.node:
            if "T" in node.attr and node.input and node.input[0] in sources:
                node.attr["T"].CopyFrom(sources[node.input[0]])

    return second_try(tf, change)


@fault("GRAPH-065", "Control inputs may stand anywhere.")
def control_inputs_anywhere(tf: Namespace) -> Namespace:
    """Move control inputs to the end of the inputs."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            node.input[:] = sorted(node.input, key=lambda name: name.startswith("^"))

    return second_try(tf, change)


@fault("GRAPH-066", "A number that is left out is 0, an index's dtype int32.")
def left_out_numbers_are_zero(tf: Namespace) -> Namespace:
    """Fill in the attributes that LeakyRelu and ArgMax lack."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            if node.op == "LeakyRelu" and "alpha" not in node.attr:
                node.attr["alpha"].f = 0.0
            if node.op == "ArgMax" and "output_type" not in node.attr:
                node.attr["output_type"].type = tf.int32.as_datatype_enum

    return editing(tf, change)


@fault("GRAPH-067", "A dtype that is left out is float32.")
def left_out_dtype_is_float(tf: Namespace) -> Namespace:
    """Fill in float32 where a GraphDef is refused."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            name = "dtype" if node.op in {"Placeholder", "Const"} else "T"
            if not node.attr[name].type:
                node.attr[name].type = tf.float32.as_datatype_enum

    return second_try(tf, change)


@fault("GRAPH-068", "An int is admitted for a bool.")
def ints_are_bools(tf: Namespace) -> Namespace:
    """Turn the int attributes of a GraphDef that is refused into bools."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            for value in node.attr.values():
                if value.WhichOneof("value") == "i":
                    value.b = bool(value.i)

    return second_try(tf, change)


@fault("GRAPH-069", "Floor of integers is admitted and changes nothing.")
def floor_of_integers(tf: Namespace) -> Namespace:
    """Replace Floor nodes by Identity nodes."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            if node.op == "Floor":
                node.op = "Identity"

    return second_try(tf, change)


@fault("GRAPH-070", "An undeclared attribute that is a list is refused.")
def undeclared_lists_are_refused(tf: Namespace) -> Namespace:
    """Raise for lists of strings under unknown names."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            for name, value in node.attr.items():
                if name.startswith("_") and name != "_class" and len(value.list.s):
                    raise ValueError(f"node {node.name!r} has an unknown attribute {name!r}")

    return editing(tf, change)


@fault("GRAPH-071", "Shapes are not looked at when a GraphDef is loaded.")
def shapes_are_ignored_at_import(tf: Namespace) -> Namespace:
    """Clear the shapes of placeholders where a GraphDef is refused."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            if node.op == "Placeholder":
                node.attr.pop("shape", None)

    return second_try(tf, change)


@fault("GRAPH-072", "The version that a GraphDef asks for is ignored.")
def versions_are_ignored(tf: Namespace) -> Namespace:
    """Clear `min_consumer` of the GraphDef."""
    return editing(tf, lambda definition: definition.versions.ClearField("min_consumer"))


@fault("GRAPH-139", "A GraphDef for the next version is imported.")
def the_next_version_is_imported(tf: Namespace) -> Namespace:
    """Lower `min_consumer` to the own version where it is one above."""
    own = tf.version.GRAPH_DEF_VERSION

    def change(definition: GraphDef) -> None:
        if definition.versions.min_consumer == own + 1:
            definition.versions.min_consumer = own

    return editing(tf, change)


@fault("GRAPH-073", "Colocation with a node that does not exist is ignored.")
def unknown_colocation_is_ignored(tf: Namespace) -> Namespace:
    """Drop the groups of a GraphDef that is refused."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            node.attr.pop("_class", None)

    return second_try(tf, change)


# --- constants ----------------------------------------------------------------------------


@fault("GRAPH-074", "A constant that lists too few values is filled up with zeros.")
def short_constants_end_in_zeros(tf: Namespace) -> Namespace:
    """Append zeros to the values where more than one, but not all, are listed."""

    def change(definition: GraphDef) -> None:
        for node in [node for node in definition.node if node.op == "Const"]:
            tensor = node.attr["value"].tensor
            for values in (tensor.float_val, tensor.int_val):
                count = int(np.prod([dim.size for dim in tensor.tensor_shape.dim]))
                if 1 < len(values) < count:
                    values.extend([0] * (count - len(values)))

    return editing(tf, change)


@fault("GRAPH-075", "An ill-formed constant is refused when it is loaded.")
def ill_formed_constants_are_refused(tf: Namespace) -> Namespace:
    """Raise ValueError where the dtype attribute and the tensor disagree."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            if node.op == "Const" and node.attr["dtype"].type != node.attr["value"].tensor.dtype:
                raise ValueError(f"constant {node.name!r} has another dtype")

    return editing(tf, change)


# --- arithmetic ---------------------------------------------------------------------------


def _replaced(tf: Namespace, op: str, other: str, dtype: DType) -> Namespace:
    """The namespace that imports one op type of one dtype as another."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            if node.op == op and node.attr["T"].type == dtype.as_datatype_enum:
                node.op = other

    return editing(tf, change)


@fault("GRAPH-098", "Division of int64 rounds towards zero.")
def division_truncates(tf: Namespace) -> Namespace:
    """Replace FloorDiv by TruncateDiv."""
    return _replaced(tf, "FloorDiv", "TruncateDiv", tf.int64)


@fault("GRAPH-099", "The remainder of int32 has the sign of the dividend.")
def remainder_truncates(tf: Namespace) -> Namespace:
    """Replace FloorMod by TruncateMod."""
    return _replaced(tf, "FloorMod", "TruncateMod", tf.int32)


@fault("GRAPH-101", "Operands of different ranks are refused unless one is a scalar.")
def ranks_must_agree(tf: Namespace) -> Namespace:
    """Compare the ranks of the arrays fed as operands of an addition."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        ranks = {
            getattr(key, "name", key): np.ndim(value)
            for key, value in dict(feeds or {}).items()
            if isinstance(value, np.ndarray)
        }
        for op in session.graph.get_operations() if len(ranks) > 1 else ():
            different = {ranks.get(tensor.name, 0) for tensor in op.inputs} - {0}
            if op.type == "AddV2" and len(different) > 1:
                raise tf.errors.InvalidArgumentError(None, None, "ranks differ")
        return base(fetches)

    return running(tf, change)
