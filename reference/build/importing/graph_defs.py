"""`tf.import_graph_def`: its arguments, and what they may be.

Either all nodes are added or none. Names are made unique, attributes that are missing take their
defaults. Sources: `tf.import_graph_def` as TensorFlow 2.21 was seen to behave.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessrun.reference.build.functions.call_shapes import infer_shapes_of_call
from sessrun.reference.build.importing.import_defaults import without_new_defaults
from sessrun.reference.build.importing.importer import add_nodes
from sessrun.reference.errors import bad_type
from sessrun.reference.public import public
from sessrun.spec.proto import GraphDef, OpList
from sessrun.spec.proto.foreign import adopt

__all__ = ["import_graph_def"]


@public("import_graph_def")
def import_graph_def(
    graph_def: GraphDef,
    input_map: Any = None,
    return_elements: object = None,
    name: str | None = None,
    op_dict: object = None,  # noqa: ARG001 - TensorFlow's signature; deprecated there too
    producer_op_list: object = None,
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
      NotFoundError: an op type of the GraphDef is not declared.
      RuntimeError: the graph is finalized.

    """
    graph_def = _adopted(graph_def)
    if producer_op_list is not None:
        graph_def = without_new_defaults(graph_def, adopt(producer_op_list, OpList))
    wanted = _wanted(return_elements)
    _check_input_map(input_map)
    scope_name = "import" if name is None else name
    elements = add_nodes(graph_def, input_map or {}, wanted, scope_name, infer_shapes_of_call)
    return None if return_elements is None else elements


def _adopted(graph_def: GraphDef) -> GraphDef:
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


def _check_input_map(input_map: object) -> None:
    if input_map is None:
        return
    if not isinstance(input_map, Mapping):
        raise bad_type(
            f"Argument `input_map` must be a dictionary. Obtained {type(input_map).__name__}"
        )
    if not all(isinstance(key, str | bytes) for key in input_map):
        raise bad_type(
            f"All keys for argument `input_map` must be strings. Obtained keys: {list(input_map)}"
        )
