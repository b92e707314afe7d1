"""The loops between the sources and the targets of one call of `gradients`, and their gradients.

An exit of a loop is held back until all exits are reached: then either each of them has a gradient,
zeros where no target depends on it, or none has one. Source: TF 2.21.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, nullcontext

from sessrun.reference.api.control_flow.conditional import Conditional
from sessrun.reference.api.control_flow.context import (
    Context,
    is_loop_switch,
    output_context,
    switched,
)
from sessrun.reference.api.control_flow.loops import Loop
from sessrun.reference.api.ops.fill_ops import zeros, zeros_like
from sessrun.reference.api.ops.shape_ops import shape_internal
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.gradient.control_flow import zeros_for
from sessrun.reference.gradient.loop_accumulators import add_next_value
from sessrun.reference.gradient.loop_backprop import LoopGradient, innermost_loop
from sessrun.reference.gradient.variables import zeros_of_variable
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["Loops", "is_exit", "loops_between"]

Beside = Callable[[Operation], AbstractContextManager[None]]


def is_exit(op: Operation) -> bool:
    """Whether a value leaves a loop by this operation."""
    return op.type in {"Exit", "RefExit"}


def _context(op: Operation) -> Context | None:
    context: Context | None = op._control_flow_context  # noqa: SLF001 - the two belong together
    return context


class Loops:
    """The gradients of all loops between the sources and the targets.

    Args:
      between: the operations between them, to which exits are added.
      beside: returns the scope that colocates gradients with an operation.

    """

    def __init__(self, between: dict[Operation, None], beside: Beside) -> None:
        self._states: dict[Loop | None, LoopGradient] = {}
        for op in list(between):
            if is_exit(op) and innermost_loop(_context(op)) not in self._states:
                with beside(op):
                    self._add(innermost_loop(_context(op)), between)

    def _add(self, forward: Loop | None, between: dict[Operation, None]) -> None:
        if forward is None:
            raise AttributeError(
                "Cannot differentiate a loop of an imported graph that says nothing of its loops."
            )
        outer = self._states.get(innermost_loop(forward.outer_context))
        state = self._states[forward] = LoopGradient(forward, outer)
        between.update((out.op, None) for out in state.exits if out.op not in between)

    def _state(self, op: Operation, *, of_outputs: bool = False) -> LoopGradient | None:
        """The gradient of the loop that an operation, or what its outputs are used by, is in."""
        context = output_context(op) if of_outputs else _context(op)
        return self._states.get(innermost_loop(context))

    def scope(self, op: Operation, *, of_outputs: bool = False) -> AbstractContextManager[None]:
        """The scope in which the gradients of an operation are made.

        Args:
          op: the operation.
          of_outputs: whether those of its outputs are made, which for an Exit is outside the loop.

        """
        state = self._state(op, of_outputs=of_outputs)
        return nullcontext() if state is None else state.backward.entered()

    # -- exits

    def unused_exits(
        self, uses: Counter[Operation], targets: Collection[Operation]
    ) -> list[Tensor]:
        """The unused exits of the loops of which no exit is used; their turn comes at once.

        Args:
          uses: how many inputs each operation computes; changed.
          targets: the operations whose turn comes first.

        """
        exits: list[Tensor] = []
        for state in self._states.values():
            for out in state.exits:
                if uses[out.op] == 0:
                    state.pending -= 1
                    if out.op not in targets:
                        state.unused.append(out)
                    if state.pending == 0:
                        exits.extend(state.unused)
            for entered in state.forward.enters:
                if uses[entered.op] == 0:
                    uses[entered.op] = 1
        return exits

    def ready_exits(
        self, exited: Tensor, has_gradient: Callable[[Operation], bool]
    ) -> Iterator[tuple[Tensor, bool]]:
        """The exits whose turn comes once this one is reached: none, or all of its loop.

        Yields:
          An exit, and whether it needs zeros as its gradient.

        """
        state = self._state(exited.op)
        if state is None:
            return
        state.deferred.append(exited)
        state.pending -= 1
        if state.pending:
            return
        is_any = False
        for out in state.deferred:
            if has_gradient(out.op):
                is_any = True
                yield out, False
            else:
                state.unused.append(out)
        for out in state.unused:
            yield out, is_any

    def zeros_for_exit(self, value: Tensor) -> Tensor:
        """The gradient of an exit that no target depends on, where another exit has one."""
        forward = innermost_loop(_context(value.op))
        assert forward is not None  # an exit is in its loop
        outer = self._states.get(innermost_loop(forward.outer_context))
        is_known = value.shape.is_fully_defined()
        if outer is None:
            if is_known:
                return zeros(value.shape.as_list(), value.dtype)
            return zeros_like(value, optimize=False)
        if is_known:
            with outer.backward.entered():
                return zeros(value.shape.as_list(), value.dtype)
        with forward.outer_entered():
            shape = shape_internal(value, optimize=False)
        stack = outer.push(shape)
        with outer.backward.entered():
            return zeros(outer.pop(stack, shape), value.dtype)

    # -- outputs that nothing depends on

    def zeros_for(self, output: Tensor) -> Tensor | None:
        """The gradient of an output that no target depends on; None for a loop's Switch."""
        op = output.op
        if is_loop_switch(op):
            return None
        if default_graph.get_default_graph().building_function:
            return zeros_like(output)
        state = self._states.get(innermost_loop(_context(op)))
        if state is None:
            return zeros_for(output)
        if not output.shape.is_fully_defined():
            return _zeros_of_kept_shape(output, state)
        if output.dtype == dtypes.resource:
            result = zeros_of_variable(output)
        else:
            result = constant(0, shape=output.shape.as_list(), dtype=output.dtype)
        if op.type in {"Switch", "RefSwitch"}:
            branch = _context(op)
            assert isinstance(branch, Conditional)  # a loop's Switch has been ruled out
            result = switched(result, state.known[branch.pred])[1 - branch.branch]
        return result

    def finish(self) -> None:
        """Close the loops of variables whose last value does not depend on their first one."""
        for state in self._states.values():
            for start in state.merges.values():
                for part in [start] if isinstance(start, Tensor) else start.parts():
                    first, second = part.op.inputs
                    if first is second:
                        _close_with_zeros(part, state)


def _zeros_of_kept_shape(output: Tensor, state: LoopGradient) -> Tensor:
    """Zeros of the shape that an output had in the iteration that is differentiated."""
    op, context = output.op, _context(output.op)
    assert context is not None  # it is in a loop
    is_dead = op.type in {"Switch", "RefSwitch"}
    if is_dead:
        assert isinstance(context, Conditional)  # as above
        with context.outer_entered():
            other = switched(op.inputs[0], context.pred)[1 - context.branch]
            shape = shape_internal(other, optimize=False)
        for tensor in (other, shape):
            context.set_context_of(tensor.op)
    else:
        with context.entered():
            shape = shape_internal(output, optimize=False)
    with state.backward.suspended():
        stack = state.push(shape, is_dead=is_dead)
    return zeros(state.pop(stack, shape, is_dead=is_dead), output.dtype)


def _close_with_zeros(start: Tensor, state: LoopGradient) -> None:
    """Let zeros be the next value at a Merge whose inputs are both the first value."""
    first = start.op.inputs[0]
    if first.shape.is_fully_defined():
        with state.backward.entered():
            value = constant(0, dtype=first.dtype, shape=first.shape.as_list())
            add_next_value(start, value)
        return
    with state.backward.outer_entered():
        value = zeros(shape_internal(first.op.inputs[0], optimize=False))
    with state.backward.entered():
        add_next_value(start, value)


def loops_between(between: dict[Operation, None], beside: Beside) -> Loops | None:
    """The loops among the operations between sources and targets; None if there is no loop."""
    return Loops(between, beside) if any(map(is_exit, between)) else None
