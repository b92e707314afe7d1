"""Gradients of conditionals and loops: back through the branch that was taken, and each iteration.

The operations of the gradient stand outside of the branches. What comes from a branch that was not
taken is dead, and so is what is computed from it, up to the Merge. Those of a loop stand in a loop
of their own (`loop_gradients.py`). Source: TF 2.21.
"""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.control_flow.conditional import Conditional
from sessrun.reference.api.control_flow.context import Context, context_after, loop_around
from sessrun.reference.api.control_flow.loops import Loop
from sessrun.reference.api.control_flow.values import as_slices, merged, switched_value
from sessrun.reference.api.ops.fill_ops import zeros, zeros_like
from sessrun.reference.api.ops.math_ops import equal
from sessrun.reference.api.ops.shape_ops import shape_internal
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.build.gradient_nodes import gradient, node
from sessrun.reference.build.indexed_slices import IndexedSlices
from sessrun.reference.gradient.loop_rounds import left_by, next_value, summed_rows, summed_tensor
from sessrun.reference.gradient.variables import known_dtype, variable_dtype, zeros_behind
from sessrun.reference.graph import stacks
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["zeros_for"]

_SWITCHES = ("Switch", "RefSwitch")


def _here() -> Context | None:
    """The context that the gradient is made in."""
    context: Context | None = stacks.get_default_graph().scopes.control_flow
    return context


def _way_back() -> Any:
    """The `LoopGradient` that is made here, or None."""
    loop: Any = loop_around(_here())
    return None if loop is None else loop.gradient


@gradient("Exit", "RefExit")
def _exit(op: Operation, grad: Any) -> Any:
    """An Enter of the loop that goes back; None where nothing may go back."""
    context = op._control_flow_context  # noqa: SLF001 - the two belong together
    state = _way_back()
    loop = state.backward
    if not loop.options.back_prop:
        return None
    if context.gradient is not None:
        raise TypeError("Second-order gradient for while loops not supported.")
    parts = grad.parts() if isinstance(grad, IndexedSlices) else [grad]
    for part in parts:
        loop.knows_here(part)
    with loop.entered():
        if isinstance(grad, IndexedSlices):
            entered: Any = grad._mapped(loop.enter)  # noqa: SLF001 - rows' own method
        else:
            entered = loop.enter(grad, name="b_exit")
    loop.enters.append(entered)
    return entered


@gradient("NextIteration", "RefNextIteration")
def _next_iteration(_op: Operation, grad: Any) -> Any:
    """What it is of: the Switch makes the way to the iteration before."""
    return grad


@gradient("Enter", "RefEnter")
def _enter(op: Operation, grad: Any) -> Any:
    """An Exit for a variable; for an invariant the sum over all iterations."""
    state = _way_back()
    if state is None or not state.backward.options.back_prop:
        return grad
    loop = state.backward
    if not op.get_attr("is_constant"):
        return left_by(loop, grad)
    if isinstance(grad, IndexedSlices):
        return summed_rows(loop, op, grad)
    return summed_tensor(loop, op, grad)


gradient("LoopCond")(lambda op, grad: None)


@gradient(*_SWITCHES)
def _switch(op: Operation, *grads: Any) -> Any:
    context = op._control_flow_context  # noqa: SLF001 - the two belong together
    if isinstance(context, Loop):
        return _switch_of_loop(op, *grads), None
    if isinstance(context, Conditional):
        if grads[1 - context.branch] is None:
            if op.inputs[0].dtype != dtypes.resource:
                return None, None
            return merged([grads[context.branch]] * 2, "cond_resource_grad"), None
        return merged(list(grads), "cond_grad"), None
    pred = op.inputs[1]
    of_false, of_true = (_switched(grad, pred)[side] for side, grad in enumerate(grads))
    return merged([of_false, of_true]), None


def _switched(grad: Any, pred: Tensor) -> Any:
    return node("Switch", grad, pred)


def _switch_of_loop(op: Operation, of_exit: Any, of_body: Any) -> Any:
    """A Merge of what comes in and of what the iteration after gives.

    It is asked twice: first for what leaves the loop, then for what goes on in it.
    """
    merges = _way_back().merges
    if op in merges:
        if of_body is not None:
            if isinstance(merges[op], IndexedSlices):
                (of_body,) = as_slices([of_body])
            next_value(merges[op], of_body)
        return None
    if of_exit is None:
        return None
    merges[op] = merged([of_exit, of_exit], "b_switch")
    return merges[op]


@gradient("Merge", "RefMerge")
def _merge(op: Operation, grad: Any, _index: Any) -> Any:
    context = context_after(op.inputs[0].op)
    state = _way_back()
    if isinstance(context, Loop):
        return switched_value(grad, state.backward.condition)
    if isinstance(context, Conditional):
        pred = context.pred if state is None else state.pred_of(context.pred)
        return switched_value(grad, pred, "cond_grad")
    taken = [equal(op.outputs[1], number) for number in range(len(op.inputs))]
    return [switched_value(grad, is_taken)[1] for is_taken in taken]


def _zeros_in_loop(output: Tensor) -> Tensor:
    """Zeros for which no value of an iteration must be kept, but for its shape."""
    if output.shape.is_fully_defined():
        return constant(0, output.dtype, output.shape)
    return zeros(shape_internal(output, optimize=False), output.dtype)


def zeros_for(output: Tensor) -> Tensor | None:
    """The gradient of an output that nothing depends on: zeros; None for an unknown variable's.

    An output of a Switch may be dead; its zeros are made where the other one is alive.
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
    other = node("Switch", op.inputs[0], context.pred)[1 - context.branch]
    pivot = identity(other)
    graph = stacks.get_default_graph()
    if output.dtype == dtypes.resource:
        with graph.control_dependencies([pivot]):
            return zeros_behind(other, variable_dtype(op.inputs[0]))
    whole = shape_internal(other, optimize=False)
    with graph.control_dependencies([pivot]):
        return zeros(whole, output.dtype)
