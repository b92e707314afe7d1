"""The nodes of a GraphDef, read and made into operations, producers first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sessrun.reference import attr_checks, attr_values, errors, tensor_shape
from sessrun.reference.build import Imported, make_operation
from sessrun.reference.errors import bad_value
from sessrun.reference.graph import Graph
from sessrun.reference.node_names import NODE_NAME, Input, prefixes, read_input
from sessrun.reference.operation import Operation
from sessrun.reference.signature import Signature, signature
from sessrun.reference.tensor import Tensor
from sessrun.spec import devices
from sessrun.spec.operations import ArgDecl
from sessrun.spec.proto import AttrValue, NodeDef

__all__ = ["NodeImporter"]

_COLOCATION = b"loc:@"


@dataclass(frozen=True, slots=True)
class _Node:
    """A NodeDef with its inputs read: data inputs, then control inputs."""

    proto: NodeDef
    data: tuple[Input, ...]
    control: tuple[Input, ...]


class NodeImporter:
    """One import.

    Args:
      graph: where to.
      scope: the name scope, with a final "/", or empty.
      mapped: inputs that are replaced by tensors of the graph.

    Attributes:
      used: the replaced inputs that some node had.

    """

    def __init__(self, graph: Graph, scope: str, mapped: Mapping[Input, Tensor]) -> None:
        self.graph = graph
        self.scope = scope
        self.mapped = mapped
        self.used: set[Input] = set()
        self._nodes: dict[str, _Node] = {}
        self._made: dict[str, Operation] = {}
        self._taken: set[str] = set()

    def run(self, protos: Iterable[NodeDef]) -> Mapping[str, Operation]:
        """Make every operation: name in the GraphDef to operation.

        Raises:
          InvalidArgumentValueError: a node is ill-formed or contradicts its declaration.
          NotFoundError: an op type is not declared.

        """
        for proto in protos:
            if not NODE_NAME.fullmatch(proto.name):
                raise bad_value(f"Node '{proto.name}': Node name contains invalid characters")
            if proto.name in self._nodes:
                raise bad_value(f"Node '{proto.name}' is not unique")
            self._nodes[proto.name] = _read(proto)
        for op in self.graph.get_operations():
            self._taken.add(op.name)
            self._taken.update(prefixes(op.name))
        for name in self._nodes:
            self._make_with_sources(name)
        return self._made

    def _make_with_sources(self, name: str) -> None:
        """Make a node after everything that it needs, without recursion."""
        stack = [name]
        waiting: set[str] = set()
        while stack:
            current = stack[-1]
            if current in self._made:
                stack.pop()
                continue
            missing = self._missing(self._nodes[current])
            if not missing:
                waiting.discard(current)
                self._made[stack.pop()] = self._make(self._nodes[current])
                continue
            waiting.add(current)
            if not waiting.isdisjoint(missing):
                raise bad_value(f"{len(waiting)} nodes in a cycle, among them '{current}'")
            stack.extend(missing)

    def _missing(self, node: _Node) -> list[str]:
        missing = []
        for source in (*node.data, *node.control):
            if source in self.mapped or source.node in self._made:
                continue
            if source.node not in self._nodes:
                shown = source.node if not source.is_control else str(source)
                raise bad_value(f"Node '{node.proto.name}': Unknown input node '{shown}'")
            missing.append(source.node)
        for group in _colocated(node.proto):
            if group not in self._nodes:
                raise bad_value(
                    f"Node '{node.proto.name}' expects to be colocated with unknown node '{group}'"
                )
            if group != node.proto.name and group not in self._made:
                missing.append(group)
        return missing

    def _make(self, node: _Node) -> Operation:
        proto = node.proto
        try:
            declared = signature(proto.op)
        except RuntimeError as error:
            raise errors.NotFoundError(proto, None, str(error)) from error
        attrs, extra = _attributes(declared, proto)
        tensors = [self._tensor(proto, source) for source in node.data]
        groups = _grouped(declared, proto, tensors, attrs)
        shapes = extra.pop("_output_shapes", None)
        name = self._name(proto.name)
        op = make_operation(
            self.graph, declared, name, groups, attrs,
            imported=Imported(
                _device(proto), self._controls(node), self._renamed(extra, proto, name)
            ),
        )  # fmt: skip
        if shapes is not None and len(shapes.list.shape) == len(op.outputs):
            for tensor, shape in zip(op.outputs, shapes.list.shape, strict=True):
                tensor.set_shape(tensor_shape.TensorShape.of(tensor_shape.of_proto(shape)))
        return op

    def _name(self, name: str) -> str:
        """The node's name in the graph: numbered if an operation or its scope has it already.

        Other than in building, names that differ in case are different.
        """
        found, count = name, 0
        while self.scope + found in self._taken or (count and found in self._nodes):
            count += 1
            found = f"{name}_{count}"
        self._taken.add(self.scope + found)
        self.graph.note_name(self.scope + found)
        return self.scope + found

    def _tensor(self, proto: NodeDef, source: Input) -> Tensor:
        found = self.mapped.get(source)
        if found is not None:
            self.used.add(source)
            return found
        outputs = self._made[source.node].outputs
        if source.index >= len(outputs):
            raise bad_value(
                f"Node '{proto.name}': Connecting to invalid output {source.index} of source node "
                f"{source.node} which has {len(outputs)} outputs."
            )
        return outputs[source.index]

    def _controls(self, node: _Node) -> tuple[Operation, ...]:
        found: dict[Operation, None] = {}
        for source in node.control:
            mapped = self.mapped.get(source)
            if mapped is not None:
                self.used.add(source)
            found[self._made[source.node] if mapped is None else mapped.op] = None
        return tuple(found)

    def _renamed(
        self, extra: Mapping[str, AttrValue], proto: NodeDef, own_name: str
    ) -> Mapping[str, AttrValue]:
        """The attributes with colocation groups under their names in the graph."""
        groups = extra.get("_class")
        if groups is None:
            return extra
        renamed = []
        for group in groups.list.s:
            if not group.startswith(_COLOCATION):
                renamed.append(group)
                continue
            other = group.removeprefix(_COLOCATION).decode()
            name = own_name if other == proto.name else self._made[other].name
            renamed.append(_COLOCATION + name.encode())
        return {**extra, "_class": AttrValue(list=AttrValue.ListValue(s=renamed))}


def _read(proto: NodeDef) -> _Node:
    data: list[Input] = []
    control: list[Input] = []
    for text in proto.input:
        source = read_input(text, f"Node '{proto.name}'")
        if source.is_control:
            control.append(source)
        elif control:
            raise bad_value(
                f"Node '{proto.name}': Control dependencies must come after regular dependencies"
            )
        else:
            data.append(source)
    return _Node(proto, tuple(data), tuple(control))


def _colocated(proto: NodeDef) -> list[str]:
    if "_class" not in proto.attr:
        return []
    return [
        group.removeprefix(_COLOCATION).decode()
        for group in proto.attr["_class"].list.s
        if group.startswith(_COLOCATION)
    ]


def _device(proto: NodeDef) -> str:
    if not proto.device:
        return ""
    try:
        return str(devices.parse(proto.device))
    except devices.DeviceNameError as error:
        raise bad_value(f"Node '{proto.name}': {error}") from error


def _attributes(
    declared: Signature, proto: NodeDef
) -> tuple[dict[str, Any], dict[str, AttrValue]]:
    """The declared attributes, defaults put in, and the others."""
    values: dict[str, Any] = {}
    for name, attr in declared.attrs.items():
        if name not in proto.attr:
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
            values[name] = attr.default
    extra = {name: AttrValue() for name in proto.attr if name not in declared.attrs}
    for name, value in extra.items():
        value.CopyFrom(proto.attr[name])
    return values, extra


def _grouped(
    declared: Signature, proto: NodeDef, tensors: list[Tensor], attrs: Mapping[str, Any]
) -> list[Any]:
    """The inputs by declared argument; their number and dtypes are those declared."""
    groups: list[Any] = []
    place = 0
    for arg in declared.inputs:
        wanted = _wanted_dtypes(arg, attrs)
        part = tensors[place : place + len(wanted)]
        if len(part) < len(wanted):
            break
        for offset, (tensor, dtype) in enumerate(zip(part, wanted, strict=True)):
            _check_input(proto, place + offset, tensor, dtype, arg)
        groups.append(part[0] if arg.number_attr is None and arg.type_list_attr is None else part)
        place += len(wanted)
    if len(groups) < len(declared.inputs) or place < len(tensors):
        raise bad_value(
            f"Node '{proto.name}': NodeDef expected inputs of the signature of {proto.op} do not "
            f"match {len(tensors)} inputs specified"
        )
    return groups


def _wanted_dtypes(arg: ArgDecl, attrs: Mapping[str, Any]) -> list[str]:
    if arg.type_list_attr is not None:
        return list(attrs[arg.type_list_attr])
    dtype: Any = arg.dtype if arg.type_attr is None else attrs[arg.type_attr]
    return [dtype] * (1 if arg.number_attr is None else attrs[arg.number_attr])


def _check_input(proto: NodeDef, index: int, tensor: Tensor, dtype: str, arg: ArgDecl) -> None:
    fits = tensor.dtype.spec_name == dtype
    if not fits or (arg.is_ref and not tensor.dtype._is_ref_dtype):  # noqa: SLF001 - DType's own notion
        expected = dtype + ("_ref" if arg.is_ref else "")
        raise bad_value(
            f"Input {index} of node {proto.name} was passed {tensor.dtype.name} from "
            f"{tensor.name} incompatible with expected {expected}."
        )
