"""Operation: a node of a graph, and the NodeDef it is written as."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn, SupportsIndex

from sessrun.reference.base import attr_values
from sessrun.reference.base.attributes import Attrs
from sessrun.reference.errors import InvalidArgumentError, OutOfRangeError, bad_value
from sessrun.reference.graph.creation import Frames, Site
from sessrun.reference.graph.default_session import DefaultSession, FeedDict, get_default_session
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.public import public
from sessrun.spec.proto import AttrValue, NodeDef, OpDef
from sessrun.spec.tables.ops import OPERATIONS

if TYPE_CHECKING:
    from traceback import FrameSummary

    from sessrun.reference.base.dtypes import DType
    from sessrun.reference.graph.graph import Graph
    from sessrun.reference.graph.tensor import Tensor
    from sessrun.spec.operations import Operation as Declaration

__all__ = ["CALLS", "OPERATION_BUILDERS", "Operation", "kernel_type_of"]

#: The op types that call the function which their attribute `f` names.
CALLS: Final = frozenset({"PartitionedCall", "StatefulPartitionedCall"})

#: The functions that build operations for `Graph.create_op` and `Operation.from_node_def`, by
#: method name; the package `build` registers them, which this one may not import.
OPERATION_BUILDERS: Final[dict[str, Callable[..., Operation]]] = {}


def kernel_type_of(op_type: str) -> str:
    """The op type whose kernel runs an op type: its own, unless that is the name of a function."""
    return op_type if op_type in OPERATIONS else "StatefulPartitionedCall"


@public("Operation")
class Operation:
    """A node: created by `build`, or by `from_node_def`. Compared and hashed by identity.

    Attributes:
      graph: the graph it belongs to.
      name: unique in the graph.
      type: the op type.
      declaration: how the spec declares it.
      attrs: the declared attributes by name, as the runtime holds them (see `attr_values`).
      extra: attributes that are not declared (`_class`, `_output_shapes`), as AttrValue.
      inputs: its input tensors.
      outputs: its output tensors.
      id: its number in the graph, from 1.
      notes: a NodeDef with what an imported node says for debuggers and optimizers, or None.

    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_control_inputs",
        "_device",
        "_frames",
        "_inputs",
        "_outputs",
        "attrs",
        "declaration",
        "extra",
        "graph",
        "id",
        "name",
    )

    #: Set once it is made, since they have it as theirs.
    _outputs: list[Tensor]

    notes: NodeDef | None = None

    #: The operation that it stands for, where it was created in `Graph._original_op`.
    _original_op: Operation | None = None
    #: The `control_flow.context.Context` that it was created in.
    _control_flow_context: Any = None

    def __init__(
        self,
        graph: Graph,
        declaration: Declaration,
        name: str,
        inputs: tuple[Tensor, ...],
        attrs: Attrs,
        frames: Frames,
    ) -> None:
        self.graph = graph
        self.declaration = declaration
        self.name = name
        self._inputs = inputs
        self.attrs = attrs
        self.extra: dict[str, AttrValue] = {}
        self._control_inputs: tuple[Operation, ...] = ()
        self.id = 0
        self._frames = frames
        self._device = ""

    @classmethod
    def from_node_def(
        cls,
        node_def: NodeDef,
        g: Graph,
        inputs: Sequence[Tensor] | None = None,
        output_types: object = None,  # noqa: ARG003 - TensorFlow's signature; the declaration says them
        control_inputs: Iterable[object] | None = None,
        input_types: Iterable[DType] | None = None,
        original_op: Operation | None = None,
        op_def: object = None,  # noqa: ARG003 - as above
    ) -> Operation:
        """Make the operation that a NodeDef describes, without regard to the open scopes.

        Args:
          node_def: its type, name, device and attributes; what it says of inputs is not read.
          g: the graph to make it in.
          inputs: its input tensors, lists laid out flat.
          output_types: not used: the declaration says those of the outputs.
          control_inputs: operations and tensors that it waits for.
          input_types: dtypes that the inputs must be compatible with, or None.
          original_op: an operation that it stands for, or None.
          op_def: not used.

        Raises:
          TypeError: an argument is of a wrong type, or an input not of its input type.
          ValueError: the name is taken or invalid, or the inputs or attributes do not fit.
          RuntimeError: the op type is not declared, or the graph is finalized.

        """
        return OPERATION_BUILDERS["from_node_def"](
            node_def, g, inputs, control_inputs, input_types, original_op
        )

    @property
    def type(self) -> str:
        """The op type."""
        return self.declaration.name

    @property
    def kernel_type(self) -> str:
        """The op type whose kernel runs it: its own, unless that is the name of a function.

        A kernel label that it requests is appended, as in `KernelLabel:overload_1`.
        """
        op_type = kernel_type_of(self.declaration.name)
        label = self.extra["_kernel"].s.decode() if "_kernel" in self.extra else ""
        return f"{op_type}:{label}" if label else op_type

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The input tensors."""
        return self._inputs

    @property
    def outputs(self) -> list[Tensor]:
        """The output tensors."""
        return self._outputs

    @property
    def kind(self) -> tuple[str, str]:
        """The type whose kernel runs it, and the device that it requests."""
        return self.kernel_type if self.extra else self.declaration.name, self._device

    def values(self) -> tuple[Tensor, ...]:
        """The output tensors, as a tuple."""
        return tuple(self._outputs)

    @property
    def device(self) -> str:
        """The requested device; empty if none."""
        return self._device

    def _set_device(self, device: object) -> None:
        if hasattr(device, "to_string"):
            device = device.to_string()
        self._device = str(device) if device else ""
        self.graph.kinds.add(self.kind)

    @property
    def _id(self) -> int:
        return self.id

    @property
    def _control_outputs(self) -> list[Operation]:
        """The operations that wait for this one, in the order of their creation."""
        return [op for op in self.graph.get_operations() if self in op.control_inputs]

    @property
    def control_inputs(self) -> list[Operation]:
        """The operations that it waits for beside its inputs; a copy of the list."""
        return list(self._control_inputs)

    def _add_control_input(self, op: Operation) -> None:
        self._add_control_inputs([op])

    def _add_control_inputs(self, ops: Iterable[Operation]) -> None:
        """Wait for these operations too.

        Raises:
          RuntimeError: an element is not an Operation.

        """
        known = dict.fromkeys((*self._control_inputs, *ops))
        for op in known:
            if not isinstance(op, Operation):
                raise RuntimeError(f"Expected a PyOperation got {op}")  # noqa: TRY004 - TensorFlow's class
        self._control_inputs = tuple(known)

    def _remove_all_control_inputs(self) -> None:
        """Wait for nothing but the inputs."""
        self._control_inputs = ()

    def _update_input(self, index: int, tensor: Tensor) -> None:
        """Take another tensor as the input of that number; a wrong dtype shows when it is run.

        Raises:
          ValueError: the tensor is of another graph.
          OutOfRangeError: there is no such input.
          InvalidArgumentError: the shapes are not compatible.

        """
        if tensor.graph is not self.graph:
            raise ValueError(f"{tensor} must be from the same graph as {self.name}.")
        if index >= len(self._inputs):
            raise OutOfRangeError(
                None,
                None,
                f"Cannot update edge. Input index [{index}] is greater than the number "
                f"of total inputs [{len(self._inputs)}].",
            )
        before = self._inputs[index]
        if not tensor.shape.is_compatible_with(before.shape):
            shown = " and ".join(bracketed(other.sizes) for other in (tensor, before))
            raise InvalidArgumentError(
                None, None, f"Cannot update edge, incompatible shapes: {shown}."
            )
        expected = self.graph.misfits.pop((self, index), before.dtype.base_dtype)
        if tensor.dtype.base_dtype != expected:
            self.graph.misfits[self, index] = expected
        self._replace_input(index, tensor)

    def _replace_input(self, index: int, tensor: Tensor) -> None:
        self._inputs[index]._drop_consumer(self)  # noqa: SLF001 - tensor and operation belong together
        tensor._add_consumer(self)  # noqa: SLF001 - the same
        self._inputs = (*self._inputs[:index], tensor, *self._inputs[index + 1 :])

    def _extend(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """Take more inputs and give more outputs; the attributes are set apart."""
        for tensor in inputs:
            tensor._add_consumer(self)  # noqa: SLF001 - tensor and operation belong together
        self._inputs = (*self._inputs, *inputs)
        self._outputs.extend(outputs)

    @property
    def _input_types(self) -> list[DType]:
        """The dtypes of the inputs as declared: reference dtypes where inputs may be written to."""
        taken = self.declaration.inputs
        refs = [arg.is_ref for arg in taken] if len(taken) == len(self._inputs) else []
        refs += [False] * (len(self._inputs) - len(refs))
        return [
            tensor.dtype if is_ref else tensor.dtype.base_dtype
            for tensor, is_ref in zip(self._inputs, refs, strict=True)
        ]

    @property
    def _output_types(self) -> list[int]:
        """The dtype of each output, as the number of DataType."""
        return [int(tensor.dtype.as_datatype_enum) for tensor in self._outputs]

    @property
    def traceback(self) -> list[FrameSummary]:
        """The stack where it was created: the innermost frames of the program, outermost first."""
        return self.site.frames()

    @property
    def site(self) -> Site:
        """Where it was created."""
        return Site(self._frames)

    def colocation_groups(self) -> list[bytes]:
        """The groups it must share a device with; its own if it is in no other."""
        groups = self.extra.get("_class")
        own = [b"loc:@" + self.name.encode()]
        if groups is None:
            return own
        return [item for item in groups.list.s if item.startswith(b"loc:@")] or own

    def get_attr(self, name: str) -> Any:
        """An attribute as TensorFlow shows it: DType, bytes, int, float, bool, protos, lists.

        Raises:
          ValueError: there is no such attribute.

        """
        if name in self.attrs:
            attr = self.declaration.attr(name)
            assert attr is not None
            return attr_values.shown(attr.type, self.attrs[name])
        if name in self.extra:
            return attr_values.shown_proto(self.extra[name])
        raise bad_value(f"Operation '{self.name}' has no attr named '{name}'.", self)

    def _get_control_flow_context(self) -> Any:
        """The branch or loop that it is in; None in none."""
        return self._control_flow_context

    def _set_attr(self, name: str, value: AttrValue) -> None:
        """Set an attribute from its AttrValue."""
        attr = self.declaration.attr(name)
        if attr is None:
            self.extra[name] = value
            self.graph.kinds.add(self.kind)
        else:
            self.attrs = {**self.attrs, name: attr_values.from_proto(value, attr.type)}

    def _clear_attr(self, name: str) -> None:
        """Take an undeclared attribute back; nothing happens if there is none."""
        self.extra.pop(name, None)

    @property
    def node_def(self) -> NodeDef:
        """The NodeDef, a new one at every access."""
        return self.to_proto()

    def to_proto(self, *, add_shapes: bool = False, is_sorted: bool = False) -> NodeDef:
        """The NodeDef.

        Args:
          add_shapes: whether the static shapes are an attribute `_output_shapes`.
          is_sorted: whether its control inputs stand by name, not as they came.

        """
        controls: Iterable[str] = ("^" + op.name for op in self._control_inputs)
        node = NodeDef(name=self.name, op=self.type, device=self._device)
        node.input.extend(tensor._as_node_def_input() for tensor in self._inputs)  # noqa: SLF001 - the two make a node together
        node.input.extend(sorted(controls) if is_sorted else controls)
        for attr in self.declaration.attrs:
            attr_values.write(self.attrs[attr.name], attr.type, node.attr[attr.name])
        for name, value in self.extra.items():
            node.attr[name].CopyFrom(value)
        if add_shapes and self._outputs:
            shapes = [tensor.sizes for tensor in self._outputs]
            attr_values.write(shapes, "list(shape)", node.attr["_output_shapes"])
        if self.notes is not None:
            node.MergeFrom(self.notes)
        return node

    @property
    def op_def(self) -> OpDef:
        """The OpDef of its op type."""
        return attr_values.op_def(self.declaration)

    def run(self, feed_dict: FeedDict | None = None, session: DefaultSession | None = None) -> None:
        """Run it in `session`, or in the default session.

        Raises:
          ValueError: there is no session, or its graph is another.

        """
        session = session if session is not None else get_default_session()
        if session is None:
            raise ValueError(
                "Cannot execute operation using `run()`: No default session is registered. Use "
                "`with sess.as_default():` or pass an explicit session to `run(session=sess)`"
            )
        if session.graph is not self.graph:
            raise ValueError(
                "Cannot use the given session to execute operation: "
                "the operation's graph is different from the session's graph."
            )
        session.run(self, feed_dict)

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("cannot pickle 'Operation' object")

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __str__(self) -> str:
        return str(self.node_def)
