"""Gradients of conditionals: a gradient goes back through the branch that was taken.

The operations of the gradient stand outside of the branches. What comes from a branch that was not
taken is dead, and so is what is computed from it, up to the Merge. Source: TF 2.21.
"""

from __future__ import annotations

from typing import Any

from sessrun.reference import dtypes, stacks
from sessrun.reference.control_flow.conditional import Conditional
from sessrun.reference.control_flow.context import context_after, loop_around, switched
from sessrun.reference.control_flow.values import merged
from sessrun.reference.differentiation.nodes import gradient, node
from sessrun.reference.differentiation.variables import zeros_of_variable
from sessrun.reference.framework_ops import identity
from sessrun.reference.operation import Operation
from sessrun.reference.ops.fill_ops import zeros, zeros_like
from sessrun.reference.ops.math_ops import equal
from sessrun.reference.ops.shape_ops import shape_internal
from sessrun.reference.tensor import Tensor

__all__ = ["zeros_for"]

_SWITCHES = ("Switch", "RefSwitch")


@gradient("Exit", "RefExit", "NextIteration", "RefNextIteration")
def _out_of_loop(op: Operation, _grad: Any) -> Any:
    raise NotImplementedError(
        f"sessrun.reference does not differentiate while loops yet: {op.name}, an {op.type}"
    )


@gradient("Enter", "RefEnter")
def _enter(_op: Operation, grad: Any) -> Any:
    """What is computed in the same loop: the gradient is of every iteration alike."""
    return grad


@gradient(*_SWITCHES)
def _switch(op: Operation, *grads: Any) -> Any:
    context = op._control_flow_context  # noqa: SLF001 - the two belong together
    if isinstance(context, Conditional):
        if grads[1 - context.branch] is None:
            if op.inputs[0].dtype != dtypes.resource:
                return None, None
            return merged([grads[context.branch]] * 2, "cond_resource_grad"), None
        return merged(list(grads), "cond_grad"), None
    pred = op.inputs[1]
    of_false, of_true = (node("Switch", grad, pred)[side] for side, grad in enumerate(grads))
    return merged([of_false, of_true]), None


@gradient("Merge", "RefMerge")
def _merge(op: Operation, grad: Any, _index: Any) -> Any:
    context = context_after(op.inputs[0].op)
    if isinstance(context, Conditional):
        return switched(grad, context.pred, "cond_grad")
    if loop_around(context) is not None:
        return _out_of_loop(op, grad)
    taken = [equal(op.outputs[1], number) for number in range(len(op.inputs))]
    return [switched(grad, is_taken)[1] for is_taken in taken]


def zeros_for(output: Tensor) -> Tensor:
    """The gradient of an output that nothing depends on: zeros.

    An output of a Switch may be dead; its zeros are made where the other one is alive.
    """
    op = output.op
    context = op._control_flow_context if op.type in _SWITCHES else None  # noqa: SLF001 - as above
    if not isinstance(context, Conditional):
        is_handle = output.dtype == dtypes.resource
        return zeros_of_variable(output) if is_handle else zeros_like(output, optimize=False)
    other = node("Switch", op.inputs[0], context.pred)[1 - context.branch]
    pivot = identity(other)
    graph = stacks.get_default_graph()
    if output.dtype == dtypes.resource:
        with graph.control_dependencies([pivot]):
            dtype = op.inputs[0].op.get_attr("dtype")
            return zeros(node("VariableShape", other), dtype)
    whole = shape_internal(other, optimize=False)
    with graph.control_dependencies([pivot]):
        return zeros(whole, output.dtype)
