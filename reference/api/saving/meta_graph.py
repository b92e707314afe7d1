"""Graphs with their collections as data: `tf.train.export_meta_graph`. Source: TF 2.21."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Final

from sessrun.reference.api.saving.collection_defs import add_collection
from sessrun.reference.api.saving.graph_pruning import write_graph
from sessrun.reference.base.attr_values import op_def
from sessrun.reference.base.flow_ops import ENTERS
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.name_prefixes import without
from sessrun.reference.graph.version import GIT_VERSION, VERSION
from sessrun.reference.public import public
from sessrun.reference.state.files.file_names import as_given, file_errors, local_path
from sessrun.spec.proto import GraphDef, MetaGraphDef, NodeDef, OpList, SaverDef
from sessrun.spec.proto.foreign import adopt
from sessrun.spec.tables.ops import OPERATIONS

__all__ = [
    "UNBOUND_INPUTS",
    "export_meta_graph",
    "ops_used_by_graph_def",
    "saver_def_in",
    "stripped_op_list_for_graph",
]

#: Before the name of an input that is not in the scope that was exported.
_UNBOUND: Final = "$unbound_inputs_"
#: The collection of their names.
UNBOUND_INPUTS: Final = "unbound_inputs"
_SAVING: Final = frozenset({"Restore", "RestoreSlice", "RestoreV2", "Save", "SaveSlices", "SaveV2"})


@public("train.export_meta_graph")
def export_meta_graph(
    filename: str | bytes | PathLike[str] | None = None,
    meta_info_def: object = None,
    graph_def: GraphDef | None = None,
    saver_def: SaverDef | None = None,
    collection_list: Sequence[str] | None = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> MetaGraphDef:
    """A graph with its collections.

    Args:
      filename: a file that it is written to, or None.
      meta_info_def: further information on the graph, a MetaInfoDef.
      graph_def: a GraphDef that stands for the graph's operations.
      saver_def: the SaverDef of the graph's saver.
      collection_list: the names of the collections; all by default.
      as_text: whether the file is text.
      graph: the graph, by default the default graph.
      export_scope: a name scope: only its nodes are exported, without its name.
      clear_devices: whether the requested devices are left out.
      clear_extraneous_savers: whether the operations of other savers are left out.
      strip_default_attrs: whether attributes that have their defaults are left out.
      save_debug_info: not written here.
      **kwargs: `unbound_inputs_col_name`, where names of inputs from outside the scope are put.

    Raises:
      TypeError: an argument is of a wrong type, or there is another keyword.
      OpError: the file cannot be written.

    """
    del save_debug_info
    unbound_key = kwargs.pop("unbound_inputs_col_name", UNBOUND_INPUTS)
    if kwargs:
        raise TypeError(f"export_meta_graph() got unexpected keyword arguments {sorted(kwargs)}")
    graph = graph or get_default_graph()
    saver = None if saver_def is None else adopt(saver_def, SaverDef)
    meta_graph = _described(meta_info_def, saver)
    nodes = graph.as_graph_def(add_shapes=True) if graph_def is None else _adopted(graph_def)
    left_out = _of_other_savers(nodes, saver) if clear_extraneous_savers else frozenset()
    unbound = _copy_nodes(nodes, meta_graph.graph_def, export_scope, left_out, clear=clear_devices)
    if unbound and unbound_key:
        meta_graph.collection_def[unbound_key].bytes_list.value.extend(map(str.encode, unbound))
    _name_ops(meta_graph)
    if strip_default_attrs:
        _strip_defaults(meta_graph)
    keys = graph.get_all_collection_keys() if collection_list is None else collection_list
    collections = {key: graph.get_collection(key) for key in keys}
    if clear_extraneous_savers and GraphKeys.SAVERS in collections:
        collections[GraphKeys.SAVERS] = [] if saver is None else [saver]
    _add_collections(meta_graph, collections, export_scope, left_out)
    if filename:
        _write(meta_graph, as_given(filename), as_text=as_text)
    return meta_graph


def _add_collections(
    meta_graph: MetaGraphDef,
    collections: Mapping[str, Sequence[Any]],
    scope: str | None,
    left_out: frozenset[str],
) -> None:
    """Add the collections, without items that are not exported."""
    for key, items in collections.items():
        kept = [item for item in items if _is_kept(item, scope, left_out)]
        add_collection(meta_graph, key, kept, scope)


def _described(meta_info_def: object, saver: SaverDef | None) -> MetaGraphDef:
    """A MetaGraphDef without nodes: meta info, version, saver."""
    meta_graph = MetaGraphDef()
    if meta_info_def is not None:
        meta_graph.meta_info_def.CopyFrom(adopt(meta_info_def, MetaGraphDef.MetaInfoDef))
    meta_graph.meta_info_def.tensorflow_version = VERSION
    meta_graph.meta_info_def.tensorflow_git_version = GIT_VERSION
    if saver is not None:
        meta_graph.saver_def.CopyFrom(saver)
    return meta_graph


def _name_ops(meta_graph: MetaGraphDef) -> None:
    """Add the declarations of the operations, unless the MetaGraphDef has some."""
    if not meta_graph.meta_info_def.stripped_op_list.op:
        declared = stripped_op_list_for_graph(meta_graph.graph_def)
        meta_graph.meta_info_def.stripped_op_list.CopyFrom(declared)


def _write(meta_graph: MetaGraphDef, path: str, *, as_text: bool) -> None:
    """Write it to a file."""
    with file_errors(path):
        write_graph(meta_graph, os.path.dirname(local_path(path)), os.path.basename(path), as_text)


def _adopted(graph_def: GraphDef) -> GraphDef:
    try:
        return adopt(graph_def, GraphDef)
    except TypeError as error:
        raise TypeError(
            f"graph_def must be of type GraphDef. Received type: {type(graph_def)}."
        ) from error


def _name(item: object) -> str | None:
    """The name of a collection's item or of a node; None for an item without a name."""
    return item if isinstance(item, str) else getattr(item, "name", None)


def _is_kept(item: object, scope: str | None, left_out: frozenset[str]) -> bool:
    name = _name(item)
    if not isinstance(name, str):
        return True
    if name in left_out:
        return False
    return not scope or name.startswith((_UNBOUND, scope))


def _copy_nodes(
    source: GraphDef, target: GraphDef, scope: str | None, left_out: frozenset[str], *, clear: bool
) -> list[str]:
    """Copy the exported nodes; returns the names of their inputs from outside of the scope."""
    target.versions.CopyFrom(source.versions)
    if source.HasField("library"):
        target.library.CopyFrom(source.library)
    unbound: list[str] = []
    for node in source.node:
        if not _is_kept(node, scope, left_out):
            continue
        copy = target.node.add()
        copy.CopyFrom(node)
        if clear:
            copy.device = ""
        if scope:
            _leave_scope(copy, scope, unbound)
    return unbound


def _leave_scope(node: NodeDef, scope: str, unbound: list[str]) -> None:
    """Take the scope out of the names in a node."""
    node.name = without(scope, node.name)
    for index, text in enumerate(node.input):
        if text.removeprefix("^").startswith(scope):
            node.input[index] = without(scope, text)
        else:
            mark = "^" if text.startswith("^") else ""
            node.input[index] = mark + _UNBOUND + text.removeprefix("^")
            unbound.append(node.input[index])
    if "_class" in node.attr:
        groups = node.attr["_class"].list
        kept = [
            without(scope, group).encode()
            for group in groups.s
            if group.decode().partition("@")[2].startswith(scope)
        ]
        groups.s[:] = kept
    if node.op in ENTERS:
        frame = node.attr["frame_name"]
        frame.s = without(scope, frame.s).encode()


def _of_other_savers(nodes: GraphDef, saver: SaverDef | None) -> frozenset[str]:
    """The nodes in the scopes of savers, but for those of this one."""
    scopes = {_scope(node.name) for node in nodes.node if node.op in _SAVING}
    if saver is not None:
        scopes -= {_scope(saver.save_tensor_name), _scope(saver.restore_op_name)}
    prefixes = tuple(scope + "/" for scope in scopes)
    return frozenset(node.name for node in nodes.node if node.name.startswith(prefixes))


def _scope(name: str) -> str:
    return name.rpartition("/")[0]


def ops_used_by_graph_def(graph_def: GraphDef) -> list[str]:
    """The op types in a graph and in the functions that it calls, by name."""
    definition = adopt(graph_def, GraphDef)
    bodies = {
        function.signature.name: function.node_def for function in definition.library.function
    }
    used: set[str] = set()
    waiting = list(definition.node)
    while waiting:
        op_type = waiting.pop().op
        if op_type not in used:
            used.add(op_type)
            waiting += bodies.get(op_type, ())
    return sorted(used - set(bodies))


def stripped_op_list_for_graph(graph_def: GraphDef) -> OpList:
    """The declarations of the operations that a graph and its functions use, by name."""
    used = (name for name in ops_used_by_graph_def(graph_def) if name in OPERATIONS)
    return OpList(op=[op_def(OPERATIONS[name]) for name in used])


def _strip_defaults(meta_graph: MetaGraphDef) -> None:
    """Leave out the attributes that have their defaults."""
    defaults = {
        op.name: {
            attr.name: attr.default_value for attr in op.attr if attr.HasField("default_value")
        }
        for op in meta_graph.meta_info_def.stripped_op_list.op
    }
    bodies = (function.node_def for function in meta_graph.graph_def.library.function)
    for node in [*meta_graph.graph_def.node, *(node for body in bodies for node in body)]:
        for name, default in defaults.get(node.op, {}).items():
            if name in node.attr and node.attr[name] == default:
                del node.attr[name]
    meta_graph.meta_info_def.stripped_default_attrs = True


def saver_def_in(saver_def: SaverDef, scope: str) -> SaverDef | None:
    """A SaverDef without a scope in its names; None if it is outside of the scope."""
    fields = ("filename_tensor_name", "save_tensor_name", "restore_op_name")
    if not all(getattr(saver_def, field).startswith(scope) for field in fields):
        return None
    scoped = SaverDef()
    scoped.CopyFrom(saver_def)
    for field in fields:
        setattr(scoped, field, without(scope, getattr(saver_def, field)))
    return scoped
