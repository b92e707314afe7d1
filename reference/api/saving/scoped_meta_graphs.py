"""A name scope of a graph with its collections as data, and back under another. Source: TF 2.21.

TensorFlow has these under `tensorflow.python.framework.meta_graph`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from sessrun.reference.api.saving.collection_defs import add_collection
from sessrun.reference.api.saving.meta_graph import (
    UNBOUND_INPUTS,
    export_meta_graph,
    ops_used_by_graph_def,
)
from sessrun.reference.api.saving.meta_graph_import import add_graph, read_meta_graph
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.graph.collections_of_graph import CollectionKey
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.name_prefixes import without
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import GraphDef, MetaGraphDef, SaverDef

__all__ = [
    "add_collection_def",
    "create_meta_graph_def",
    "export_scoped_meta_graph",
    "import_scoped_meta_graph",
    "import_scoped_meta_graph_with_return_elements",
    "ops_used_by_graph_def",
    "read_meta_graph_file",
]

read_meta_graph_file = read_meta_graph


def create_meta_graph_def(
    meta_info_def: object = None,
    graph_def: GraphDef | None = None,
    saver_def: SaverDef | None = None,
    collection_list: Sequence[str] | None = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    **options: Any,
) -> MetaGraphDef:
    """A graph with its collections; arguments and errors as `export_meta_graph`."""
    return export_meta_graph(
        None,
        meta_info_def,
        graph_def,
        saver_def,
        collection_list,
        graph=graph,
        export_scope=export_scope,
        **options,
    )


def add_collection_def(
    meta_graph_def: MetaGraphDef,
    key: CollectionKey,
    graph: Graph | None = None,
    export_scope: str | None = None,
) -> None:
    """Write a collection of a graph into a message.

    Args:
      meta_graph_def: the message.
      key: the collection's name; one that is no text is left out.
      graph: the graph, by default the default graph.
      export_scope: a name scope that is taken out of names.

    """
    items = (graph or get_default_graph()).get_collection(key)
    add_collection(meta_graph_def, key, items, export_scope)


def export_scoped_meta_graph(
    filename: str | bytes | PathLike[str] | None = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    **options: Any,
) -> tuple[MetaGraphDef, dict[str, Variable]]:
    """Export a name scope of a graph, with the scope stripped from names.

    Args:
      filename: a file that it is written to, or None.
      graph: the graph, by default the default graph.
      export_scope: the name scope; all of the graph if None.
      **options: as `export_meta_graph` has them.

    Returns:
      The message, and the global variables of that scope by their names without it.

    Raises:
      TypeError, OpError: as `export_meta_graph`.

    """
    graph = graph or get_default_graph()
    meta_graph = export_meta_graph(filename, graph=graph, export_scope=export_scope, **options)
    scope = export_scope and export_scope.rstrip("/") + "/"
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope)
    return meta_graph, {without(export_scope, variable.name): variable for variable in variables}


def import_scoped_meta_graph(
    meta_graph_or_file: MetaGraphDef | str | bytes,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: Mapping[str, object] | None = None,
    unbound_inputs_col_name: str = UNBOUND_INPUTS,
    restore_collections_predicate: Callable[[str], bool] | None = None,
) -> dict[str, Variable]:
    """Add a graph with its collections to one.

    Args:
      meta_graph_or_file: a MetaGraphDef, or the path of a file that has one.
      clear_devices: whether the requested devices are dropped.
      graph: where to, by default the default graph.
      import_scope: a name scope for all.
      input_map: tensors for the inputs from outside of the exported scope.
      unbound_inputs_col_name: the collection of the names of those inputs.
      restore_collections_predicate: whether the collection of a name is restored; all by default.

    Returns:
      The global variables of that scope by their names without it.

    Raises:
      OSError, TypeError, ValueError: as `import_meta_graph`.

    """
    return import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file,
        clear_devices,
        graph,
        import_scope,
        input_map,
        unbound_inputs_col_name,
        restore_collections_predicate,
    )[0]


def import_scoped_meta_graph_with_return_elements(
    meta_graph_or_file: MetaGraphDef | str | bytes,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: Mapping[str, object] | None = None,
    unbound_inputs_col_name: str = UNBOUND_INPUTS,
    restore_collections_predicate: Callable[[str], bool] | None = None,
    return_elements: Sequence[str] | None = None,
) -> tuple[dict[str, Variable], list[Tensor | Operation] | None]:
    """As `import_scoped_meta_graph`: the variables, and what `return_elements` names."""
    with (graph or get_default_graph()).as_default():
        return add_graph(
            read_meta_graph(meta_graph_or_file),
            clear_devices=clear_devices,
            import_scope=import_scope,
            input_map=input_map,
            return_elements=return_elements,
            unbound_inputs=unbound_inputs_col_name,
            is_restored=restore_collections_predicate,
        )
