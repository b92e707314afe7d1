"""`tf.graph_util.convert_variables_to_constants`: a GraphDef that holds the variables' values.

A variable's node becomes a Const, what reads a resource an Identity, and what passes its handle on
takes the dtype of the value. Clauses: GRAPH. Source: TensorFlow 2.21 as it was seen to behave.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from sessrun.reference.api.saving.graph_pruning import extract_sub_graph
from sessrun.reference.build import constant_op
from sessrun.reference.public import public
from sessrun.reference.session.session import BaseSession
from sessrun.spec.proto import AttrValue, GraphDef, NodeDef

__all__ = ["convert_variables_to_constants"]

_REFERENCES: Final = frozenset({"Variable", "VariableV2"})
_RESOURCE: Final = "VarHandleOp"
#: What passes a handle on as its own output.
_PASSING_ON: Final = frozenset({"Enter", "Exit", "Identity", "Merge", "NextIteration", "Switch"})


@public("graph_util.convert_variables_to_constants")
def convert_variables_to_constants(
    sess: BaseSession,
    input_graph_def: GraphDef,
    output_node_names: Iterable[str],
    variable_names_whitelist: Collection[str] | None = None,
    variable_names_blacklist: Collection[str] | None = None,
) -> GraphDef:
    """The nodes that the outputs need, with constants in place of variables.

    Args:
      sess: the session that holds the variables; a resource variable `v` is read by the operation
        `v/Read/ReadVariableOp` of its graph.
      input_graph_def: a GraphDef, ours or TensorFlow's, of the session's graph.
      output_node_names: names of the nodes to keep.
      variable_names_whitelist: names of the variables to convert; None for all.
      variable_names_blacklist: names of variables that are not converted.

    Raises:
      TypeError, AssertionError, KeyError: as `extract_sub_graph`.
      ValueError: a gather of a converted variable has batch dimensions.
      OpError: a variable cannot be read.

    """
    graph_def = extract_sub_graph(input_graph_def, output_node_names)
    wanted = [
        node
        for node in graph_def.node
        if (node.op in _REFERENCES or node.op == _RESOURCE)
        and (variable_names_whitelist is None or node.name in variable_names_whitelist)
        and (variable_names_blacklist is None or node.name not in variable_names_blacklist)
    ]
    if not wanted:
        return graph_def
    values = sess.run([_value_of(node) for node in wanted])
    return _Frozen(graph_def, dict(zip((node.name for node in wanted), values, strict=True))).proto


def _value_of(variable: NodeDef) -> str:
    reader = "/Read/ReadVariableOp" if variable.op == _RESOURCE else ""
    return f"{variable.name}{reader}:0"


class _Frozen:
    """A copy of a GraphDef with constants in place of these variables.

    Attributes:
      proto: the copy.

    """

    def __init__(self, graph_def: GraphDef, values: Mapping[str, object]) -> None:
        self.proto = GraphDef()
        self.proto.CopyFrom(graph_def)
        self._nodes = {node.name: node for node in self.proto.node}
        self._consumers = _consumers(self.proto.node)
        self._changed: set[str] = set()
        for name, value in values.items():
            node = self._nodes[name]
            dtype = node.attr["dtype"].type
            node.CopyFrom(_constant(name, value, dtype))
            self._follow(name, dtype)

    def _follow(self, name: str, dtype: int) -> None:
        """Change what takes the output of a node that was a handle, or may have been one."""
        waiting = self._consumers.get(name, [])[::-1]
        while waiting:
            node = self._nodes[waiting.pop()]
            if node.name in self._changed:
                continue
            self._changed.add(node.name)
            if node.op in _PASSING_ON:
                node.attr["T"].type = dtype  # type: ignore[assignment]  # an enumerator's number
                node.attr.pop("_output_shapes", None)
                waiting += self._consumers.get(node.name, [])[::-1]
            elif node.op in _READS:
                replacement, *added = _READS[node.op](node)
                node.CopyFrom(replacement)
                self.proto.node.extend(added)


def _consumers(nodes: Iterable[NodeDef]) -> dict[str, list[str]]:
    """The nodes by the node whose output they take."""
    consumers: dict[str, list[str]] = {}
    for node in nodes:
        for text in node.input:
            if not text.startswith("^"):
                consumers.setdefault(text.partition(":")[0], []).append(node.name)
    return consumers


def _constant(name: str, value: object, dtype: int) -> NodeDef:
    node = NodeDef(name=name, op="Const")
    node.attr["dtype"].type = dtype  # type: ignore[assignment]  # an enumerator's number
    node.attr["value"].tensor.CopyFrom(constant_op.make_tensor_proto(value, dtype))
    return node


def _replaced(node: NodeDef, op: str, inputs: Iterable[str], **attrs: AttrValue) -> NodeDef:
    """A node that replaces another one: control dependencies and device are dropped."""
    replacement = NodeDef(name=node.name, op=op, input=inputs)
    for name, value in attrs.items():
        replacement.attr[name].CopyFrom(value)
    if "_class" in node.attr:
        replacement.attr["_class"].CopyFrom(node.attr["_class"])
    return replacement


def _identity(node: NodeDef) -> list[NodeDef]:
    return [_replaced(node, "Identity", node.input[:1], T=node.attr["dtype"])]


def _gather(node: NodeDef) -> list[NodeDef]:
    if node.attr["batch_dims"].i:
        raise ValueError(
            f"batch_dims must be 0 for freeze_graph, but got node({node.name}).attr('batch_dims') "
            f"= {node.attr['batch_dims'].i}."
        )
    kinds = {"Tparams": node.attr["dtype"], "Tindices": node.attr["Tindices"]}
    axis = _constant(f"{node.name}/axis", 0, kinds["Tindices"].type)
    inputs = [*node.input[:2], axis.name]
    return [_replaced(node, "GatherV2", inputs, Taxis=kinds["Tindices"], **kinds), axis]


def _gather_nd(node: NodeDef) -> list[NodeDef]:
    kinds = {"Tparams": node.attr["dtype"], "Tindices": node.attr["Tindices"]}
    return [_replaced(node, "GatherNd", node.input[:2], **kinds)]


#: What takes a handle and gives something of the variable's value.
_READS: Final[Mapping[str, Callable[[NodeDef], list[NodeDef]]]] = {
    "ReadVariableOp": _identity,
    "ResourceGather": _gather,
    "ResourceGatherNd": _gather_nd,
}
