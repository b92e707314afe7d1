"""The backward loop of a loop: as many iterations, which differentiate the last iteration first.

Values of an iteration that its gradients use are kept on a stack: the forward loop pushes, the
backward one pops. Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from sessrun.reference.api.control_flow.conditional import Conditional
from sessrun.reference.api.control_flow.context import (
    Context,
    constant_enter_of,
    containing_loop,
    output_context,
    switched,
)
from sessrun.reference.api.control_flow.loops import Loop
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.gradient_nodes import node
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.gradient.loop_accumulators import add_backward_counter, add_forward_counter
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["LoopGradient", "innermost_loop"]


def innermost_loop(context: Context | None) -> Loop | None:
    """The innermost loop that a context is, or is in; None outside of loops."""
    loop = containing_loop(context)
    assert loop is None or isinstance(loop, Loop)  # no other context is a loop
    return loop


class LoopGradient:
    """The gradient of one loop, for one call of `gradients`.

    Args:
      forward: the loop.
      outer: the gradient of the loop around it, or None.

    Attributes:
      forward: the loop that is differentiated.
      backward: the loop of its gradients.
      outer: as given.
      known: for values of the forward loop, their values in the iteration that is differentiated.
      merges: for each Switch of the forward loop the Merge of its gradients.
      exits: the exits of the forward loop's variables.
      pending: how many of them the backward pass has not reached.
      unused: exits that have no gradient.
      deferred: exits that wait until all of them are reached.

    """

    def __init__(self, forward: Loop, outer: LoopGradient | None) -> None:
        self.forward = forward
        self.outer = outer
        self.known: dict[Tensor, Tensor] = {}
        self.merges: dict[Operation, Tensor | IndexedSlices] = {}
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
            count, self._forward_index = add_forward_counter(forward, after)
        if outer is None:
            with nullcontext() if around is None else around.entered():
                self._add_backward_loop(lambda: count)
            return
        outer.forward.add_known_here(count)
        stack = outer.push(count)
        with outer.backward.entered():
            self._add_backward_loop(lambda: outer.pop(stack, count))

    def _add_backward_loop(self, count: Callable[[], Tensor]) -> None:
        """Make the backward loop; `count` returns the number of its iterations."""
        self.backward = Loop(self.forward.options, self.forward.name, self)
        self._backward_index, final = add_backward_counter(self.backward, count())
        if self.outer is not None:
            self.outer.backward_sync._add_control_input(final.op)  # noqa: SLF001 - it is being made here

    @property
    def counting(self) -> Operation:
        """The operation that counts the iterations of the forward loop."""
        return self._forward_index.op.inputs[0].op

    @property
    def forward_sync(self) -> Operation:
        """The operation that each forward iteration ends with: it waits for pushes in branches."""
        if self._forward_sync is None:
            self._forward_sync = self._trigger("f_sync", self.forward, self._forward_index)
        return self._forward_sync

    @property
    def backward_sync(self) -> Operation:
        """The operation that each backward iteration ends with: it waits for pops."""
        if self._backward_sync is None:
            self._backward_sync = self._trigger("b_sync", self.backward, self._backward_index)
        return self._backward_sync

    def _trigger(self, name: str, loop: Loop, index: Tensor) -> Operation:
        with self._graph.control_dependencies(None):
            trigger = apply_op("ControlTrigger", {}, {}, name)
        loop.set_context_of(trigger)
        index.op._add_control_input(trigger)  # noqa: SLF001 - the loop is being made here
        return trigger

    # -- values of the forward loop

    def push(self, value: Tensor, *, is_dead: bool = False) -> Tensor:
        """Push a value onto a new stack in each iteration of the forward loop.

        Args:
          value: a tensor inside the loop.
          is_dead: whether it is alive only where the branch around it is not taken.

        Returns:
          The stack.

        Raises:
          TypeError: the value is in a context that is neither the loop nor a branch.

        """
        here = self._graph.scopes.control_flow
        dtype = value.dtype.base_dtype
        with self._graph.control_dependencies(None):
            with (
                nullcontext() if here is None else here.entered(),
                self._graph.colocate_with(value),
            ):
                size = constant(-1, dtypes.int32)
                stack = node("StackV2", size, elem_type=dtype, name="f_acc")
            entered = self.forward.value_inside(stack)
            swap = self.forward.options.swap_memory
            context = output_context(value.op)
            if context is self.forward:
                with context.entered():
                    pushed = node("StackPushV2", entered, value, swap_memory=swap)
                self._forward_index.op._add_control_input(pushed.op)  # noqa: SLF001 - as above
            else:
                if not isinstance(context, Conditional):
                    raise TypeError(f"value_ctxt is not a CondContext: {context}")
                with context.outer_entered() if is_dead else context.entered():
                    pushed = node("StackPushV2", entered, value, swap_memory=swap)
                context.set_context_of(pushed.op)
                self.forward_sync._add_control_input(pushed.op)  # noqa: SLF001 - as above
            pushed.op._add_control_input(self.counting)  # noqa: SLF001 - as above
        return stack

    def pop(self, stack: Tensor, value: Tensor, *, is_dead: bool = False) -> Tensor:
        """Pop a value in each iteration of the backward loop.

        Args:
          stack: what `push` returned.
          value: the value that was pushed.
          is_dead: as for `push`.

        """
        branch = _branch_around(value, stack)
        with self._graph.control_dependencies(None), self.backward.entered():
            if branch is not None:
                side = 1 - branch.branch if is_dead else branch.branch
                stack = switched(stack, self._real_pred(branch.pred))[side]
            popped = node("StackPopV2", stack, elem_type=value.dtype.base_dtype)
            popped.set_shape(value.shape)
        if self.backward.options.parallel_iterations > 1:
            self.backward_sync._add_control_input(popped.op)  # noqa: SLF001 - as above
        return popped

    def _real_pred(self, pred: Tensor) -> Tensor:
        """The popped predicate of a branch; the predicate itself if it has not been pushed."""
        state: LoopGradient | None = self
        while state is not None:
            if pred in state.known:
                return state.known[pred]
            state = state.outer
        return pred

    def pred_of(self, pred: Tensor) -> Tensor:
        """A branch's predicate in the differentiated iteration; called in the backward loop."""
        if pred not in self.known:
            with self.backward.suspended():
                stack = self.push(pred)
            self.known[pred] = self.pop(stack, pred)
        return self.known[pred]

    def value_of(self, value: Tensor) -> Tensor:
        """A forward value in the differentiated iteration; called in the backward loop."""
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
        with self.backward.suspended():
            stack = state.push(current)
        popped = state.pop(stack, current)
        return popped if state is self else self.backward.value_inside(popped)


def _branch_around(value: Tensor, stack: Tensor) -> Conditional | None:
    """The innermost branch that a value is in and the stack is not; None if there is no branch."""
    context = value.op._control_flow_context  # noqa: SLF001 - the two belong together
    limit = stack.op._control_flow_context  # noqa: SLF001 - the same
    while context is not None and context is not limit:
        if isinstance(context, Conditional):
            return context
        context = context.outer_context
    return None
