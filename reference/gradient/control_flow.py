"""Gradients of the operations of conditionals and loops: Switch, Merge, Enter, Exit, NextIteration.

The gradients of a conditional are made outside of its branches: values from a branch that was not
taken are dead, and so are values computed from them, up to the Merge. The gradients of a loop are
made in a loop of their own (`loop_backprop.py`). Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.reference.api.control_flow.conditional import Conditional
from sessrun.reference.api.control_flow.context import output_context
from sessrun.reference.api.control_flow.flow_values import as_slices, merged, switched_value
from sessrun.reference.api.control_flow.loops import Loop
from sessrun.reference.api.ops.fill_ops import zeros, zeros_like
from sessrun.reference.api.ops.math_ops import equal
from sessrun.reference.api.ops.shape_ops import shape_internal
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.gradient_nodes import gradient, nodes
from sessrun.reference.build.gradient_registry import Gradient
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.gradient.loop_accumulators import (
    accumulated_slices,
    accumulated_tensor,
    add_exit,
    add_next_value,
)
from sessrun.reference.gradient.loop_backprop import LoopGradient, innermost_loop
from sessrun.reference.gradient.variables import known_dtype, variable_dtype, zeros_behind
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["zeros_for"]

_SWITCHES = ("Switch", "RefSwitch")


def _loop_gradient() -> LoopGradient | None:
    """The gradient of the loop whose backward loop is being made; None outside of loops."""
    loop = innermost_loop(default_graph.get_default_graph().scopes.control_flow)
    return None if loop is None else loop.gradient


@gradient("Exit", "RefExit")
def _exit(op: Operation, grad: Tensor | IndexedSlices) -> Gradient:
    """An Enter of the backward loop; None if the loop was built with `back_prop=False`."""
    context = op._control_flow_context  # noqa: SLF001 - the two belong together
    state = _loop_gradient()
    assert state is not None  # the gradients of an Exit are made in the backward loop
    loop = state.backward
    if not loop.options.back_prop:
        return None
    if context.gradient is not None:
        raise TypeError("Second-order gradient for while loops not supported.")
    parts = grad.parts() if isinstance(grad, IndexedSlices) else [grad]
    for part in parts:
        loop.add_known_here(part)
    entered: Tensor | IndexedSlices
    with loop.entered():
        if isinstance(grad, IndexedSlices):
            entered = grad._mapped(loop.enter)  # noqa: SLF001 - their own method
        else:
            entered = loop.enter(grad, name="b_exit")
    loop.enters.append(entered.values if isinstance(entered, IndexedSlices) else entered)
    return entered


@gradient("NextIteration", "RefNextIteration")
def _next_iteration(_op: Operation, grad: Gradient) -> Gradient:
    """The gradient unchanged: the Switch's gradient passes it on to the previous iteration."""
    return grad


@gradient("Enter", "RefEnter")
def _enter(op: Operation, grad: Tensor | IndexedSlices) -> Gradient:
    """An Exit for a loop variable; for an invariant the sum over all iterations."""
    state = _loop_gradient()
    if state is None or not state.backward.options.back_prop:
        return grad
    loop = state.backward
    if not op.get_attr("is_constant"):
        if isinstance(grad, IndexedSlices):
            return grad._mapped(lambda part: add_exit(loop, part))  # noqa: SLF001 - as above
        return add_exit(loop, grad)
    if isinstance(grad, IndexedSlices):
        return accumulated_slices(loop, op, grad)
    return accumulated_tensor(loop, op, grad)


gradient("LoopCond")(lambda op, grad: None)


@gradient(*_SWITCHES)
def _switch(op: Operation, *grads: Gradient) -> tuple[Gradient, None]:
    context = op._control_flow_context  # noqa: SLF001 - the two belong together
    if isinstance(context, Loop):
        return _switch_of_loop(op, *grads), None
    if isinstance(context, Conditional):
        if grads[1 - context.branch] is None:
            if op.inputs[0].dtype != dtypes.resource:
                return None, None
            grads = (grads[context.branch],) * 2
            return merged([grad for grad in grads if grad is not None], "cond_resource_grad"), None
        return merged([grad for grad in grads if grad is not None], "cond_grad"), None
    pred = op.inputs[1]
    alive = [nodes("Switch", grad, pred)[side] for side, grad in enumerate(grads)]
    return merged(alive), None


def _switch_of_loop(op: Operation, of_exit: Gradient, of_body: Gradient) -> Gradient:
    """A Merge of the gradient of the loop's exit and the gradient from the next iteration.

    A loop's Switch has two turns: in the first the gradient of its exit is known, in the second
    that of the body.
    """
    state = _loop_gradient()
    assert state is not None  # the gradients of a loop's Switch are made in the backward loop
    merges = state.merges
    if op in merges:
        if of_body is not None:
            if isinstance(merges[op], IndexedSlices):
                (of_body,) = as_slices([of_body])
            add_next_value(merges[op], of_body)
        return None
    if of_exit is None:
        return None
    merges[op] = merged([of_exit, of_exit], "b_switch")
    return merges[op]


@gradient("Merge", "RefMerge")
def _merge(
    op: Operation, grad: Tensor | IndexedSlices, _index: Gradient
) -> Sequence[Tensor | IndexedSlices]:
    context = output_context(op.inputs[0].op)
    state = _loop_gradient()
    if isinstance(context, Loop):
        assert state is not None  # as for a Switch
        return switched_value(grad, state.backward.condition)
    if isinstance(context, Conditional):
        pred = context.pred if state is None else state.pred_of(context.pred)
        return switched_value(grad, pred, "cond_grad")
    taken = [equal(op.outputs[1], number) for number in range(len(op.inputs))]
    return [switched_value(grad, is_taken)[1] for is_taken in taken]


def _zeros_in_loop(output: Tensor) -> Tensor:
    """Zeros made of the shape of a value, so that no iteration keeps the value itself."""
    if output.shape.is_fully_defined():
        return constant(0, output.dtype, output.shape)
    return zeros(shape_internal(output, optimize=False), output.dtype)


def zeros_for(output: Tensor) -> Tensor | None:
    """The gradient of an output that no target depends on: zeros; None for an unknown variable's.

    An output of a Switch may be dead; its zeros are computed when the other output is alive.
    """
    op = output.op
    if output.dtype == dtypes.resource and known_dtype(output) is None:
        return None
    context = op._control_flow_context if op.type in _SWITCHES else None  # noqa: SLF001 - as above
    if not isinstance(context, Conditional):
        if output.dtype == dtypes.resource:
            return zeros_behind(output, variable_dtype(output))
        if getattr(output.graph, "is_loop_body", False) and output.dtype != dtypes.variant:
            return _zeros_in_loop(output)
        return zeros_like(output, optimize=False)
    other = nodes("Switch", op.inputs[0], context.pred)[1 - context.branch]
    pivot = identity(other)
    graph = default_graph.get_default_graph()
    if output.dtype == dtypes.resource:
        with graph.control_dependencies([pivot]):
            return zeros_behind(other, variable_dtype(op.inputs[0]))
    sizes = shape_internal(other, optimize=False)
    with graph.control_dependencies([pivot]):
        return zeros(sizes, output.dtype)
