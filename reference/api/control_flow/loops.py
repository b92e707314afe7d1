"""The inside of a loop: what comes in by an Enter, goes round, and out by an Exit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import Structure
from sessrun.reference.api.control_flow.context import (
    Context,
    calls_function,
    containing_loop,
    is_constant_enter,
    op_type_for,
    output_context,
    switched,
)
from sessrun.reference.api.control_flow.flow_values import flow_of, merged, with_flow
from sessrun.reference.api.control_flow.invariants import is_within, shape_after_iteration
from sessrun.reference.base.flow_ops import ENTERS
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.build import apply_op, apply_unary
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.errors import bad_value
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.name_prefixes import under, without
from sessrun.reference.graph.operation import CALLS, Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import AttrValue, WhileContextDef
from sessrun.spec.proto.foreign import adopt

__all__ = ["Loop", "LoopOptions"]

_OF_SHAPES: Final = frozenset({"Shape", "Size", "Rank"})


@dataclass(frozen=True, slots=True)
class LoopOptions:
    """The options of a `while_loop`.

    Attributes:
      parallel_iterations: how many iterations may run side by side.
      back_prop: whether it may be differentiated.
      swap_memory: whether values kept for gradients may leave the device.
      maximum_iterations: the most iterations, or None.

    """

    parallel_iterations: int = 10
    back_prop: bool = True
    swap_memory: bool = False
    maximum_iterations: Tensor | None = None


class Loop(Context):
    """The inside of a loop.

    Args:
      options: its options.
      name: its name, which is made unique in the graph.
      gradient: the `LoopGradient` that it is the backward loop of; None for a program's loop.

    Attributes:
      options: its options.
      gradient: as given.
      condition: the output of its LoopCond: whether another iteration follows.
      enters: the outputs of the loop variables' Enters.
      exits: the outputs of the loop variables' Exits.

    """

    condition: Tensor

    def __init__(
        self, options: LoopOptions, name: str = "while_context", gradient: Any = None
    ) -> None:
        super().__init__(default_graph.get_default_graph().unique_name(name))
        self.options = options
        self.gradient = gradient
        self.enters: list[Tensor] = []
        self.exits: list[Tensor] = []
        self._pivots: list[Tensor] = []

    @classmethod
    def from_proto(cls, context_def: object, import_scope: str | None = None) -> Loop:
        """The loop that a WhileContextDef describes, in the default graph.

        Args:
          context_def: the message, ours or TensorFlow's.
          import_scope: the name scope that its operations were imported under, or None. The
            attribute `frame_name` of its Enters gets the scope, too.

        Raises:
          KeyError: the graph does not have what it names.

        """
        message = adopt(context_def, WhileContextDef)
        graph = default_graph.get_default_graph()

        def named(name: str) -> Tensor:
            return graph.get_tensor_by_name(under(import_scope, name))

        most = message.maximum_iterations_name
        loop = cls(
            LoopOptions(
                message.parallel_iterations,
                message.back_prop,
                message.swap_memory,
                named(most) if most else None,
            ),
            message.context_name,
        )
        loop.name = under(import_scope, message.context_name)
        loop._pivots = [named(message.pivot_for_pred_name), named(message.pivot_for_body_name)]
        loop.condition = named(message.pivot_name)
        loop.exits = [named(name) for name in message.loop_exit_names]
        loop.enters = [named(name) for name in message.loop_enter_names]
        loop._restore(message, import_scope)
        if import_scope:
            frame = AttrValue(s=loop.name.encode())
            for tensor in loop._known:
                if tensor.op.type in ENTERS:
                    tensor.op._set_attr("frame_name", frame)  # noqa: SLF001 - it is being built here
        return loop

    def to_proto(self, export_scope: str | None = None) -> WhileContextDef | None:
        """The loop as a WhileContextDef; None if it is not in the name scope to be exported."""
        if export_scope is not None and not self.name.startswith(export_scope):
            return None

        def named(tensor: Tensor | None) -> str:
            return "" if tensor is None else without(export_scope, tensor.name)

        options, (start, inside) = self.options, self._pivots
        message = WhileContextDef(
            parallel_iterations=options.parallel_iterations,
            back_prop=options.back_prop,
            swap_memory=options.swap_memory,
            pivot_name=named(self.condition),
            pivot_for_pred_name=named(start),
            pivot_for_body_name=named(inside),
            loop_exit_names=map(named, self.exits),
            loop_enter_names=map(named, self.enters),
            maximum_iterations_name=named(options.maximum_iterations),
        )
        self._write_shared_fields(message, export_scope)
        return message

    @property
    def pivot(self) -> Tensor | None:
        """A tensor that is alive in every iteration: of the condition first, then of the body."""
        return self._pivots[-1] if self._pivots else None

    def set_pivot(self, pivot: Tensor) -> None:
        """Set the pivot of operations created from now on."""
        self._pivots.append(pivot)

    def loop(self) -> Loop:
        """The loop itself."""
        return self

    def value_inside(self, value: Tensor) -> Tensor:
        """The output of a constant Enter for a tensor from outside; another tensor itself.

        In a backward loop a tensor of the forward loop is one saved on a stack.
        """
        if value in self._known or value.op._control_flow_context is self:  # noqa: SLF001 - the two belong together
            return self._inside.get(value, value)
        self._known.add(value)
        remembered = self._saved_forward_value(value)
        if remembered is not None:
            self._inside[value] = remembered
            return remembered
        outside = value if self.outer_context is None else self.outer_context.value_inside(value)
        with self.graph.control_dependencies(None):
            inside = self.enter(outside, is_constant=True)
        self.graph.prevent_feeding(inside)
        self._add_enters([inside])
        self._known.add(inside)
        self._inside[value] = inside
        return inside

    def _saved_forward_value(self, value: Tensor) -> Tensor | None:
        """A tensor of the forward loop in the iteration that the backward loop differentiates.

        None if the tensor is not of the forward loop of the current backward loop.
        """
        here: Context | None = self.graph.scopes.control_flow
        loop: Any = containing_loop(here)
        if loop is None or loop.gradient is None:
            return None
        there = containing_loop(output_context(value.op))
        if there is not loop.gradient.forward:
            return None
        remembered: Tensor = loop.gradient.value_of(value)
        return remembered

    def add_new_op(self, op: Operation) -> None:
        """As `add_op`; a Shape, Size or Rank of a forward value is moved to the forward loop.

        So the shape is saved on a stack for the backward loop, not the value.
        """
        loop: Any = containing_loop(self.graph.scopes.control_flow)
        goes_back = loop is not None and loop.gradient is not None
        if op.type in _OF_SHAPES and goes_back:
            source = op.inputs[0].op._control_flow_context  # noqa: SLF001 - the two belong together
            if containing_loop(source) is loop.gradient.forward:
                source.set_context_of(op)
                source.add_op(op)
                return
        self.add_op(op)

    def add_op(self, op: Operation) -> None:
        """Add an operation: inputs from outside are replaced by Enters.

        An operation without an input or control input of the iteration gets the pivot as a
        control input.
        """
        if op.type in CALLS:
            self._wait_for_pivot(op)
        if op.inputs:
            self._bring_in_inputs(op)
            outer = self._drop_outer_edges(op)
            is_free = calls_function(op) or all(is_constant_enter(t.op) for t in op.inputs)
            if is_free and not op.control_inputs:
                self._wait_for_pivot(op)
        else:
            outer = self._drop_outer_edges(op)
            if not op.control_inputs:
                self._wait_for_pivot(op)
        self._known.update(op.outputs)
        self._bring_in_control_inputs(op, outer)
        if self._prevent_fetching(op):
            for tensor in op.outputs:
                op.graph.prevent_feeding(tensor)

    def _wait_for_pivot(self, op: Operation) -> None:
        if self.pivot is not None:
            op._add_control_input(self.pivot.op)  # noqa: SLF001 - it is being built here

    def _bring_in_control_inputs(self, op: Operation, outer: Sequence[Operation]) -> None:
        """Add control inputs for operations outside: the Enters of one output of each."""
        with self.graph.control_dependencies(None), self.entered():
            inside = [identity(other.outputs[0]).op for other in outer if other.outputs]
        if inside:
            op._add_control_inputs(inside)  # noqa: SLF001 - it is being built here

    def enter(
        self,
        value: Tensor,
        *,
        is_constant: bool = False,
        keeps_shape: bool = True,
        name: str | None = None,
    ) -> Tensor:
        """The output of a new Enter of this loop, with the shape of `value` if `keeps_shape`."""
        attrs = {
            "frame_name": self.name,
            "is_constant": is_constant,
            "parallel_iterations": self.options.parallel_iterations,
        }
        inputs: dict[str, object] = {"data": value}
        entered = apply_op(op_type_for("Enter", value), inputs, attrs, name).outputs[0]
        if keeps_shape:
            entered.set_shape(value.shape)
        return entered

    def _add_enters(self, entered: Sequence[Tensor]) -> None:
        """Add the Enters to this loop, with the open control inputs of enclosing contexts."""
        for tensor in entered:
            op = tensor.op
            kept = [
                other
                for other in self._open_controls(op.inputs[0].op)
                if self._is_around(output_context(other))
            ]
            op._control_flow_context = self  # noqa: SLF001 - the two belong together
            op._add_control_inputs(kept)  # noqa: SLF001 - it is being built here
            self.graph.scopes.note(op)

    def _open_controls(self, source: Operation) -> list[Operation]:
        scopes = self.graph.scopes
        return [] if scopes.control is None else scopes.control_inputs_of([source])

    def _is_around(self, there: Context | None) -> bool:
        """Whether a context is around this loop, within the same outer loop."""
        context = self.outer_context
        limit = None if context is None else context.loop()
        while context is not there:
            if context is None or context is limit:
                return False
            context = context.outer_context
        return True

    # -- building the loop

    def build(
        self,
        condition: Any,
        body: Any,
        structure: Structure,
        variables: list[Any],
        invariants: Any,
    ) -> tuple[Any, list[Tensor]]:
        """Build the loop.

        Args:
          condition: a function from the variables to a bool scalar: whether to go on.
          body: a function from the variables to those of the next iteration.
          structure: the variables, nested as the functions take them.
          variables: the same, flat.
          invariants: the shape invariants of the variables, flat; or None.

        Returns:
          The result of `body`, and the outputs of the Exits.

        """
        flows = [convert_to_tensor(flow_of(item)) for item in variables]
        entered = self._entered_variables(flows, invariants)
        starts = [merged([tensor, tensor]) for tensor in entered]
        self.set_pivot(starts[0])
        holds = convert_to_tensor(condition(*_packed(structure, variables, starts)))
        self.condition = apply_op("LoopCond", {"input": holds}, {}, "LoopCond").outputs[0]
        switches = [switched(tensor, self.condition) for tensor in starts]
        inside = [apply_unary(op_type_for("Identity", on), on) for _, on in switches]
        self.set_pivot(inside[0])
        given = _packed(structure, variables, inside)
        results = body(*given)
        if not nest.is_nested(results):
            results = [results]
        nest.assert_same_structure(list(given), list(results), expand_composites=True)
        flat = [
            convert_to_tensor(flow_of(item))
            for item in nest.flatten(results, expand_composites=True)
        ]
        if len(flat) != len(starts):
            raise ValueError(
                "Number of inputs and outputs of 'body' must match 'loop_vars'. Got "
                f"{len(starts)} for the number of inputs/outputs, and {len(flat)} for 'loop_vars'."
            )
        for start, value in zip(starts, flat, strict=True):
            _close(start, value)
        self.enters = entered
        exits = self.exits = [apply_unary(op_type_for("Exit", off), off) for off, _ in switches]
        self.add_known_outside(exits)
        return results, exits

    def _entered_variables(self, flows: list[Tensor], invariants: Any) -> list[Tensor]:
        self._known.update(flows)
        outer = self.outer_context
        real = [flow if outer is None else outer.value_inside(flow) for flow in flows]
        with self.graph.control_dependencies(None):
            entered = [
                self.enter(flow, is_constant=False, keeps_shape=invariants is None) for flow in real
            ]
        pivot, context = None, outer
        while context is not None and pivot is None:
            pivot, context = context.pivot, context.outer_context
        for tensor in entered:
            self.graph.prevent_feeding(tensor)
            if pivot is not None and is_constant_enter(tensor.op.inputs[0].op):
                tensor.op._add_control_input(pivot.op)  # noqa: SLF001 - it is being built here
        for before, tensor, shape in zip(real, entered, invariants or (), strict=bool(invariants)):
            _set_invariant(before, tensor, shape)
        self._add_enters(entered)
        self._known = set(entered)
        return entered


def _packed(structure: object, variables: list[Tensor], tensors: list[Tensor]) -> Any:
    values = [with_flow(like, tensor) for like, tensor in zip(variables, tensors, strict=True)]
    return nest.pack_sequence_as(structure, values, expand_composites=True)


def _set_invariant(before: Tensor, entered: Tensor, shape: TensorShape) -> None:
    """Set the shape invariant of a loop variable, after a check of its initial value's shape."""
    if not is_within(before.shape, shape):
        raise bad_value(
            f"The shape invariant specified for {before.name} is not compatible with the initial "
            f"shape of the loop variable. It enters the loop with shape {before.shape}, but the "
            f"specified shape invariant is {shape}."
        )
    entered.set_shape(shape)


def _close(start: Tensor, value: Tensor) -> None:
    """Pass a variable's value to the next iteration: NextIteration, an input of its Merge."""
    following = apply_unary(op_type_for("NextIteration", value), value)
    if not is_within(following.shape, start.shape):
        before = start.op.inputs[0].op.inputs[0]
        raise shape_after_iteration(f"'{before.name}'", before.shape, following.shape)
    start.op._update_input(1, following)  # noqa: SLF001 - the loop is being built here
