"""SymbolicGradient: the gradient of a call, by a function or derived when the graph is run."""

from __future__ import annotations

from sessrun.reference.base import dtypes
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.gradient_registry import Gradient
from sessrun.reference.build.shape_inference_values import handle_shape
from sessrun.reference.gradient.variables import gradient_dtypes
from sessrun.reference.graph.operation import CALLS, Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import NameAttrList

__all__ = ["symbolic_gradient"]


def symbolic_gradient(op: Operation, *grads: Gradient) -> list[Tensor]:
    """The gradients of a call's inputs: the outputs of a new SymbolicGradient operation.

    Args:
      op: the call.
      *grads: the gradient of each of its outputs.

    """
    function = NameAttrList(name=op.type, attr=op.node_def.attr)
    if op.type in CALLS:
        function.name = op.get_attr("f").name
    inputs = {"input": [*op.inputs, *grads]}
    attrs = {"Tout": gradient_dtypes(op.inputs), "f": function}
    gradients = apply_op("SymbolicGradient", inputs, attrs).outputs
    for tensor, grad in zip(op.inputs, gradients, strict=True):
        if tensor.dtype == dtypes.resource:
            grad.set_shape(TensorShape(handle_shape(tensor)))
    return gradients
