"""`while_loop`: a body that is executed as long as a condition holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sessrun.reference import nest, stacks
from sessrun.reference.build import apply_op, apply_unary
from sessrun.reference.control_flow.context import (
    Context,
    context_after,
    is_constant_enter,
    op_type_for,
    switched,
)
from sessrun.reference.control_flow.values import flow_of, merged, with_flow
from sessrun.reference.conversion import convert_to_tensor
from sessrun.reference.errors import bad_value
from sessrun.reference.framework_ops import identity
from sessrun.reference.graph_keys import GraphKeys
from sessrun.reference.name_scopes import name_scope
from sessrun.reference.operation import Operation
from sessrun.reference.tensor import Tensor
from sessrun.reference.tensor_shape import TensorShape

__all__ = ["Loop", "while_loop"]


class Loop(Context):
    """The inside of a loop.

    Args:
      parallel_iterations: how many iterations may run side by side.

    """

    def __init__(self, parallel_iterations: int) -> None:
        super().__init__("while_context")
        self._parallel_iterations = parallel_iterations
        self._pivots: list[Tensor] = []

    @property
    def pivot(self) -> Tensor | None:
        """What is alive in every iteration: of the condition first, then of the body."""
        return self._pivots[-1] if self._pivots else None

    def loop(self) -> Loop:
        """The loop itself."""
        return self

    def value_inside(self, value: Tensor) -> Tensor:
        """A constant Enter for a tensor of outside; any other is itself."""
        if value in self._known or value.op._control_flow_context is self:  # noqa: SLF001 - the two belong together
            return self._inside.get(value, value)
        self._known.add(value)
        outside = value if self.outer_context is None else self.outer_context.value_inside(value)
        with self.graph.control_dependencies(None):
            inside = self._enter(outside, is_constant=True)
        self.graph.prevent_feeding(inside)
        self._settle([inside])
        self._known.add(inside)
        self._inside[value] = inside
        return inside

    def take(self, op: Operation) -> None:
        """Bring its inputs in; one that could run before the iteration waits for the pivot."""
        if op.inputs:
            self._bring_in_inputs(op)
            outer = self._drop_outer_edges(op)
            if not op.control_inputs and all(is_constant_enter(t.op) for t in op.inputs):
                self._wait_for_pivot(op)
        else:
            outer = self._drop_outer_edges(op)
            if not op.control_inputs:
                self._wait_for_pivot(op)
        self._known.update(op.outputs)
        self._pull_in(op, outer)
        if self._hide(op):
            for tensor in op.outputs:
                op.graph.prevent_feeding(tensor)

    def _wait_for_pivot(self, op: Operation) -> None:
        if self.pivot is not None:
            op._add_control_input(self.pivot.op)  # noqa: SLF001 - it is being made here

    def _pull_in(self, op: Operation, outer: Sequence[Operation]) -> None:
        """Wait for operations of outside by a value of theirs that comes into the loop."""
        with self.graph.control_dependencies(None), self.entered():
            found = [identity(other.outputs[0]).op for other in outer if other.outputs]
        if found:
            op._add_control_inputs(found)  # noqa: SLF001 - it is being made here

    def _enter(
        self, value: Tensor, *, is_constant: bool, keeps_shape: bool = True
    ) -> Tensor:
        attrs = {
            "frame_name": self.name, "is_constant": is_constant,
            "parallel_iterations": self._parallel_iterations,
        }  # fmt: skip
        inputs: dict[str, object] = {"data": value}
        entered = apply_op(op_type_for("Enter", value), inputs, attrs).outputs[0]
        if keeps_shape:
            entered.set_shape(value.shape)
        return entered

    def _settle(self, entered: Sequence[Tensor]) -> None:
        """Put what enters into this loop, with the control inputs that hold outside of it."""
        for tensor in entered:
            op = tensor.op
            kept = [
                other
                for other in self._open_controls(op.inputs[0].op)
                if self._is_around(context_after(other))
            ]
            op._control_flow_context = self  # noqa: SLF001 - the two belong together
            op._add_control_inputs(kept)  # noqa: SLF001 - it is being made here
            if self.graph.scopes.control is not None:
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

    # -- the whole

    def build(
        self, condition: Any, body: Any, structure: Any, variables: list[Any], invariants: Any
    ) -> tuple[Any, list[Tensor]]:
        """Build the loop.

        Args:
          condition: from the variables to whether another iteration comes.
          body: from the variables to those of the next iteration.
          structure: the variables, nested as the functions take them.
          variables: the same, flat.
          invariants: shapes that hold in every iteration, flat; or None.

        Returns:
          What the body returned, and the tensors that come out of the loop.

        """
        flows = [convert_to_tensor(flow_of(each)) for each in variables]
        entered = self._entered_variables(flows, invariants)
        starts = [merged([tensor, tensor]) for tensor in entered]
        self._pivots.append(starts[0])
        going_on = convert_to_tensor(condition(*_packed(structure, variables, starts)))
        goes_on = apply_op("LoopCond", {"input": going_on}, {}, "LoopCond").outputs[0]
        switches = [switched(tensor, goes_on) for tensor in starts]
        inside = [identity(on) for _, on in switches]
        self._pivots.append(inside[0])
        given = _packed(structure, variables, inside)
        results = body(*given)
        if not nest.is_nested(results):
            results = [results]
        nest.assert_same_structure(list(given), list(results), expand_composites=True)
        flat = [convert_to_tensor(flow_of(each))
                for each in nest.flatten(results, expand_composites=True)]  # fmt: skip
        if len(flat) != len(starts):
            raise ValueError(
                "Number of inputs and outputs of 'body' must match 'loop_vars'. Got "
                f"{len(starts)} for the number of inputs/outputs, and {len(flat)} for 'loop_vars'."
            )
        for start, value in zip(starts, flat, strict=True):
            _close(start, value)
        exits = [apply_unary(op_type_for("Exit", off), off) for off, _ in switches]
        self.leave_with(exits)
        return results, exits

    def _entered_variables(self, flows: list[Tensor], invariants: Any) -> list[Tensor]:
        self._known.update(flows)
        outer = self.outer_context
        real = [each if outer is None else outer.value_inside(each) for each in flows]
        with self.graph.control_dependencies(None):
            entered = [
                self._enter(each, is_constant=False, keeps_shape=invariants is None)
                for each in real
            ]
        pivot, context = None, outer
        while context is not None and pivot is None:
            pivot, context = context.pivot, context.outer_context
        for tensor in entered:
            self.graph.prevent_feeding(tensor)
            if pivot is not None and is_constant_enter(tensor.op.inputs[0].op):
                tensor.op._add_control_input(pivot.op)  # noqa: SLF001 - it is being made here
        for before, tensor, shape in zip(real, entered, invariants or (), strict=bool(invariants)):
            _hold(before, tensor, shape)
        self._settle(entered)
        self._known = set(entered)
        return entered


def _packed(structure: Any, variables: list[Any], tensors: list[Tensor]) -> Any:
    values = [with_flow(like, each) for like, each in zip(variables, tensors, strict=True)]
    return nest.pack_sequence_as(structure, values, expand_composites=True)


def _hold(before: Tensor, entered: Tensor, shape: TensorShape) -> None:
    if not _is_within(before.shape, shape):
        raise bad_value(
            f"The shape invariant specified for {before.name} is not compatible with the initial "
            f"shape of the loop variable. It enters the loop with shape {before.shape}, but the "
            f"specified shape invariant is {shape}."
        )
    entered.set_shape(shape)


def _close(start: Tensor, value: Tensor) -> None:
    """Let the next iteration begin with this value."""
    following = apply_unary(op_type_for("NextIteration", value), value)
    if not _is_within(following.shape, start.shape):
        before = start.op.inputs[0].op.inputs[0]
        raise bad_value(
            f"Input tensor '{before.name}' enters the loop with shape {before.shape}, but has "
            f"shape {following.shape} after one iteration. To allow the shape to vary across "
            "iterations, use the `shape_invariants` argument of tf.while_loop to specify a "
            "less-specific shape."
        )
    start.op._update_input(1, following)  # noqa: SLF001 - the loop is being made here


def _is_within(shape: TensorShape, wider: TensorShape) -> bool:
    if wider.dims is None:
        return True
    if shape.ndims != wider.ndims:
        return False
    pairs = zip(shape.as_list(), wider.as_list(), strict=True)
    return all(most is None or size == most for size, most in pairs)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,  # noqa: ARG001 - no gradient asks yet
    swap_memory: bool = False,  # noqa: ARG001 - nothing is swapped here
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """Execute `body` as long as `cond` holds.

    Args:
      cond: from the loop's variables to a bool scalar.
      body: from the loop's variables to their next values, of the same structure and dtypes.
      loop_vars: the variables' first values; they may be nested.
      shape_invariants: the shapes that hold in every iteration, nested as the variables are; by
        default those of the first values.
      parallel_iterations: how many iterations may run side by side.
      back_prop: whether gradients will be asked for.
      swap_memory: whether values kept for gradients may leave the device.
      name: a name scope.
      maximum_iterations: the most iterations, or None.
      return_same_structure: whether one variable comes back in a list, too.

    Raises:
      TypeError: a function cannot be called, or the structures differ in kind.
      ValueError: there is no variable, the structures or shapes differ, or a shape is not what
        holds in every iteration.

    """
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    with name_scope(name, "while", loop_vars if isinstance(loop_vars, list | tuple) else None):
        if not loop_vars:
            raise ValueError("'loop_vars' must be provided.")
        is_single = len(loop_vars) == 1 and not return_same_structure
        if maximum_iterations is not None:
            counted = _counted(cond, body, loop_vars, maximum_iterations, is_single=is_single)
            result = _built(*counted, shape_invariants, parallel_iterations, is_counted=True)
            return result[1]
        result = _built(cond, body, loop_vars, shape_invariants, parallel_iterations)
        return result[0] if is_single and len(nest.flatten(result, True)) == 1 else result


def _counted(
    cond: Any, body: Any, loop_vars: Any, maximum: Any, *, is_single: bool
) -> tuple[Any, Any, Any]:
    """The same loop with a counter before its variables."""
    limit = convert_to_tensor(maximum, name="maximum_iterations")
    if limit.shape.ndims != 0:
        raise ValueError(
            f"'maximum_iterations' must be a scalar. Received shape: {limit.shape}"
        )
    counter = convert_to_tensor(0, limit.dtype, name="iteration_counter")

    def args(values: Any) -> Any:
        return (values,) if is_single else values

    def goes_on(count: Any, values: Any) -> Any:
        less = apply_op("Less", {"x": count, "y": limit}, {}).outputs[0]
        return apply_op("LogicalAnd", {"x": less, "y": cond(*args(values))}, {}).outputs[0]

    def following(count: Any, values: Any) -> Any:
        return count + 1, body(*args(values))

    return goes_on, following, (counter, loop_vars[0] if is_single else loop_vars)


def _built(
    cond: Any,
    body: Any,
    loop_vars: Any,
    invariants: Any,
    parallel: int,
    *,
    is_counted: bool = False,
) -> Any:
    graph = stacks.get_default_graph()
    loop = Loop(parallel)
    if loop.outer_context is None:
        graph.add_to_collection(GraphKeys.WHILE_CONTEXT, loop)
    if is_counted and invariants is not None:
        is_alone = len(invariants) == 1 and not isinstance(loop_vars[1], list | tuple)
        invariants = (TensorShape([]), invariants[0] if is_alone else invariants)
    variables = nest.flatten(loop_vars, expand_composites=True)
    variables = [each if flow_of(each) is not each else convert_to_tensor(each)
                 for each in variables]  # fmt: skip
    shapes = None if invariants is None else _shapes(loop_vars, invariants)
    with loop.entered():
        results, exits = loop.build(cond, body, loop_vars, variables, shapes)
    leaves = nest.flatten(results, expand_composites=True)
    values = [with_flow(leaf, each) for leaf, each in zip(leaves, exits, strict=True)]
    return nest.pack_sequence_as(results, values, expand_composites=True)


def _shapes(loop_vars: Any, invariants: Any) -> list[TensorShape]:
    nest.assert_same_structure(loop_vars, invariants, expand_composites=False)
    shapes = nest.flatten(invariants)
    if not all(isinstance(shape, TensorShape) for shape in shapes):
        raise TypeError(
            f"'shape_invariants' must be TensorShapes, nested as the variables, not {shapes}"
        )
    return shapes


EXPORTS: Final[Mapping[str, Any]] = {"while_loop": while_loop}
