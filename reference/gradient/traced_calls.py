"""Gradients of calls of traced functions: a function of its own for each call that is derived.

What it needs of the way forth the call gives too, from then on: nothing is computed twice, and no
effect happens again. Source: TF 2.21.
"""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.functions.branch_graphs import BranchGraph, add_function, function_name
from sessrun.reference.api.functions.traces import CALLS, Call, Trace
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.gradient.functional_branches import argument_of
from sessrun.reference.gradient.reach import is_trainable
from sessrun.reference.gradient.widening import widen
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["of_traced_call"]


class _Backward(BranchGraph):
    """The gradients of a traced graph, which may take what that one computes.

    Args:
      name: what the function is called.
      call: the call that is derived.

    """

    def __init__(self, name: str, call: Call) -> None:
        super().__init__(name)
        self._call = call
        self._constants: dict[Tensor, Tensor] = {}

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """What stands here for a tensor; what the call computes it gives from now on."""
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


def of_traced_call(op: Operation, *grads: Any) -> list[Any]:
    """The gradients of a call's inputs, made when they are asked for.

    Args:
      op: the call.
      *grads: for each of its outputs the gradient, or None.

    Returns:
      For each input a tensor, IndexedSlices or None.

    """
    # What goes back through a graph asks for this function.
    from sessrun.reference.gradient.backprop import gradients  # noqa: PLC0415 - as told

    call = CALLS[op]
    given = zip(call.outputs, grads, strict=True)
    pairs = [(y, grad) for y, grad in given if is_trainable(y) and grad is not None]
    body = _Backward(function_name(f"{call.body.name}_", "backward"), call)

    def build() -> list[Any]:
        ys, seeds = [y for y, _ in pairs], [grad for _, grad in pairs]
        return gradients(ys, list(call.body.inputs), seeds)

    body.build(build)
    if len(call.outputs) > len(op.outputs):
        _widen(op, call)
    trace = Trace(body, {})
    trace.put_into(body.outer_graph)
    found: list[Any] = trace.call((), [_outside(op, call, each) for each in body.extra_inputs])
    return found


def _outside(op: Operation, call: Call, tensor: Tensor) -> Tensor:
    """What the call is given, or gives, for a tensor of its body; others are themselves."""
    if tensor.graph is not call.body:
        return tensor
    if tensor in call.outputs:
        return op.outputs[call.outputs.index(tensor)]
    return op.inputs[call.body.inputs.index(tensor)]


def _widen(op: Operation, call: Call) -> None:
    """Let a call give all that its gradients take."""
    more = [(each.dtype.base_dtype, each.sizes) for each in call.outputs[len(op.outputs) :]]
    function = add_function(op.graph, call.rewritten())
    widen(op, more, {"f": function})
