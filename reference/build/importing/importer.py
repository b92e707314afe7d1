"""`tf.import_graph_def`: the nodes of a GraphDef become operations of the default graph.

Either all nodes are added or none. Names are made unique, attributes that are missing take their
defaults. Sources: `tf.import_graph_def` as TensorFlow 2.21 was seen to behave.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessrun.reference.base.node_names import Input, read_input
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.importing.import_defaults import without_new_defaults
from sessrun.reference.build.importing.import_nodes import NodeImporter
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph import name_scopes, stacks
from sessrun.reference.graph.graph import MIN_PRODUCER, PRODUCER, Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.graph.version import VERSION
from sessrun.spec.proto import GraphDef, OpList
from sessrun.spec.proto.foreign import adopt

__all__ = ["import_graph_def"]


def import_graph_def(
    graph_def: Any,
    input_map: Any = None,
    return_elements: Any = None,
    name: str | None = None,
    op_dict: Any = None,  # noqa: ARG001 - TensorFlow's signature; deprecated there too
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Add the nodes of a GraphDef to the default graph.

    Args:
      graph_def: a GraphDef, ours or TensorFlow's.
      input_map: names of inputs in the GraphDef (`a`, `a:0`, or `^a` for a control input) to
        tensors that replace them.
      return_elements: names of operations (`a`) and tensors (`a:0`) in the GraphDef.
      name: a name scope for all, `import` by default; "" for none.
      op_dict: not used.
      producer_op_list: an OpList, ours or TensorFlow's: the declarations of the program that wrote
        the GraphDef. Attributes unknown here are left out where they have its default.

    Returns:
      The Operations and Tensors that `return_elements` names, or None if it is None.

    Raises:
      TypeError: an argument is of a wrong type.
      ValueError: the GraphDef is ill-formed, or contradicts the declarations of operations.
      NotFoundError: it has an op type that is not declared.
      RuntimeError: the graph is finalized.

    """
    graph_def = _adopted(graph_def)
    if producer_op_list is not None:
        graph_def = without_new_defaults(graph_def, adopt(producer_op_list, OpList))
    wanted = _wanted(return_elements)
    replaced = _replacements(input_map)
    graph = stacks.get_default_graph()
    graph.check_not_finalized()
    _check_versions(graph_def)
    graph.add_functions(graph_def.library)
    scope_name = "import" if name is None else name
    with name_scopes.name_scope(scope_name) as scope:
        mapped = _converted(graph, replaced, scope)
        version = graph.version
        importer = NodeImporter(graph, scope, mapped, graph_def.versions.producer)
        try:
            made = importer.run(graph_def.node)
            found = [_element(made, mapped, text) for text in wanted]
            _check_replaced(mapped, importer.used, made)
        except BaseException:
            graph.forget_after(version)
            raise
    graph.note_versions(graph_def.versions)
    return None if return_elements is None else found


def _adopted(graph_def: Any) -> GraphDef:
    try:
        return adopt(graph_def, GraphDef)
    except TypeError as error:
        raise bad_type("Argument `graph_def` must be a GraphDef proto.") from error


def _wanted(return_elements: Any) -> tuple[str, ...]:
    if return_elements is None:
        return ()
    names = tuple(return_elements)
    if not all(isinstance(name, str | bytes) for name in names):
        raise bad_type(
            f"Argument `return_elements` must be a list of strings. Obtained {return_elements}."
        )
    return tuple(name.decode() if isinstance(name, bytes) else name for name in names)


def _replacements(input_map: Any) -> dict[Input, Any]:
    if input_map is None:
        return {}
    if not isinstance(input_map, Mapping):
        raise bad_type(
            f"Argument `input_map` must be a dictionary. Obtained {type(input_map).__name__}"
        )
    if not all(isinstance(key, str | bytes) for key in input_map):
        raise bad_type(
            f"All keys for argument `input_map` must be strings. Obtained keys: {list(input_map)}"
        )
    return {_key(key): value for key, value in input_map.items()}


def _key(key: str | bytes) -> Input:
    text = key.decode() if isinstance(key, bytes) else key
    found = read_input(text)
    if found is None:
        raise bad_value(
            f"Cannot convert '{text}' to a tensor name: what follows the `:` should be an int."
        )
    return found


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


def _replacement(value: Any) -> Tensor:
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
    mapped: Mapping[Input, Tensor], used: set[Input], made: Mapping[str, Operation]
) -> None:
    """Refuse replacements of what the GraphDef neither has nor takes."""
    missing = [str(key) for key in mapped if key not in used and not _is_there(key, made)]
    if missing:
        raise bad_value(
            f"Attempted to map inputs that were not found in graph_def: [{', '.join(missing)}]"
        )


def _is_there(key: Input, made: Mapping[str, Operation]) -> bool:
    return key.node in made and key.index < len(made[key.node].outputs)


def _element(made: Mapping[str, Operation], mapped: Mapping[Input, Tensor], text: str) -> Any:
    name, colon, digits = text.partition(":")
    if colon and not (digits.isascii() and digits.isdigit()):
        raise bad_value(
            f"Cannot convert '{text}' to a tensor name: what follows the `:` should be an int."
        )
    if name not in made:
        what = "tensor" if colon else "node"
        raise bad_value(f"Requested return {what} '{text}' not found in graph def")
    op = made[name]
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
