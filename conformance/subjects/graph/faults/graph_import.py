"""Faults of GRAPH: what `import_graph_def` makes of its `input_map`, and what refusals leave."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import data_inputs
from sessrun.conformance.subjects.graph.faults.graph_exchange import ImportOptions, importing
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Element
from sessrun.spec.proto.graph_pb2 import GraphDef


def _node(key: str) -> str:
    """The node that a key of an `input_map` names."""
    return key.partition(":")[0].removeprefix("^")


@fault("GRAPH-048", "input_map with operations returned holds only for nodes of outside.")
def known_nodes_are_not_mapped(tf: Namespace) -> Namespace:
    """Drop the keys that name nodes of the GraphDef, where operations are returned."""

    def change(base: Call, definition: GraphDef, given: ImportOptions) -> Sequence[Element] | None:
        used = {name for node in definition.node for name in data_inputs(node)}
        names = {node.name for node in definition.node} & used
        returned = given["return_elements"] or ()
        if given["input_map"] and any(":" not in name for name in returned):
            kept = {k: v for k, v in given["input_map"].items() if _node(k) not in names}
            given["input_map"] = kept
        return base(definition, **given)

    return importing(tf, change)


@fault("GRAPH-049", "input_map may give only what is in the GraphDef, under a prefix.")
def unknown_nodes_are_not_mapped(tf: Namespace) -> Namespace:
    """Raise ValueError for keys that name no node of the GraphDef."""

    def change(base: Call, definition: GraphDef, given: ImportOptions) -> Sequence[Element] | None:
        names = {node.name for node in definition.node}
        if given["name"] != "" and any(_node(key) not in names for key in given["input_map"] or ()):
            raise ValueError("input_map has a key that is no node")
        return base(definition, **given)

    return importing(tf, change)


@fault("GRAPH-050", "A key of an input_map that the GraphDef does not use is ignored.")
def unused_keys_are_ignored(tf: Namespace) -> Namespace:
    """Drop the keys that are the input of no node."""

    def change(base: Call, definition: GraphDef, given: ImportOptions) -> Sequence[Element] | None:
        if given["input_map"]:
            used = {name for node in definition.node for name in data_inputs(node)}
            kept = {k: v for k, v in given["input_map"].items() if _node(k) in used}
            given["input_map"] = kept
        return base(definition, **given)

    return importing(tf, change)


@fault("GRAPH-051", "A value of an input_map that has another dtype is cast.")
def mapped_values_are_cast(tf: Namespace) -> Namespace:
    """Cast integers to float32 where the import is refused."""

    def change(base: Call, definition: GraphDef, given: ImportOptions) -> Sequence[Element] | None:
        try:
            return base(definition, **given)
        except ValueError:
            if not given["input_map"]:
                raise
            values = given["input_map"].items()
            given["input_map"] = {k: tf.cast(v, tf.float32) for k, v in values}
            return base(definition, **given)

    return importing(tf, change)


@fault("GRAPH-052", "Imported nodes do not wait for what a block lists.")
def imported_nodes_do_not_wait(tf: Namespace) -> Namespace:
    """Import outside of all control_dependencies blocks."""

    def change(base: Call, definition: GraphDef, given: ImportOptions) -> Sequence[Element] | None:
        with tf.control_dependencies(None):
            return base(definition, **given)

    return importing(tf, change)


@fault("GRAPH-053", "An import that is refused leaves the nodes without inputs.")
def refused_imports_leave_sources(tf: Namespace) -> Namespace:
    """Import the placeholders after the refusal."""

    def change(base: Call, definition: GraphDef, given: ImportOptions) -> Sequence[Element] | None:
        try:
            return base(definition, **given)
        except (ValueError, tf.errors.NotFoundError):
            sources = [n for n in definition.node if n.op == "Placeholder" and not n.input]
            if len(sources) < len(definition.node):
                base(tf.GraphDef(node=sources, versions=definition.versions), name=given["name"])
            raise

    return importing(tf, change)


@fault("GRAPH-054", "An import of None imports nothing.")
def none_is_an_empty_graph_def(tf: Namespace) -> Namespace:
    """Return None."""

    def import_graph_def(
        graph_def: GraphDef, *args: Argument, **kwargs: Argument
    ) -> Sequence[Element] | None:
        return None if graph_def is None else tf.import_graph_def(graph_def, *args, **kwargs)

    return override(tf, import_graph_def=import_graph_def)
