"""Faults of GRAPH: GraphDefs cut down or frozen wrongly, and what an import does not take over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sessrun.conformance.faulty.framework import Overlay, fault, override
from sessrun.conformance.faulty.run_fragments import data_inputs
from sessrun.conformance.subjects.graph.faults.graph_exchange import (
    ImportOptions,
    importing,
    writing,
)
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Element, Operation, Session
from sessrun.spec.proto.graph_pb2 import GraphDef, NodeDef


def _tools(tf: Namespace, **changes: Argument) -> Namespace:
    """The namespace with other functions in `graph_util`."""
    return override(tf, graph_util=Overlay(tf.graph_util, changes))


@fault("GRAPH-108", "The list of an operation's control inputs is the operation's own.")
def control_inputs_are_shared(tf: Namespace) -> Namespace:
    """Give each NoOp one list of control inputs, from which its NodeDef is written."""

    def no_op(name: str | None = None) -> Operation:
        op = tf.no_op(name)
        op.__class__ = _sharing(type(op))
        return op

    return override(tf, no_op=no_op)


def _sharing(kind: Any) -> type:
    """A class of operations with one list of control inputs, made at its first use."""

    class SharingOperation(kind):  # type: ignore[misc]
        __slots__ = ()

        @property
        def control_inputs(self) -> list[Operation]:
            return self.__dict__.setdefault("shared", list(kind.control_inputs.fget(self)))

        @property
        def node_def(self) -> NodeDef:
            node = kind.node_def.fget(self)
            kept = [text for text in node.input if not text.startswith("^")]
            node.ClearField("input")
            node.input.extend([*kept, *(f"^{op.name}" for op in self.control_inputs)])
            return node

    return SharingOperation


@fault("GRAPH-109", "A key of an input_map must be an input of some node.")
def mapped_outputs_need_consumers(tf: Namespace) -> Namespace:
    """Raise ValueError for other keys that the GraphDef has."""

    def change(base: Call, definition: GraphDef, given: ImportOptions) -> Sequence[Element] | None:
        nodes = {node.name for node in definition.node}
        used = {name for node in definition.node for name in data_inputs(node)}
        for key in given["input_map"] or ():
            name = key.partition(":")[0]
            if name in nodes and name not in used:
                raise ValueError(f"no node has {key} as an input")
        return base(definition, **given)

    return importing(tf, change)


@fault("GRAPH-110", "Without a name values of an input_map are converted at the root.")
def mapped_values_are_converted_at_the_root(tf: Namespace) -> Namespace:
    """Convert the values of `input_map` where `name` is empty."""

    def change(base: Call, definition: GraphDef, given: ImportOptions) -> Sequence[Element] | None:
        if given["name"] == "" and given["input_map"]:
            values = given["input_map"].items()
            given["input_map"] = {key: tf.convert_to_tensor(value) for key, value in values}
        return base(definition, **given)

    return importing(tf, change)


@fault("GRAPH-111", "A graph keeps its own versions, whatever is imported.")
def versions_are_not_taken_over(tf: Namespace) -> Namespace:
    """Import under the versions of the graph."""

    def change(base: Call, definition: GraphDef, given: ImportOptions) -> Sequence[Element] | None:
        if not definition.HasField("versions"):
            return base(definition, **given)
        same = type(definition)()
        same.CopyFrom(definition)
        mine = tf.get_default_graph().graph_def_versions
        if 0 <= same.versions.min_consumer <= mine.producer:
            same.versions.producer = mine.producer
            same.versions.min_consumer = mine.min_consumer
        return base(same, **given)

    return importing(tf, change)


@fault("GRAPH-112", "Functions of imported GraphDefs are forgotten.")
def functions_are_forgotten(tf: Namespace) -> Namespace:
    """Clear the library of each GraphDef that is written."""
    return writing(tf, lambda definition: definition.ClearField("library"))


@fault("GRAPH-113", "A function replaces an earlier one of its name.")
def functions_are_replaced(tf: Namespace) -> Namespace:
    """Import without the functions of a GraphDef that is refused with them."""

    def change(base: Call, definition: GraphDef, given: ImportOptions) -> Sequence[Element] | None:
        try:
            return base(definition, **given)
        except ValueError:
            if not getattr(definition, "library", None) or not definition.library.function:
                raise
            without = type(definition)()
            without.CopyFrom(definition)
            without.ClearField("library")
            return base(without, **given)

    return importing(tf, change)


# --- nodes left out -----------------------------------------------------------------------


def _extracting(
    tf: Namespace, change: Callable[[Call, GraphDef, Sequence[str]], GraphDef]
) -> Namespace:
    """The namespace whose `extract_sub_graph` is `change(base, definition, names)`."""
    base = tf.graph_util.extract_sub_graph
    return _tools(tf, extract_sub_graph=lambda graph_def, names: change(base, graph_def, names))


@fault("GRAPH-114", "A sub-graph has its nodes in the order in which they are found.")
def sub_graphs_are_turned_round(tf: Namespace) -> Namespace:
    """Reverse the nodes of sub-graphs without control inputs."""

    def change(base: Call, definition: GraphDef, names: Sequence[str]) -> GraphDef:
        sub_graph = base(definition, names)
        nodes = list(sub_graph.node)
        if any("_class" in node.attr or "^" in "".join(node.input) for node in nodes):
            return sub_graph
        turned = type(sub_graph)()
        turned.CopyFrom(sub_graph)
        turned.ClearField("node")
        turned.node.extend(reversed(nodes))
        return turned

    return _extracting(tf, change)


@fault("GRAPH-115", "A sub-graph follows data inputs only.")
def sub_graphs_follow_data_only(tf: Namespace) -> Namespace:
    """Keep the nodes that are reached without control inputs and colocation."""

    def change(base: Call, definition: GraphDef, names: Sequence[str]) -> GraphDef:
        plain = type(definition)()
        plain.CopyFrom(definition)
        for node in plain.node:
            kept = [text for text in node.input if not text.startswith("^")]
            node.ClearField("input")
            node.input.extend(kept)
            node.attr.pop("_class", None)
        wanted = {node.name for node in base(plain, names).node}
        sub_graph = base(definition, names)
        left = [node for node in sub_graph.node if node.name in wanted]
        sub_graph.ClearField("node")
        sub_graph.node.extend(left)
        return sub_graph

    return _extracting(tf, change)


@fault("GRAPH-116", "A node that the GraphDef lacks is passed over.")
def unknown_nodes_are_passed_over(tf: Namespace) -> Namespace:
    """Extract only the nodes that the GraphDef has."""

    def change(base: Call, definition: GraphDef, names: Sequence[str]) -> GraphDef:
        there = {node.name for node in definition.node}
        return base(definition, [name for name in names if name in there])

    return _extracting(tf, change)


@fault("GRAPH-117", "Identity nodes stay where they are not checks.")
def identities_stay(tf: Namespace) -> Namespace:
    """Protect every Identity."""
    base = tf.graph_util.remove_training_nodes

    def remove(graph_def: GraphDef, protected_nodes: Sequence[str] | None = None) -> GraphDef:
        identities = [node.name for node in graph_def.node if node.op == "Identity"]
        return base(graph_def, [*(protected_nodes or ()), *identities])

    return _tools(tf, remove_training_nodes=remove)


def _bridged(definition: GraphDef, protected: Sequence[str], *, ordering: bool) -> GraphDef:
    """The GraphDef without Identity nodes, or without those only that order others."""
    bridged = type(definition)()
    bridged.CopyFrom(definition)
    waited = {text[1:] for node in bridged.node for text in node.input if text.startswith("^")}
    gone = {}
    for node in bridged.node:
        orders = node.name in waited or any(text.startswith("^") for text in node.input)
        if node.op == "Identity" and orders is ordering and node.name not in protected:
            gone[node.name] = node.input[0]
    left = [node for node in bridged.node if node.name not in gone]
    for node in left:
        inputs = [gone.get(text, text) for text in node.input]
        kept = [text for text in inputs if text.removeprefix("^") not in gone]
        node.ClearField("input")
        node.input.extend(kept)
    bridged.ClearField("node")
    bridged.node.extend(left)
    return bridged


@fault("GRAPH-118", "Identity nodes that order others are left out too.")
def ordering_identities_go(tf: Namespace) -> Namespace:
    """Remove the Identity nodes that have or are control inputs, too."""
    base = tf.graph_util.remove_training_nodes

    def remove(graph_def: GraphDef, protected_nodes: Sequence[str] | None = None) -> GraphDef:
        pruned = base(graph_def, protected_nodes)
        return _bridged(pruned, protected_nodes or (), ordering=True)

    return _tools(tf, remove_training_nodes=remove)


@fault("GRAPH-119", "No node is protected.")
def no_node_is_protected(tf: Namespace) -> Namespace:
    """Drop `protected_nodes`."""
    base = tf.graph_util.remove_training_nodes

    def remove(graph_def: GraphDef, protected_nodes: Sequence[str] | None = None) -> GraphDef:  # noqa: ARG001 - the fault
        return base(graph_def)

    return _tools(tf, remove_training_nodes=remove)


# --- variables made constants -------------------------------------------------------------


def _freezing(tf: Namespace, change: Call) -> Namespace:
    """The namespace with `change(base, sess, definition, names, **given)` as the conversion."""
    base = tf.graph_util.convert_variables_to_constants

    def freeze(
        sess: Session, definition: GraphDef, names: Sequence[str], **given: Argument
    ) -> GraphDef:
        return change(base, sess, definition, names, **given)

    return _tools(tf, convert_variables_to_constants=freeze)


@fault("GRAPH-120", "A frozen variable has the value that it was initialised to.")
def frozen_to_the_initial_value(tf: Namespace) -> Namespace:
    """Run the operation `init` before the variables are frozen, if the graph has it."""

    def change(
        base: Call, sess: Session, definition: GraphDef, names: Sequence[str], **given: Argument
    ) -> GraphDef:
        frozen = base(sess, definition, names, **given)
        inits = [
            op for op in sess.graph.get_operations() if op.type == "NoOp" and op.name == "init"
        ]
        if not inits:
            return frozen
        sess.run(inits[0])
        return base(sess, definition, names, **given)

    return _freezing(tf, change)


@fault("GRAPH-121", "A frozen GraphDef keeps nodes that no output needs.")
def frozen_with_everything(tf: Namespace) -> Namespace:
    """Append the placeholders that the frozen GraphDef lacks."""

    def change(
        base: Call, sess: Session, definition: GraphDef, names: Sequence[str], **given: Argument
    ) -> GraphDef:
        frozen = base(sess, definition, names, **given)
        there = {node.name for node in frozen.node}
        others = [n for n in definition.node if n.op == "Placeholder" and n.name not in there]
        frozen.node.extend(others)
        return frozen

    return _freezing(tf, change)


@fault("GRAPH-122", "Every variable is frozen, whatever is asked for.")
def all_variables_are_frozen(tf: Namespace) -> Namespace:
    """Drop the lists of variables."""
    return _freezing(tf, lambda base, sess, definition, names, **_: base(sess, definition, names))


@fault("GRAPH-123", "A variable without a value stays a variable.")
def unset_variables_stay(tf: Namespace) -> Namespace:
    """Cut the GraphDef down only, where the conversion fails."""

    def change(
        base: Call, sess: Session, definition: GraphDef, names: Sequence[str], **given: Argument
    ) -> GraphDef:
        try:
            return base(sess, definition, names, **given)
        except tf.errors.FailedPreconditionError:
            return tf.graph_util.extract_sub_graph(definition, names)

    return _freezing(tf, change)
