"""The gradient of connectionist temporal classification. Source: TF 2.21."""

from __future__ import annotations

from sessrun.reference.api.ops.array_ops import expand_dims
from sessrun.reference.build.gradient_nodes import constants, gradient, node
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

constants(("CTCBeamSearchDecoder", "CTCGreedyDecoder"))

_ONCE = (
    "Currently there is no way to take the second  derivative of ctc_loss due to the fused "
    "implementation's interaction  with tf.gradients()"
)


@gradient("CTCLoss")
def _loss(op: Operation, grad: Tensor, _grad_of_gradient: Tensor) -> Gradients:
    """The operation's second output is the gradient of the loss by the inputs."""
    by_inputs = node("PreventGradient", op.outputs[1], message=_ONCE)
    return [expand_dims(grad, -1) * by_inputs, None, None, None]
