"""Gradients of calls of traced functions: by a second function for each call.

The call then also outputs the values that the second function uses: nothing is computed twice, and
no effect happens again. Source: TF 2.21.
"""

from __future__ import annotations

from sessrun.reference.api.functions.branch_graphs import BranchGraph, add_function, function_name
from sessrun.reference.api.functions.concrete_function import CALLS, Call, Trace
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.gradient_registry import Gradient
from sessrun.reference.gradient.added_outputs import add_outputs
from sessrun.reference.gradient.backprop import gradients
from sessrun.reference.gradient.functional_branches import argument_of
from sessrun.reference.gradient.reachability import is_trainable
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["traced_call_gradient"]


class _BackwardGraph(BranchGraph):
    """The gradients of a traced graph, which may use the tensors that it computes.

    Args:
      name: the name of the function.
      call: the call that is differentiated.

    """

    def __init__(self, name: str, call: Call) -> None:
        super().__init__(name)
        self._call = call
        self._constants: dict[Tensor, Tensor] = {}

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The tensor of this graph for one outside; the call outputs those that it computes."""
        call = self._call
        if tensor.graph is call.body:
            if tensor.dtype == dtypes.resource and tensor in call.body.inputs:
                return super().capture(tensor, name)
            if tensor.op.type == "Const":
                if tensor not in self._constants:
                    value = tensor.op.get_attr("value")
                    self._constants[tensor] = constant(value, dtype=tensor.dtype)
                return self._constants[tensor]
            if tensor.dtype == dtypes.resource:
                return super().capture(argument_of(tensor), name)
            if tensor not in call.outputs:
                call.outputs.append(tensor)
        return super().capture(tensor, name)


def traced_call_gradient(op: Operation, *grads: Gradient) -> list[Gradient]:
    """The gradients of a call's inputs.

    Args:
      op: the call.
      *grads: for each of its outputs the gradient, or None.

    """
    call = CALLS[op]
    pairs = [
        (y, grad)
        for y, grad in zip(call.outputs, grads, strict=True)
        if is_trainable(y) and grad is not None
    ]
    backward = _BackwardGraph(function_name(f"{call.body.name}_", "backward"), call)

    def build() -> list[Gradient]:
        ys, grad_ys = [y for y, _ in pairs], [grad for _, grad in pairs]
        return gradients(ys, list(call.body.inputs), grad_ys)

    backward.build(build)
    if len(call.outputs) > len(op.outputs):
        _output_more(op, call)
    trace = Trace(backward, {})
    trace.put_into(backward.outer_graph)
    result: list[Gradient] = trace.call(
        (), [_outer_tensor(op, call, tensor) for tensor in backward.extra_inputs]
    )
    return result


def _outer_tensor(op: Operation, call: Call, tensor: Tensor) -> Tensor:
    """The output or input of a call for a tensor of its body; any other tensor is itself."""
    if tensor.graph is not call.body:
        return tensor
    if tensor in call.outputs:
        return op.outputs[call.outputs.index(tensor)]
    return op.inputs[call.body.inputs.index(tensor)]


def _output_more(op: Operation, call: Call) -> None:
    """Let a call output all that its gradients use."""
    outputs = [
        (tensor.dtype.base_dtype, tensor.sizes) for tensor in call.outputs[len(op.outputs) :]
    ]
    function = add_function(op.graph, call.rewritten())
    add_outputs(op, outputs, {"f": function})
