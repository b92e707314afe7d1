"""The nodes of a GraphDef, validated and imported as operations, producers first."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sessrun.reference import errors
from sessrun.reference.base import attr_values, tensor_shape
from sessrun.reference.base.flow_ops import LOOP_ENDS, MERGES
from sessrun.reference.base.node_names import NODE_NAME, Input, prefixes, read_input
from sessrun.reference.build import attr_checks
from sessrun.reference.build.build import removed
from sessrun.reference.build.construction import Imported, make_operation
from sessrun.reference.build.importing.import_inputs import grouped
from sessrun.reference.build.signature import Signature, signature_in
from sessrun.reference.errors import bad_type, bad_value
from sessrun.reference.graph.creation import frames_of_program
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import CALLS, Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec import devices
from sessrun.spec.proto import AttrValue, NodeDef, TensorShapeProto

__all__ = ["NodeImporter"]

#: What a colocation group in the attribute `_class` begins with, as text and as bytes.
_GROUP = "loc:@"
_GROUP_BYTES = _GROUP.encode()
#: Producers before this one wrote an unknown shape of a placeholder as that of a scalar.
_SCALAR_PLACEHOLDERS = 22


@dataclass(frozen=True, slots=True)
class _Node:
    """A NodeDef with its inputs read: data inputs, then control inputs."""

    proto: NodeDef
    data: tuple[Input, ...]
    control: tuple[Input, ...]


class NodeImporter:
    """Imports the nodes of one GraphDef.

    Args:
      graph: the graph that gets the operations.
      scope: the name scope, with a final "/", or empty.
      mapped: the `input_map`: inputs in the GraphDef to tensors of the graph that replace them.
      producer: the version of the program that wrote the GraphDef.
      infer_call: sets the shapes of the outputs of an operation that calls a function.

    Attributes:
      used: the keys of `mapped` that are inputs of a node.

    """

    def __init__(
        self,
        graph: Graph,
        scope: str,
        mapped: Mapping[Input, Tensor],
        producer: int,
        infer_call: Callable[[Operation], None],
    ) -> None:
        self.graph = graph
        self.scope = scope
        self.mapped = mapped
        self.producer = producer
        self._infer_call = infer_call
        self.used: set[Input] = set()
        self._nodes: dict[str, _Node] = {}
        self._imported: dict[str, Operation] = {}
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()

    def run(self, protos: Iterable[NodeDef]) -> Mapping[str, Operation]:
        """Create the operations; returns them by their names in the GraphDef.

        Raises:
          InvalidArgumentValueError: a node is ill-formed or contradicts its declaration.
          NotFoundError: an op type is not declared.

        """
        for proto in protos:
            if not NODE_NAME.fullmatch(proto.name):
                raise bad_value(f"Node '{proto.name}': Node name contains invalid characters")
            if not proto.op:
                raise bad_value(f"Node '{proto.name}' does not specify an operation")
            if proto.name in self._nodes:
                raise bad_value(f"Node '{proto.name}' is not unique")
            self._nodes[proto.name] = _read(proto)
        for op in self.graph.get_operations():
            self._taken.add(op.name)
            self._taken.update(prefixes(op.name))
        sources = {name: self._sources(node) for name, node in self._nodes.items()}
        for name in _in_order(sources):
            self._imported[name] = self._make(self._nodes[name])
        if len(self._imported) < len(self._nodes):
            left = [name for name in self._nodes if name not in self._imported]
            raise bad_value(f"{len(left)} nodes in a cycle or behind one, among them '{left[0]}'")
        self._connect_back_edges()
        for name, op in self._imported.items():
            _check_class(self._nodes[name].proto)
            self._copy_device(op)
        return self._imported

    def _copy_device(self, op: Operation) -> None:
        """Set the device of a colocated operation to the first one of its group, if any has one."""
        for other in _colocated_ops(op):
            device = self.graph.operations_by_name[other].device
            if device:
                op._set_device(device)  # noqa: SLF001 - it is being built here
                return

    def _sources(self, node: _Node) -> set[str]:
        """The nodes that must be imported before a node: its inputs, without back edges."""
        names = set()
        for source in (*node.data, *node.control):
            if source in self.mapped:
                continue
            if source.node not in self._nodes:
                raise bad_value(f"Node '{node.proto.name}': Unknown input node '{source}'")
            if not self._is_back_edge(node, source):
                names.add(source.node)
        for group in _groups_of(node.proto):
            if group not in self._nodes:
                raise bad_value(
                    f"Node '{node.proto.name}' expects to be colocated with unknown node '{group}'"
                )
        return names

    def _is_back_edge(self, node: _Node, source: Input) -> bool:
        """Whether the node is a loop's Merge and the input that loop's NextIteration."""
        if node.proto.op not in MERGES or source in self.mapped:
            return False
        before = self._nodes.get(source.node)
        return before is not None and before.proto.op in LOOP_ENDS

    def _inputs(self, node: _Node) -> list[Tensor]:
        """The input tensors; another input stands in for a back edge, whose source comes later."""
        backs = [self._is_back_edge(node, source) for source in node.data]
        tensors = [
            None if is_back else self._tensor(node.proto, source)
            for source, is_back in zip(node.data, backs, strict=True)
        ]
        first = next((tensor for tensor in tensors if tensor is not None), None)
        if first is None:
            if tensors:
                raise bad_value(f"Node '{node.proto.name}' merges nothing but the ends of loops")
            return []
        return [first if tensor is None else tensor for tensor in tensors]

    def _connect_back_edges(self) -> None:
        """Replace the stand-ins for back edges by the outputs of the loops' NextIterations."""
        for name, op in self._imported.items():
            node = self._nodes[name]
            for index, source in enumerate(node.data):
                if self._is_back_edge(node, source):
                    tensor = self._tensor(node.proto, source)
                    if tensor.dtype.base_dtype != op.inputs[index].dtype.base_dtype:
                        raise bad_value(
                            f"Input {index} of node {name} was passed {tensor.dtype.opdef_name} "
                            f"from {source} incompatible with expected "
                            f"{op.inputs[index].dtype.opdef_name}."
                        )
                    op._replace_input(index, tensor)  # noqa: SLF001 - it is being built here

    def _make(self, node: _Node) -> Operation:
        proto = node.proto
        try:
            declared = signature_in(self.graph.functions, proto.op)
        except RuntimeError as error:
            raise errors.NotFoundError(proto, None, str(error)) from error
        if removal := removed(declared, self.producer):
            raise errors.UnimplementedError(None, None, removal)
        attrs, extra = _attributes(declared, proto)
        tensors = self._inputs(node)
        name = self._name(proto.name)
        groups = grouped(declared, name, tensors, attrs)
        shapes = _output_shapes(extra)
        op = make_operation(
            self.graph,
            declared,
            name,
            groups,
            attrs,
            frames_of_program(),
            imported=Imported(
                self._device(proto),
                self._controls(node),
                self._with_renamed_groups(extra),
                _debug_info(proto),
            ),
        )
        if _colocated_ops(op):
            op._set_device("")  # noqa: SLF001 - the operation is being built here
        if proto.op == "Placeholder" and self.producer < _SCALAR_PLACEHOLDERS:
            _forget_scalar(op)
        if proto.op in CALLS or proto.op in self.graph.functions:
            self._infer_call(op)
        if shapes is not None:
            _merge_shapes(op, shapes, proto.name)
        return op

    def _device(self, proto: NodeDef) -> str:
        """The device that the node requests; "" for a node that is colocated with others."""
        beside = [name for name in _groups_of(proto) if name != proto.name]
        if not proto.device or beside or self.graph.scopes.colocation:
            return ""
        try:
            return str(devices.parse(proto.device))
        except devices.DeviceNameError as error:
            raise bad_value(f"Node '{proto.name}': {error}") from error

    def _name(self, name: str) -> str:
        """The node's name in the graph, with `_1`, `_2`, ... if an operation or a scope has it.

        Names that differ only in case are different here, unlike those of `Graph.unique_name`.
        """
        if name in self._names:
            return self._names[name]
        unique, count = name, 0
        while self.scope + unique in self._taken or (count and unique in self._nodes):
            count += 1
            unique = f"{name}_{count}"
        self._taken.add(self.scope + unique)
        self.graph.note_name(self.scope + unique)
        self._names[name] = self.scope + unique
        return self.scope + unique

    def _tensor(self, proto: NodeDef, source: Input) -> Tensor:
        tensor = self.mapped.get(source)
        if tensor is not None:
            self.used.add(source)
            return tensor
        outputs = self._imported[source.node].outputs
        if source.index >= len(outputs):
            raise bad_value(
                f"Node '{proto.name}': Connecting to invalid output {source.index} of source node "
                f"{source.node} which has {len(outputs)} outputs."
            )
        return outputs[source.index]

    def _controls(self, node: _Node) -> tuple[Operation, ...]:
        controls: dict[Operation, None] = {}
        for source in node.control:
            mapped = self.mapped.get(source)
            if mapped is not None:
                self.used.add(source)
            controls[self._imported[source.node] if mapped is None else mapped.op] = None
        return tuple(controls)

    def _with_renamed_groups(self, extra: Mapping[str, AttrValue]) -> Mapping[str, AttrValue]:
        """The attributes, with the names in colocation groups replaced by those in the graph."""
        groups = extra.get("_class")
        if groups is None:
            return extra
        renamed = []
        for group in groups.list.s:
            if not group.startswith(_GROUP_BYTES):
                renamed.append(group)
                continue
            other = group.removeprefix(_GROUP_BYTES).decode()
            renamed.append(_GROUP_BYTES + self._name(other).encode())
        return {**extra, "_class": AttrValue(list=AttrValue.ListValue(s=renamed))}


def _read(proto: NodeDef) -> _Node:
    data: list[Input] = []
    control: list[Input] = []
    for text in proto.input:
        source = read_input(text)
        if source is None:
            raise bad_value(f"Node '{proto.name}': Unknown input node '{text}'")
        if source.is_control:
            control.append(source)
        elif control:
            raise bad_value(
                f"Node '{proto.name}': Control dependencies must come after regular dependencies"
            )
        else:
            data.append(source)
    return _Node(proto, tuple(data), tuple(control))


def _in_order(sources: Mapping[str, set[str]]) -> Iterator[str]:
    """The nodes in topological order, ties by their order in the GraphDef; none of a cycle."""
    position = {name: number for number, name in enumerate(sources)}
    consumers: dict[str, list[str]] = {name: [] for name in sources}
    for name, needed in sources.items():
        for source in needed:
            consumers[source].append(name)
    waits = {name: len(needed) for name, needed in sources.items()}
    ready = [(position[name], name) for name, count in waits.items() if not count]
    while ready:
        _, name = heapq.heappop(ready)
        yield name
        for consumer in consumers[name]:
            waits[consumer] -= 1
            if not waits[consumer]:
                heapq.heappush(ready, (position[consumer], consumer))


def _groups_of(proto: NodeDef) -> list[str]:
    """The names in the node's colocation groups: nodes to be placed on the same device."""
    if "_class" not in proto.attr:
        return []
    try:
        groups = [group.decode() for group in proto.attr["_class"].list.s]
    except UnicodeDecodeError as error:
        raise bad_value(f"Node '{proto.name}', attr '_class': {error}") from error
    return [group.removeprefix(_GROUP) for group in groups if group.startswith(_GROUP)]


def _check_class(proto: NodeDef) -> None:
    """Refuse colocation groups that are no list of strings: after all else, as TensorFlow does."""
    if "_class" not in proto.attr:
        return
    held = proto.attr["_class"]
    kind = held.WhichOneof("value")
    listed = kind is None or (kind == "list" and (held.list.s or not held.list.ListFields()))
    if not listed and not (kind == "s" and not held.s):
        raise bad_type(f"Node '{proto.name}': the attribute _class is no list of strings")


def _output_shapes(extra: dict[str, AttrValue]) -> list[TensorShapeProto] | None:
    """The value of `_output_shapes`, removed from the attributes; None if it is absent."""
    held = extra.get("_output_shapes")
    if held is None or attr_values.held_types(held) - {"list(shape)"}:
        return None
    del extra["_output_shapes"]
    return list(held.list.shape)


def _merge_shapes(op: Operation, shapes: list[Any], name: str) -> None:
    """Merge the shapes of `_output_shapes` into the outputs' shapes; further ones are ignored."""
    if len(shapes) < len(op.outputs):
        raise bad_value(
            f"Node '{name}' has {len(op.outputs)} outputs but the _output_shapes attribute "
            f"specifies shapes for {len(shapes)} outputs"
        )
    for tensor, proto in zip(op.outputs, shapes, strict=False):
        try:
            sizes = attr_values.from_proto(AttrValue(shape=proto), "shape")
            tensor.set_shape(tensor_shape.TensorShape.of(sizes))
        except ValueError as error:
            raise bad_value(f"Node '{name}', attr '_output_shapes': {error}") from error


def _forget_scalar(op: Operation) -> None:
    """Set the shape of a scalar placeholder to unknown, which old producers wrote as a scalar's."""
    for tensor in op.outputs:
        if tensor.sizes == ():
            tensor._sizes = None  # noqa: SLF001 - the operation is being built here


def _colocated_ops(op: Operation) -> list[str]:
    """The names of the other operations that an operation is colocated with."""
    held = op.extra.get("_class")
    groups = () if held is None else held.list.s
    names = [group.removeprefix(_GROUP_BYTES) for group in groups if group.startswith(_GROUP_BYTES)]
    return [name.decode() for name in names if name.decode() != op.name]


def _debug_info(proto: NodeDef) -> NodeDef | None:
    """The node's experimental fields, which the operation keeps for its NodeDef; or None."""
    if not (proto.HasField("experimental_debug_info") or proto.HasField("experimental_type")):
        return None
    notes = NodeDef()
    if proto.HasField("experimental_debug_info"):
        notes.experimental_debug_info.CopyFrom(proto.experimental_debug_info)
    if proto.HasField("experimental_type"):
        notes.experimental_type.CopyFrom(proto.experimental_type)
    return notes


def _attributes(
    declared: Signature, proto: NodeDef
) -> tuple[dict[str, object], dict[str, AttrValue]]:
    """The declared attributes, with defaults for missing ones, and the undeclared attributes.

    Raises:
      InvalidArgumentValueError: a value is not of the attribute's type, or an attribute without a
        default is missing.

    """
    values: dict[str, object] = {}
    for name, attr in declared.attrs.items():
        if name not in proto.attr:
            continue
        if attr.has_default and proto.attr[name].WhichOneof("value") is None:
            continue
        try:
            values[name] = attr_values.from_proto(proto.attr[name], attr.type)
            attr_checks.check(declared, attr, values[name])
        except (TypeError, ValueError) as error:
            raise bad_value(f"Node '{proto.name}', attr '{name}': {error}") from error
    for name, attr in declared.attrs.items():
        if name not in values:
            if not attr.has_default:
                raise bad_value(f"Node '{proto.name}': NodeDef missing attr '{name}'")
            values[name] = attr_values.default_of(attr)
    extra = {name: AttrValue() for name in proto.attr if name not in declared.attrs}
    for name, value in extra.items():
        value.CopyFrom(proto.attr[name])
    return values, extra
