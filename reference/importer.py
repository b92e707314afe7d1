"""`tf.import_graph_def`: the nodes of a GraphDef become operations of the default graph.

Either all nodes are added or none. Names are made unique, attributes that are missing take their
defaults. Sources: `tf.import_graph_def` as TensorFlow 2.21 was seen to behave.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessrun.reference import name_scopes, stacks
from sessrun.reference.conversion import convert_to_tensor
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph import MIN_PRODUCER, PRODUCER, Graph
from sessrun.reference.import_nodes import NodeImporter
from sessrun.reference.node_names import Input, read_input
from sessrun.reference.operation import Operation
from sessrun.reference.tensor import Tensor
from sessrun.spec.proto import GraphDef
from sessrun.spec.proto.foreign import adopt

__all__ = ["import_graph_def"]


def import_graph_def(
    graph_def: Any,
    input_map: Any = None,
    return_elements: Any = None,
    name: str | None = None,
    op_dict: Any = None,  # noqa: ARG001 - TensorFlow's signature; deprecated there too
    producer_op_list: Any = None,  # noqa: ARG001 - as above
) -> list[Any] | None:
    """Add the nodes of a GraphDef to the default graph.

    Args:
      graph_def: a GraphDef, ours or TensorFlow's.
      input_map: names of inputs in the GraphDef (`a`, `a:0`, or `^a` for a control input) to
        tensors that replace them.
      return_elements: names of operations (`a`) and tensors (`a:0`) in the GraphDef.
      name: a name scope for all, `import` by default; "" for none.
      op_dict: not used.
      producer_op_list: not used.

    Returns:
      The Operations and Tensors that `return_elements` names, or None if it is None.

    Raises:
      TypeError: an argument is of a wrong type.
      ValueError: the GraphDef is ill-formed, or contradicts the declarations of operations.
      NotFoundError: it has an op type that is not declared.
      RuntimeError: the graph is finalized.

    """
    graph_def = _adopted(graph_def)
    wanted = _wanted(return_elements)
    replaced = _replacements(input_map)
    graph = stacks.get_default_graph()
    graph.check_not_finalized()
    _check_versions(graph_def)
    graph.add_functions(graph_def.library.function)
    scope_name = "import" if name is None else name
    with name_scopes.name_scope(scope_name) as scope:
        mapped = _converted(graph, replaced)
        version = graph.version
        importer = NodeImporter(graph, scope, mapped, graph_def.versions.producer)
        try:
            made = importer.run(graph_def.node)
            _check_used(mapped, importer.used)
            found = [_element(made, mapped, text) for text in wanted]
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
    return {
        read_input(key.decode() if isinstance(key, bytes) else key, "input_map"): value
        for key, value in input_map.items()
    }


def _converted(graph: Graph, replaced: Mapping[Input, Any]) -> dict[Input, Tensor]:
    if not any(not isinstance(value, Tensor) for value in replaced.values()):
        return dict(replaced)
    with graph.name_scope("_inputs" if graph.scopes.name else "import/_inputs"):
        return {key: _replacement(value) for key, value in replaced.items()}


def _replacement(value: Any) -> Tensor:
    if isinstance(value, Operation):
        raise bad_type(f"can't convert Operation '{value.name}' to Tensor")
    return convert_to_tensor(value)


def _check_versions(graph_def: GraphDef) -> None:
    versions = graph_def.versions
    if versions.min_consumer > PRODUCER:
        raise bad_value(
            f"GraphDef min consumer version {versions.min_consumer} above current version "
            f"{PRODUCER}."
        )
    if versions.producer < MIN_PRODUCER:
        raise bad_value(
            f"GraphDef producer version {versions.producer} below min producer {MIN_PRODUCER}."
        )
    if PRODUCER in versions.bad_consumers:
        raise bad_value(f"GraphDef disallows consumer version {PRODUCER}.")


def _check_used(mapped: Mapping[Input, Tensor], used: set[Input]) -> None:
    # Control inputs may be mapped in vain: TensorFlow does not count them.
    unused = [str(key) for key in mapped if key not in used and not key.is_control]
    if unused:
        raise bad_value(
            f"Attempted to map inputs that were not found in graph_def: [{', '.join(unused)}]"
        )


def _element(made: Mapping[str, Operation], mapped: Mapping[Input, Tensor], text: str) -> Any:
    name, colon, digits = text.partition(":")
    if colon and not (digits.isascii() and digits.isdigit()):
        raise bad_value(
            f"Cannot convert '{text}' to a tensor name: what follows the `:` should be an int."
        )
    if name not in made:
        raise bad_value(f"Requested return node '{name}' not found in graph def")
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
