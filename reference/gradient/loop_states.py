"""The loops between the ends of one call of `gradients`, and the ways back through them.

An exit of a loop is held back until all exits are reached: either each of them has a gradient then,
zeros where nothing depends on it, or none has. Source: TF 2.21.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from sessrun.reference.api.control_flow.context import (
    Context,
    context_after,
    is_loop_switch,
    loop_around,
    switched,
)
from sessrun.reference.api.ops.fill_ops import zeros, zeros_like
from sessrun.reference.api.ops.shape_ops import shape_internal
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.gradient.control_flow import zeros_for
from sessrun.reference.gradient.loop_gradients import LoopGradient
from sessrun.reference.gradient.loop_rounds import next_value
from sessrun.reference.gradient.variables import zeros_of_variable
from sessrun.reference.graph import stacks
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["Loops", "is_exit", "loops_between"]

Beside = Callable[[Operation], AbstractContextManager[None]]


def is_exit(op: Operation) -> bool:
    """Whether it is where a value leaves a loop."""
    return op.type in {"Exit", "RefExit"}


def _context(op: Operation) -> Context | None:
    context: Context | None = op._control_flow_context  # noqa: SLF001 - the two belong together
    return context


class Loops:
    """The ways back through all loops between the ends.

    Args:
      between: the operations between the ends, to which exits are added.
      beside: where what is made for an operation is placed.

    """

    def __init__(self, between: dict[Operation, None], beside: Beside) -> None:
        self._states: dict[Any, LoopGradient] = {}
        for op in list(between):
            if is_exit(op) and loop_around(_context(op)) not in self._states:
                with beside(op):
                    self._add(loop_around(_context(op)), between)

    def _add(self, forward: Any, between: dict[Operation, None]) -> None:
        if forward is None:
            raise AttributeError(
                "Cannot differentiate a loop of an imported graph that says nothing of its loops."
            )
        outer = self._states.get(loop_around(forward.outer_context))
        state = self._states[forward] = LoopGradient(forward, outer)
        between.update((each.op, None) for each in state.exits if each.op not in between)

    def _state(self, op: Operation, *, before: bool = False) -> LoopGradient | None:
        """The way back through the loop that an operation is in; before an Exit, around it."""
        context = context_after(op) if before else _context(op)
        return self._states.get(loop_around(context))

    def entered(self, op: Operation, *, before: bool = False) -> AbstractContextManager[None]:
        """Where the gradients of an operation are made.

        Args:
          op: the operation.
          before: whether it is those of its outputs, which of an Exit are outside.

        """
        state = self._state(op, before=before)
        return nullcontext() if state is None else state.backward.entered()

    # -- exits

    def unused_exits(
        self, uses: Counter[Operation], targets: Collection[Operation]
    ) -> list[Tensor]:
        """The exits that are gone back through although nothing is used of them.

        Args:
          uses: how often each operation between the ends is used; changed.
          targets: the operations that are begun with.

        """
        found: list[Tensor] = []
        for state in self._states.values():
            for each in state.exits:
                if uses[each.op] == 0:
                    state.pending -= 1
                    if each.op not in targets:
                        state.unused.append(each)
                    if state.pending == 0:
                        found.extend(state.unused)
            for each in state.forward.enters:
                if uses[each.op] == 0:
                    uses[each.op] = 1
        return found

    def ready(
        self, exited: Tensor, has_gradient: Callable[[Operation], bool]
    ) -> Iterator[tuple[Tensor, bool]]:
        """The exits that can be gone back through once this one is reached.

        Each comes with whether it needs zeros as its gradient.
        """
        state = self._state(exited.op)
        if state is None:
            return
        state.deferred.append(exited)
        state.pending -= 1
        if state.pending:
            return
        is_any = False
        for each in state.deferred:
            if has_gradient(each.op):
                is_any = True
                yield each, False
            else:
                state.unused.append(each)
        for each in state.unused:
            yield each, is_any

    def zeros_for_exit(self, value: Tensor) -> Tensor:
        """The gradient of an exit that nothing depends on, where another one has some."""
        forward: Any = _context(value.op)
        outer = self._states.get(loop_around(forward.outer_context))
        is_known = value.shape.is_fully_defined()
        if outer is None:
            if is_known:
                return zeros(value.shape.as_list(), value.dtype)
            return zeros_like(value, optimize=False)
        if is_known:
            with outer.backward.entered():
                return zeros(value.shape.as_list(), value.dtype)
        with forward.around():
            shape = shape_internal(value, optimize=False)
        stack = outer.push(shape)
        with outer.backward.entered():
            return zeros(outer.pop(stack, shape), value.dtype)

    # -- outputs that nothing depends on

    def zeros_for(self, output: Tensor) -> Tensor | None:
        """The gradient of an output that nothing depends on; None at a loop's condition."""
        op = output.op
        if is_loop_switch(op):
            return None
        if stacks.get_default_graph().building_function:
            return zeros_like(output)
        state = self._states.get(loop_around(_context(op)))
        if state is None:
            return zeros_for(output)
        if not output.shape.is_fully_defined():
            return _zeros_of_kept_shape(output, state)
        if output.dtype == dtypes.resource:
            result = zeros_of_variable(output)
        else:
            result = constant(0, shape=output.shape.as_list(), dtype=output.dtype)
        if op.type in {"Switch", "RefSwitch"}:
            branch: Any = _context(op)
            result = switched(result, state.known[branch.pred])[1 - branch.branch]
        return result

    def finish(self) -> None:
        """Close the loops of variables whose last value does not depend on the one before."""
        for state in self._states.values():
            for start in state.merges.values():
                for part in [start] if isinstance(start, Tensor) else start.parts():
                    first, second = part.op.inputs
                    if first is second:
                        _close_with_zeros(part, state)


def _zeros_of_kept_shape(output: Tensor, state: LoopGradient) -> Tensor:
    """Zeros in the shape that an output had in the iteration that is gone back through."""
    op, context = output.op, _context(output.op)
    assert context is not None  # it is in a loop
    is_dead = op.type in {"Switch", "RefSwitch"}
    if is_dead:
        branch: Any = context
        with branch.around():
            other = switched(op.inputs[0], branch.pred)[1 - branch.branch]
            shape = shape_internal(other, optimize=False)
        for each in (other, shape):
            branch.settles(each.op)
    else:
        with context.entered():
            shape = shape_internal(output, optimize=False)
    with state.backward.left():
        stack = state.push(shape, is_dead=is_dead)
    return zeros(state.pop(stack, shape, is_dead=is_dead), output.dtype)


def _close_with_zeros(start: Tensor, state: LoopGradient) -> None:
    first = start.op.inputs[0]
    if first.shape.is_fully_defined():
        with state.backward.entered():
            value = constant(0, dtype=first.dtype, shape=first.shape.as_list())
            next_value(start, value)
        return
    with state.backward.around():
        value = zeros(shape_internal(first.op.inputs[0], optimize=False))
    with state.backward.entered():
        next_value(start, value)


def loops_between(between: dict[Operation, None], beside: Beside) -> Loops | None:
    """The loops between the ends; None if there are none."""
    return Loops(between, beside) if any(map(is_exit, between)) else None
