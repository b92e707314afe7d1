"""The way back through one loop: as many iterations, the last one first.

What an iteration of the way back needs of the one that it goes back through is kept on a stack: the
forward loop pushes, the backward one pops. Source: TF 2.21.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from sessrun.reference.api.control_flow.conditional import Conditional
from sessrun.reference.api.control_flow.context import constant_enter_of, context_after, switched
from sessrun.reference.api.control_flow.loops import Loop
from sessrun.reference.api.control_flow.xla_contexts import is_in_xla_context, size_of_stack
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.gradient_nodes import node
from sessrun.reference.build.static_values import constant_value
from sessrun.reference.gradient.loop_rounds import counted_backward, counted_forward
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["LoopGradient"]


class LoopGradient:
    """The way back through one loop, for one call of `gradients`.

    Args:
      forward: the loop.
      outer: the way back through the loop around it, or None.

    Attributes:
      forward: the loop that is gone back through.
      backward: the loop that goes back.
      outer: as given.
      known: what forward values were, by the value: in the iteration that is gone back through.
      merges: for each Switch of the forward loop the Merge of its gradients.
      exits: the exits of the forward loop's variables.
      pending: how many of them have not been reached on the way back.
      unused: exits that no gradient comes from.
      deferred: exits that wait until all of them are reached.

    """

    def __init__(self, forward: Loop, outer: LoopGradient | None) -> None:
        self.forward = forward
        self.outer = outer
        self.known: dict[Tensor, Tensor] = {}
        self.merges: dict[Operation, Any] = {}
        self.exits = list(forward.exits)
        self.pending = len(self.exits)
        self.unused: list[Tensor] = []
        self.deferred: list[Tensor] = []
        self._graph = forward.graph
        self._forward_sync: Operation | None = None
        self._backward_sync: Operation | None = None
        around = forward.outer_context if outer is None else outer.forward
        with nullcontext() if around is None else around.entered():
            after = None if outer is None else outer.counting
            count, self._forward_index = counted_forward(forward, after)
        if outer is None:
            with nullcontext() if around is None else around.entered():
                self._go_back(count)
            return
        outer.forward.knows_here(count)
        stack = outer.push(count)
        with outer.backward.entered():
            self._go_back(None, lambda: outer.pop(stack, count))

    def _go_back(self, count: Tensor | None, popped: Any = None) -> None:
        """Make the loop that goes back, as often as the other went forth."""
        self.backward = Loop(self.forward.options, self.forward.name, self)
        times = popped() if count is None else count
        self._backward_index, final = counted_backward(self.backward, times)
        if self.outer is not None:
            self.outer.backward_sync._add_control_input(final.op)  # noqa: SLF001 - it is being made here

    @property
    def counting(self) -> Operation:
        """What counts the iterations forth."""
        return self._forward_index.op.inputs[0].op

    @property
    def forward_sync(self) -> Operation:
        """What is done in each iteration before the next one: pushes in branches."""
        if self._forward_sync is None:
            self._forward_sync = self._trigger("f_sync", self.forward, self._forward_index)
        return self._forward_sync

    @property
    def backward_sync(self) -> Operation:
        """What is done in each iteration back before the next one: pops."""
        if self._backward_sync is None:
            self._backward_sync = self._trigger("b_sync", self.backward, self._backward_index)
        return self._backward_sync

    def _trigger(self, name: str, loop: Loop, index: Tensor) -> Operation:
        with self._graph.control_dependencies(None):
            found = apply_op("ControlTrigger", {}, {}, name)
        loop.settles(found)
        index.op._add_control_input(found)  # noqa: SLF001 - the loop is being made here
        return found

    # -- what is kept

    def push(self, value: Tensor, *, is_dead: bool = False) -> Tensor:
        """Keep a value of each iteration of the forward loop.

        Args:
          value: a tensor inside of it.
          is_dead: whether it is there where its branch is not taken.

        Returns:
          The stack that it is kept on.

        Raises:
          TypeError: the value is inside of something else than a branch.
          ValueError: it is to be compiled by XLA, and how often a loop goes round is not known.

        """
        here = self._graph.scopes.control_flow
        dtype = value.dtype.base_dtype
        with self._graph.control_dependencies(None):
            with (
                nullcontext() if here is None else here.entered(),
                self._graph.colocate_with(value),
            ):
                if is_in_xla_context(value.op):
                    size = size_of_stack(value, self.forward)
                else:
                    size = constant(-1, dtypes.int32)
                stack: Tensor = node("StackV2", size, elem_type=dtype, name="f_acc")
            entered = self.forward.value_inside(stack)
            swap = self.forward.options.swap_memory
            there: Any = context_after(value.op)
            if there is self.forward:
                with there.entered():
                    pushed = node("StackPushV2", entered, value, swap_memory=swap)
                self._forward_index.op._add_control_input(pushed.op)  # noqa: SLF001 - as above
            else:
                if not isinstance(there, Conditional):
                    raise TypeError(f"value_ctxt is not a CondContext: {there}")
                around = there.around() if is_dead else there.entered()
                with around:
                    pushed = node("StackPushV2", entered, value, swap_memory=swap)
                there.settles(pushed.op)
                self.forward_sync._add_control_input(pushed.op)  # noqa: SLF001 - as above
            pushed.op._add_control_input(self.counting)  # noqa: SLF001 - as above
        return stack

    def pop(self, stack: Tensor, value: Tensor, *, is_dead: bool = False) -> Tensor:
        """What a value was in the iteration that is gone back through.

        Args:
          stack: what `push` returned.
          value: what was pushed.
          is_dead: as for `push`.

        """
        branch = _branch_around(value, stack)
        with self._graph.control_dependencies(None), self.backward.entered():
            if branch is not None:
                side = 1 - branch.branch if is_dead else branch.branch
                stack = switched(stack, self._real_pred(branch.pred))[side]
            popped: Tensor = node("StackPopV2", stack, elem_type=value.dtype.base_dtype)
            popped.set_shape(value.shape)
        if self.backward.options.parallel_iterations > 1:
            self.backward_sync._add_control_input(popped.op)  # noqa: SLF001 - as above
        return popped

    def _real_pred(self, pred: Tensor) -> Tensor:
        """What a branch's predicate was, if it has been asked for."""
        state: LoopGradient | None = self
        while state is not None:
            if pred in state.known:
                return state.known[pred]
            state = state.outer
        return pred

    def pred_of(self, pred: Tensor) -> Tensor:
        """What a branch's predicate was; called inside of the loop that goes back."""
        if pred not in self.known:
            with self.backward.left():
                stack = self.push(pred)
            self.known[pred] = self.pop(stack, pred)
        return self.known[pred]

    def value_of(self, value: Tensor) -> Tensor:
        """What a forward value was; called inside of the loop that goes back."""
        if value not in self.known:
            self.known[value] = self._value_of(value)
        return self.known[value]

    def _value_of(self, value: Tensor) -> Tensor:
        state, current = self, value
        while (enter := constant_enter_of(current)) is not None:
            current = enter.inputs[0]
            if state.outer is None:
                return self.backward.value_inside(current)
            state = state.outer
        if current.op.type == "Const":
            return constant(constant_value(current), dtype=current.dtype)
        with self.backward.left():
            stack = state.push(current)
        found = state.pop(stack, current)
        return found if state is self else self.backward.value_inside(found)


def _branch_around(value: Tensor, stack: Tensor) -> Conditional | None:
    """The innermost branch that a value is in, within what the stack was made in."""
    context = value.op._control_flow_context  # noqa: SLF001 - the two belong together
    limit = stack.op._control_flow_context  # noqa: SLF001 - the same
    while context is not None and context is not limit:
        if isinstance(context, Conditional):
            return context
        context = context.outer_context
    return None
