"""PartitionGraphs: the GraphDef of each device that a run executes, for RunOptions that want them.

A fed tensor is an `_Arg`, a fetched one goes to a `_Retval`, both on the session's first device;
a value or a control edge that crosses from one device to another goes through a `_Send` and a
`_Recv`. The names are TensorFlow's. Clauses: RUN-047, TRACING.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sessrun.reference.devices.devices import LocalDevice
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import AttrValue, GraphDef, NodeDef
from sessrun.spec.proto import graph_pb2 as numbers

__all__ = ["PartitionGraphs"]

#: What TensorFlow writes into every edge between two devices of one process.
_INCARNATION: Final = 1
#: The dtype of the empty constant that stands for a control edge on its way.
_FLOAT: Final = numbers.DT_FLOAT


class PartitionGraphs:
    """The graphs of one signature.

    Args:
      ops: the operations it executes, in order.
      fed: its fed tensors.
      fetched: its fetched tensors, none of them fed.
      placed: the device of each operation.
      host: the device of feeds and fetches.

    Attributes:
      graphs: the GraphDef of each device that executes anything, by its full name.
      args: the name of the `_Arg` of each fed tensor that anything reads.
      retvals: the name of the `_Retval` of each fetched tensor.
      labels: for each node `NAME = TYPE(INPUT, ...)`.

    """

    def __init__(
        self,
        ops: Sequence[Operation],
        fed: Sequence[Tensor],
        fetched: Sequence[Tensor],
        placed: Mapping[Operation, LocalDevice],
        host: LocalDevice,
    ) -> None:
        self._placed = placed
        self._host = host
        self._edges = itertools.count()
        self._names = itertools.count()
        self._received: dict[tuple[str, str], str] = {}
        self.graphs: dict[str, GraphDef] = {}
        self.labels: dict[str, str] = {}
        read = {tensor for op in ops for tensor in op.inputs}
        for op in ops:  # a placeholder that is fed is waited for as its `_Arg`
            read.update(other.outputs[0] for other in op.control_inputs if _is_placeholder(other))
        self.args = _numbered("_arg", fed)
        self.args = {tensor: name for tensor, name in self.args.items() if tensor in read}
        self.retvals = _numbered("_retval", fetched)
        for index, tensor in enumerate(_sorted(fed)):
            if tensor in self.args:
                self._arg(tensor, index)
        for op in ops:
            self._operation(op)
        for index, tensor in enumerate(_sorted(fetched)):
            self._retval(tensor, index)
        for graph in self.graphs.values():
            graph.library.SetInParent()
            graph.versions.producer = ops[0].graph.graph_def_versions.producer

    def _node(self, name: str, op_type: str, device: str, inputs: Iterable[str]) -> NodeDef:
        node = self._graph(device).node.add(name=name, op=op_type, device=device, input=inputs)
        self._label(node)
        return node

    def _graph(self, device: str) -> GraphDef:
        if device not in self.graphs:
            self.graphs[device] = GraphDef()
        return self.graphs[device]

    def _label(self, node: NodeDef) -> None:
        # What a constant waits for TensorFlow leaves out.
        inputs = () if node.op == "Const" else node.input
        self.labels[node.name] = f"{node.name} = {node.op}({', '.join(inputs)})"

    def _arg(self, tensor: Tensor, index: int) -> None:
        node = self._node(self.args[tensor], "_Arg", self._host.name, ())
        node.attr["index"].i = index
        node.attr["T"].type = _enum(tensor)

    def _retval(self, tensor: Tensor, index: int) -> None:
        name = self.retvals[tensor]
        source = self._input(tensor, name, self._host.name)
        node = self._node(name, "_Retval", self._host.name, [source])
        node.attr["index"].i = index
        node.attr["T"].type = _enum(tensor)

    def _operation(self, op: Operation) -> None:
        device = self._placed[op].name
        inputs = [self._input(tensor, op.name, device) for tensor in op.inputs]
        inputs += [self._control(other, op, device) for other in op.control_inputs]
        node = op.node_def
        node.device = device
        node.input[:] = inputs
        self._graph(device).node.append(node)
        self._label(node)

    def _input(self, tensor: Tensor, consumer: str, device: str) -> str:
        """The name by which a consumer on a device takes a tensor."""
        fed = self.args.get(tensor)
        source = fed or tensor._as_node_def_input()  # noqa: SLF001 - a NodeDef's input, as the tensor writes it
        home = self._host.name if fed else self._placed[tensor.op].name
        producer = source.partition(":")[0]
        return self._arriving(source, producer, home, device, consumer, _enum(tensor))

    def _control(self, other: Operation, op: Operation, device: str) -> str:
        """The control input by which `op`, on a device, waits for another operation."""
        name, home = other.name, self._placed[other].name
        if _is_placeholder(other) and other.outputs[0] in self.args:
            name, home = self.args[other.outputs[0]], self._host.name
        if home == device:
            return f"^{name}"
        key = (f"^{name}", device)
        if key not in self._received:
            token = f"{name}/ctrl/_{next(self._names)}"
            const = self._node(token, "Const", home, [f"^{name}"])
            const.attr["dtype"].type = _FLOAT
            const.attr["value"].tensor.dtype = _FLOAT
            const.attr["value"].tensor.tensor_shape.dim.add()
            arrived = self._arriving(token, name, home, device, op.name, _FLOAT)
            waited = self._received[key] = f"{name}/_{next(self._names)}"
            self._node(waited, "Identity", device, [arrived]).attr["T"].type = _FLOAT
        return f"^{self._received[key]}"

    def _arriving(
        self, source: str, producer: str, home: str, device: str, consumer: str, dtype: Any
    ) -> str:
        """The name of a value on a device: its own, or that of the node that receives it there."""
        if home == device:
            return source
        if (source, device) not in self._received:
            send = f"{producer}/_{next(self._names)}"
            receive = f"{producer}/_{next(self._names)}"
            edge = {
                "tensor_name": AttrValue(s=f"edge_{next(self._edges)}_{producer}".encode()),
                "send_device": AttrValue(s=home.encode()),
                "send_device_incarnation": AttrValue(i=_INCARNATION),
                "recv_device": AttrValue(s=device.encode()),
                "client_terminated": AttrValue(b=False),
                "_src": AttrValue(s=producer.encode()),
                "_dst": AttrValue(s=consumer.encode()),
            }
            _write(self._node(send, "_Send", home, [source]), edge, "T", dtype)
            _write(self._node(receive, "_Recv", device, ()), edge, "tensor_type", dtype)
            self._received[source, device] = receive
        return self._received[source, device]


def _write(node: NodeDef, attrs: Mapping[str, AttrValue], type_attr: str, dtype: Any) -> None:
    for name, value in attrs.items():
        node.attr[name].CopyFrom(value)
    node.attr[type_attr].type = dtype


def _is_placeholder(op: Operation) -> bool:
    return op.type == "Placeholder"


def _enum(tensor: Tensor) -> Any:
    return tensor.dtype.base_dtype.as_datatype_enum


def _sorted(tensors: Iterable[Tensor]) -> list[Tensor]:
    return sorted(tensors, key=lambda tensor: tensor.name)


def _numbered(prefix: str, tensors: Iterable[Tensor]) -> dict[Tensor, str]:
    """A name for each tensor: `_arg_x_0_1` for output 0 of x, the second by name."""
    return {
        tensor: f"{prefix}_{tensor.op.name}_{tensor.value_index}_{index}"
        for index, tensor in enumerate(_sorted(tensors))
    }
