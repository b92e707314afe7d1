"""Nodes that no public function builds: of earlier releases, and of TensorFlow's own tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from sessrun.conformance.subjects.programs.program import Plain
from sessrun.spec.cases.arguments import DType
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Operation, Value

if TYPE_CHECKING:  # a worker in an environment of its own lacks these messages
    from sessrun.spec.proto.graph_pb2 import AttrValue, GraphDef

__all__ = ["add_node", "imported_node", "run_node"]

#: An attribute of a node: a number, a text in bytes, a dtype of the namespace, or a message.
Attribute: TypeAlias = "bool | int | float | bytes | DType | AttrValue"


def add_node(
    graph_def: GraphDef,
    tf: Namespace,
    op_type: str,
    name: str,
    inputs: Sequence[str],
    attrs: Mapping[str, Attribute],
) -> None:
    """Add a node to a GraphDef; an attribute is an AttrValue, a dtype, a text or a number."""
    node = graph_def.node.add(name=name, op=op_type, input=inputs)
    for key, value in attrs.items():
        node.attr[key].CopyFrom(_attr_value(tf, value))


def _attr_value(tf: Namespace, value: Attribute) -> Any:
    if isinstance(value, bool):
        return tf.AttrValue(b=value)
    if isinstance(value, int):
        return tf.AttrValue(i=value)
    if isinstance(value, float):
        return tf.AttrValue(f=value)
    if isinstance(value, bytes):
        return tf.AttrValue(s=value)
    if isinstance(value, tf.DType):
        return tf.AttrValue(type=value.as_datatype_enum)
    return value


def imported_node(
    tf: Namespace,
    op_type: str,
    inputs: Sequence[Plain],
    attrs: Mapping[str, Attribute],
    producer: int = 2000,
) -> Operation:
    """The operation of a node that is imported into the default graph.

    An import sets the producer of an empty graph only: for an old producer it must be empty.

    Args:
      tf: the namespace.
      op_type: the type of the node.
      inputs: arrays, numbers or texts.
      attrs: as `add_node` takes them.
      producer: the graph version of the release that wrote the node.

    """
    with tf.Graph().as_default() as source:
        names = [tf.constant(value, name="input").op.name for value in inputs]
    graph_def = source.as_graph_def()
    graph_def.versions.producer = producer
    add_node(graph_def, tf, op_type, "node", names, attrs)
    tf.import_graph_def(graph_def, name="")
    return tf.get_default_graph().get_operation_by_name("node")


def run_node(
    tf: Namespace,
    op_type: str,
    inputs: Sequence[Plain],
    attrs: Mapping[str, Attribute],
    producer: int = 2000,
) -> Value:
    """The values of the node's outputs in a graph of its own; arguments as of `imported_node`."""
    with tf.Graph().as_default():
        node = imported_node(tf, op_type, inputs, attrs, producer)
        with tf.Session() as session:
            return session.run(node.outputs or node)
