"""How the nodes of a GraphDef become operations of the default graph.

Either all nodes are added or none. Names are made unique, attributes that are missing take their
defaults. Sources: `tf.import_graph_def` as TensorFlow 2.21 was seen to behave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sessrun.reference.base.node_names import Input, read_input
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.importing.import_nodes import NodeImporter
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph import default_graph, name_scopes
from sessrun.reference.graph.graph import MIN_PRODUCER, PRODUCER, Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.graph.version import VERSION
from sessrun.spec.proto import GraphDef

__all__ = ["add_nodes"]


def add_nodes(
    graph_def: GraphDef,
    input_map: Mapping[str, object],
    return_elements: Iterable[str],
    scope_name: str,
    infer_call: Callable[[Operation], None],
) -> list[Operation | Tensor]:
    """Add the nodes of a GraphDef to the default graph.

    Args:
      graph_def: the GraphDef.
      input_map: names of inputs in it to what replaces them.
      return_elements: names of operations and tensors in it.
      scope_name: a name scope for all; "" for none.
      infer_call: gives the outputs of an operation that calls a function their shapes.

    Returns:
      The elements that `return_elements` names.

    Raises:
      TypeError, ValueError, NotFoundError, RuntimeError: as `import_graph_def`.

    """
    replaced = {_key(key): value for key, value in input_map.items()}
    graph = default_graph.get_default_graph()
    graph.check_not_finalized()
    _check_versions(graph_def)
    graph.add_functions(graph_def.library)
    with name_scopes.name_scope(scope_name) as scope:
        mapped = _converted(graph, replaced, scope)
        version = graph.version
        importer = NodeImporter(graph, scope, mapped, graph_def.versions.producer, infer_call)
        try:
            operations = importer.run(graph_def.node)
            elements = [_element(operations, mapped, text) for text in return_elements]
            _check_replaced(mapped, importer.used, operations)
        except BaseException:
            graph.forget_after(version)
            raise
    graph.note_versions(graph_def.versions)
    return elements


def _key(key: str | bytes) -> Input:
    text = key.decode() if isinstance(key, bytes) else key
    parsed = read_input(text)
    if parsed is None:
        raise bad_value(
            f"Cannot convert '{text}' to a tensor name: what follows the `:` should be an int."
        )
    return parsed


def _converted(graph: Graph, replaced: Mapping[Input, Any], scope: str) -> dict[Input, Tensor]:
    """The replacements as tensors of the graph."""
    if all(isinstance(value, Tensor) for value in replaced.values()):
        return {key: _here(graph, key, value) for key, value in replaced.items()}
    if not scope:
        raise bad_value(
            "tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor "
            "values. Try calling tf.convert_to_tensor() on `input_map` values before calling "
            "tf.import_graph_def()."
        )
    with graph.name_scope("_inputs"):
        return {key: _here(graph, key, _replacement(value)) for key, value in replaced.items()}


def _here(graph: Graph, key: Input, tensor: Tensor) -> Tensor:
    """The graph's own tensor of that name, as TensorFlow takes it."""
    if tensor.graph is graph:
        return tensor
    op = graph.operations_by_name.get(tensor.op.name)
    if op is None or tensor.value_index >= len(op.outputs):
        raise bad_value(
            f"node '{tensor.op.name}' in input_map does not exist in graph (input_map entry: "
            f"{key}->{tensor.name})"
        )
    return op.outputs[tensor.value_index]


def _replacement(value: TensorLike) -> Tensor:
    if isinstance(value, Operation):
        raise bad_type(f"can't convert Operation '{value.name}' to Tensor")
    return convert_to_tensor(value)


def _check_versions(graph_def: GraphDef) -> None:
    versions = graph_def.versions
    if versions.min_consumer > PRODUCER:
        raise bad_value(
            f"GraphDef min consumer version {versions.min_consumer} above current version "
            f"{PRODUCER} for TensorFlow {VERSION}.  Please upgrade TensorFlow."
        )
    if versions.producer < MIN_PRODUCER:
        raise bad_value(
            f"GraphDef producer version {versions.producer} below min producer {MIN_PRODUCER} "
            f"supported by TensorFlow {VERSION}.  Please regenerate your graph."
        )
    if PRODUCER in versions.bad_consumers:
        raise bad_value(f"GraphDef disallows consumer version {PRODUCER}.")


def _check_replaced(
    mapped: Mapping[Input, Tensor], used: set[Input], operations: Mapping[str, Operation]
) -> None:
    """Refuse replacements of what the GraphDef neither has nor takes."""
    missing = [str(key) for key in mapped if key not in used and not _is_there(key, operations)]
    if missing:
        raise bad_value(
            f"Attempted to map inputs that were not found in graph_def: [{', '.join(missing)}]"
        )


def _is_there(key: Input, operations: Mapping[str, Operation]) -> bool:
    return key.node in operations and key.index < len(operations[key.node].outputs)


def _element(
    operations: Mapping[str, Operation], mapped: Mapping[Input, Tensor], text: str
) -> Tensor | Operation:
    name, colon, digits = text.partition(":")
    if colon and not (digits.isascii() and digits.isdigit()):
        raise bad_value(
            f"Cannot convert '{text}' to a tensor name: what follows the `:` should be an int."
        )
    if name not in operations:
        what = "tensor" if colon else "node"
        raise bad_value(f"Requested return {what} '{text}' not found in graph def")
    op = operations[name]
    if not colon:
        return op
    replaced = mapped.get(Input(name, int(digits)))
    if replaced is not None:
        return replaced
    outputs = op.outputs
    if int(digits) >= len(outputs):
        raise bad_value(
            f"Invalid return output {digits} of node '{name}', which has {len(outputs)} output(s)"
        )
    return outputs[int(digits)]
