"""Faults of GRAPH: collections, finalized graphs, GraphDefs written and imported."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import editing
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Element, Value
from sessrun.spec.proto.graph_pb2 import GraphDef


class ImportOptions(TypedDict):
    """The arguments of an import beside the GraphDef."""

    input_map: Mapping[str, Argument] | None
    return_elements: Sequence[str] | None
    name: str | None


def importing(
    tf: Namespace, change: Callable[[Call, GraphDef, ImportOptions], Sequence[Element] | None]
) -> Namespace:
    """The namespace whose `import_graph_def` is `change(base, graph_def, arguments)`.

    `base(graph_def, **arguments)` is the conforming call.
    """

    def import_graph_def(
        graph_def: GraphDef,
        input_map: Mapping[str, Argument] | None = None,
        return_elements: Sequence[str] | None = None,
        name: str | None = None,
    ) -> Sequence[Element] | None:
        given: ImportOptions = {
            "input_map": input_map,
            "return_elements": return_elements,
            "name": name,
        }
        return change(tf.import_graph_def, graph_def, given)

    return override(tf, import_graph_def=import_graph_def)


def writing(tf: Namespace, change: Callable[[GraphDef], None]) -> Namespace:
    """The namespace whose Graphs change the GraphDef that they write."""

    class Graph(tf.Graph):  # type: ignore[misc, name-defined]
        def as_graph_def(self, *args: Argument, **kwargs: Argument) -> GraphDef:
            definition = super().as_graph_def(*args, **kwargs)
            change(definition)
            return definition

    return override(tf, Graph=Graph)


# --- collections --------------------------------------------------------------------------


@fault("GRAPH-028", "A collection has each item once.")
def collections_are_sets(tf: Namespace) -> Namespace:
    """Leave out repeated items."""

    def get_collection(key: str, scope: str | None = None) -> list[Argument]:
        return list(dict.fromkeys(tf.get_collection(key, scope)))

    return override(tf, get_collection=get_collection)


@fault("GRAPH-029", "get_collection gives the collection itself.")
def collections_are_given_out(tf: Namespace) -> Namespace:
    """Return the list itself unless the caller gives a scope."""

    def get_collection(key: str, scope: str | None = None) -> list[Argument]:
        return tf.get_collection(key, scope) if scope else tf.get_collection_ref(key)

    return override(tf, get_collection=get_collection)


@fault("GRAPH-030", "A collection to which nothing was added is refused.")
def unknown_collections_are_refused(tf: Namespace) -> Namespace:
    """Raise KeyError for empty collections."""

    def get_collection(key: str, scope: str | None = None) -> list[Argument]:
        if not tf.get_collection(key):
            raise KeyError(key)
        return tf.get_collection(key, scope)

    return override(tf, get_collection=get_collection)


@fault("GRAPH-031", "A scope may match an item's name anywhere.")
def scopes_match_anywhere(tf: Namespace) -> Namespace:
    """Search for the scope anywhere in the name."""

    def get_collection(key: str, scope: str | None = None) -> list[Argument]:
        items = tf.get_collection(key)
        if not scope:
            return items
        return [i for i in items if hasattr(i, "name") and re.search(scope, i.name)]

    return override(tf, get_collection=get_collection)


@fault("GRAPH-032", "get_collection_ref gives a copy.")
def collection_references_are_copies(tf: Namespace) -> Namespace:
    """Return a copy of the list."""
    return override(tf, get_collection_ref=lambda key: list(tf.get_collection_ref(key)))


# --- finalized graphs ---------------------------------------------------------------------


@fault("GRAPH-033", "A finalized graph still grows.")
def finalized_graphs_grow(tf: Namespace) -> Namespace:
    """Only note that the graph is finalized."""

    class Graph(tf.Graph):  # type: ignore[misc, name-defined]
        noted = False

        @property
        def finalized(self) -> bool:
            """What was noted."""
            return self.noted

        def finalize(self) -> None:
            """Note it."""
            self.noted = True

    return override(tf, Graph=Graph)


@fault("GRAPH-034", "A finalized graph cannot be run.")
def finalized_graphs_do_not_run(tf: Namespace) -> Namespace:
    """Raise RuntimeError."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, *args: Argument, **kwargs: Argument) -> Value:
            if self.graph.finalized:
                raise RuntimeError("the graph is finalized")
            return super().run(*args, **kwargs)

    return override(tf, Session=Session)


@fault("GRAPH-035", "Adding to a collection of a finalized graph does nothing.")
def finalized_collections_are_silent(tf: Namespace) -> Namespace:
    """Skip the call where the graph is finalized."""

    def add_to_collection(name: str, value: Value) -> None:
        if not tf.get_default_graph().finalized:
            tf.add_to_collection(name, value)

    return override(tf, add_to_collection=add_to_collection)


# --- GraphDefs written --------------------------------------------------------------------


@fault("GRAPH-036", "as_graph_def sorts the nodes by name.")
def nodes_are_sorted(tf: Namespace) -> Namespace:
    """Sort the nodes of the GraphDef by name."""
    return writing(tf, lambda definition: definition.node.sort(key=lambda node: node.name))


@fault("GRAPH-037", "as_graph_def writes the index of output 0 too.")
def indices_are_written(tf: Namespace) -> Namespace:
    """Append `:0` to inputs without an index."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            node.input[:] = [i if i[0] == "^" or ":" in i else f"{i}:0" for i in node.input]

    return writing(tf, change)


@fault("GRAPH-038", "as_graph_def leaves the shapes of placeholders out.")
def shapes_are_left_out(tf: Namespace) -> Namespace:
    """Remove the attribute `shape` of placeholders."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            if node.op == "Placeholder":
                node.attr.pop("shape", None)

    return writing(tf, change)


@fault("GRAPH-039", "as_graph_def gives out the same object until the graph has grown.")
def graph_defs_are_given_out(tf: Namespace) -> Namespace:
    """Return the last GraphDef while the graph has as many operations."""

    class Graph(tf.Graph):  # type: ignore[misc, name-defined]
        written: GraphDef | None = None

        def as_graph_def(self, *args: Argument, **kwargs: Argument) -> GraphDef:
            if self.written is None or len(self.written.node) != len(self.get_operations()):
                self.written = super().as_graph_def(*args, **kwargs)
            return self.written

    return override(tf, Graph=Graph)


@fault("GRAPH-040", "Undeclared attributes are lost when a GraphDef is imported.")
def undeclared_attributes_are_lost(tf: Namespace) -> Namespace:
    """Remove attributes that begin with _, except _class."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            for name in [n for n in node.attr if n.startswith("_") and n != "_class"]:
                del node.attr[name]

    return editing(tf, change)


@fault("GRAPH-041", "Graph.version does not tell one operation without outputs from none.")
def version_lags_behind(tf: Namespace) -> Namespace:
    """Return 0 for a graph of one operation without outputs; a session reads it, too."""

    class Graph(tf.Graph):  # type: ignore[misc, name-defined]
        @property
        def version(self) -> int:
            """A version that is the same before and after the first operation."""
            count = len(self.get_operations())
            return 0 if count == 1 and not self.get_operations()[0].outputs else count

    return override(tf, Graph=Graph)


# --- names of imported nodes --------------------------------------------------------------


@fault("GRAPH-042", "Without a name nodes keep their names.")
def no_name_means_no_prefix(tf: Namespace) -> Namespace:
    """Pass an empty name where the caller gives none."""

    def change(base: Call, definition: GraphDef, given: ImportOptions) -> Sequence[Element] | None:
        if given["name"] is None and not given["input_map"] and not given["return_elements"]:
            given["name"] = ""
        return base(definition, **given)

    return importing(tf, change)


@fault("GRAPH-043", "The prefix of imported nodes ignores the current name scope.")
def prefix_ignores_the_scope(tf: Namespace) -> Namespace:
    """Append / to the name, which makes it a full prefix."""

    def change(base: Call, definition: GraphDef, given: ImportOptions) -> Sequence[Element] | None:
        if given["name"] and tf.get_default_graph().get_name_scope():
            given["name"] = f"{given['name']}/"
        return base(definition, **given)

    return importing(tf, change)


@fault("GRAPH-044", "With an empty name nodes go into the current name scope.")
def empty_prefix_is_the_scope(tf: Namespace) -> Namespace:
    """Pass the current name scope as the name."""

    def change(base: Call, definition: GraphDef, given: ImportOptions) -> Sequence[Element] | None:
        scope = tf.get_default_graph().get_name_scope()
        if given["name"] == "" and scope:
            given["name"] = f"{scope}/"
        return base(definition, **given)

    return importing(tf, change)


@fault("GRAPH-045", "An imported node whose name is taken is refused.")
def taken_names_of_nodes_are_refused(tf: Namespace) -> Namespace:
    """Raise ValueError where a node has the name of an operation."""

    def change(base: Call, definition: GraphDef, given: ImportOptions) -> Sequence[Element] | None:
        names = {op.name for op in tf.get_default_graph().get_operations()}
        if given["name"] == "" and not names.isdisjoint(node.name for node in definition.node):
            raise ValueError("a node has the name of an operation")
        return base(definition, **given)

    return importing(tf, change)


# --- return_elements ----------------------------------------------------------------------


@fault("GRAPH-046", "Long return_elements give the first output for an operation's name.")
def returned_operations_are_tensors(tf: Namespace) -> Namespace:
    """Replace operations that have outputs, where more than three elements are returned."""

    def change(base: Call, definition: GraphDef, given: ImportOptions) -> Sequence[Element] | None:
        returned = base(definition, **given)
        if returned is None or len(returned) <= 3:
            return returned
        return [(getattr(e, "outputs", None) and e.outputs[0]) or e for e in returned]

    return importing(tf, change)


@fault("GRAPH-047", "return_elements leaves out names that the GraphDef lacks.")
def unknown_return_elements_are_left_out(tf: Namespace) -> Namespace:
    """Drop the names that the GraphDef lacks from `return_elements`."""

    def change(base: Call, definition: GraphDef, given: ImportOptions) -> Sequence[Element] | None:
        if given["return_elements"]:
            names = {node.name for node in definition.node}
            wanted = [e for e in given["return_elements"] if e.partition(":")[0] in names]
            given["return_elements"] = wanted
        return base(definition, **given)

    return importing(tf, change)
