"""`tf.train.import_meta_graph`: graphs with their collections and savers. Source: TF 2.21."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from google.protobuf import text_format
from google.protobuf.message import DecodeError, Message

from sessrun.reference.api.saving.collection_defs import restore_collections
from sessrun.reference.api.saving.meta_graph import UNBOUND_INPUTS
from sessrun.reference.api.saving.saver import Saver
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.importing.graph_defs import import_graph_def
from sessrun.reference.build.importing.import_defaults import add_defaults
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.name_prefixes import without
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public
from sessrun.reference.state.files import files
from sessrun.reference.state.files.file_names import as_given, file_errors, local_path
from sessrun.spec.proto import MetaGraphDef
from sessrun.spec.proto.foreign import adopt

__all__ = ["add_graph", "import_meta_graph", "imported", "read_meta_graph"]

_LOGGER: Final = logging.getLogger("sessrun")


@public("train.import_meta_graph")
def import_meta_graph(
    meta_graph_or_file: MetaGraphDef | str | bytes,
    clear_devices: bool = False,
    import_scope: str | None = None,
    **kwargs: object,
) -> Saver | None:
    """Add a graph with its collections to the default graph.

    Args:
      meta_graph_or_file: a MetaGraphDef, or the path of a file that has one.
      clear_devices: whether the requested devices are dropped.
      import_scope: a name scope for all.
      **kwargs: `input_map` and `return_elements`, as `import_graph_def` has them.

    Returns:
      Its saver; one for its variables if it has none; None if it has no variables either.

    Raises:
      OSError: the file is not there or holds no MetaGraphDef.
      ValueError, TypeError: as `import_graph_def`.

    """
    return imported(meta_graph_or_file, clear_devices, import_scope, **kwargs)[0]


def imported(
    meta_graph_or_file: MetaGraphDef | str | bytes,
    clear_devices: bool = False,
    import_scope: str | None = None,
    **kwargs: Any,
) -> tuple[Saver | None, list[Tensor | Operation] | None]:
    """As `import_meta_graph`: the saver, and what `return_elements` names."""
    definition = read_meta_graph(meta_graph_or_file)
    variables, elements = add_graph(
        definition, clear_devices=clear_devices, import_scope=import_scope, **kwargs
    )
    return _saver_of(definition, variables, import_scope), elements


def _saver_of(
    definition: MetaGraphDef, variables: Mapping[str, Any], import_scope: str | None
) -> Saver | None:
    if definition.HasField("saver_def"):
        scope = import_scope
        if not scope and variables:
            key, variable = next(iter(variables.items()))
            scope = variable.name.removesuffix(key)
        return Saver(saver_def=definition.saver_def, name=scope)
    graph = get_default_graph()
    names = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.SAVEABLE_OBJECTS)
    if any(graph.get_collection(name, import_scope) for name in names):
        return Saver()
    _LOGGER.info("Saver not created because there are no variables in the graph to restore")
    return None


def read_meta_graph(meta_graph_or_file: MetaGraphDef | str | bytes) -> MetaGraphDef:
    """A MetaGraphDef from a message, ours or TensorFlow's, or from a file, binary or text.

    Raises:
      TypeError: the argument is neither a message nor a path.
      OSError: the file does not exist, or does not contain a MetaGraphDef.

    """
    if isinstance(meta_graph_or_file, Message):
        # The message itself, not a copy: importing changes it, as in TensorFlow.
        return adopt(meta_graph_or_file, MetaGraphDef)
    path = as_given(meta_graph_or_file)
    if not files.exists(path):
        raise OSError(f"File does not exist. Received: {path}.")
    with file_errors(path), open(local_path(path), "rb") as file:
        content = file.read()
    try:
        return MetaGraphDef.FromString(content)
    except DecodeError:
        pass
    try:
        return text_format.Parse(content.decode(), MetaGraphDef())
    except text_format.ParseError as error:
        raise OSError(f"Cannot parse file {path}: {error}.") from error


def add_graph(
    definition: MetaGraphDef,
    *,
    clear_devices: bool = False,
    import_scope: str | None = None,
    input_map: Mapping[Any, Any] | None = None,
    return_elements: Iterable[object] | None = None,
    unbound_inputs: str = UNBOUND_INPUTS,
    is_restored: Callable[[str], bool] | None = None,
) -> tuple[dict[str, Variable], list[Tensor | Operation] | None]:
    """Add a graph with its collections to the default graph.

    Args:
      definition: the MetaGraphDef, which is changed.
      clear_devices: whether the requested devices are dropped.
      import_scope: a name scope for all.
      input_map: as `import_graph_def` has it.
      return_elements: as `import_graph_def` has it.
      unbound_inputs: the collection of the names of inputs from outside.
      is_restored: whether the collection of a name is restored; all are by default.

    Returns:
      The global variables of that scope by their names without it, and what `return_elements`
      names.

    Raises:
      ValueError, TypeError: as `import_graph_def`; or inputs from outside the graph are not given.

    """
    graph = get_default_graph()
    unbound = definition.collection_def.get(unbound_inputs)
    if unbound is not None and unbound.bytes_list.value:
        names = [value.decode() for value in unbound.bytes_list.value]
        if not input_map or sorted(names) != sorted(map(str, input_map)):
            raise ValueError(
                f"Graph contains unbound inputs: {names}. Must provide these inputs through "
                "input_map."
            )
    if clear_devices:
        for node in definition.graph_def.node:
            node.device = ""
    add_defaults(definition.graph_def)  # the caller sees them
    scope = graph.unique_name(import_scope or "", mark_as_used=False)
    producer = definition.meta_info_def
    elements = import_graph_def(
        definition.graph_def,
        name=import_scope or scope,
        input_map=input_map,
        return_elements=return_elements,
        producer_op_list=producer.stripped_op_list
        if producer.HasField("stripped_op_list")
        else None,
    )
    left_out = {unbound_inputs}
    if is_restored is not None:
        left_out |= {key for key in definition.collection_def if not is_restored(key)}
    restore_collections(definition, graph, scope, without_keys=left_out)
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope)
    return {without(scope, variable.name): variable for variable in variables}, elements
