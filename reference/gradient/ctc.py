"""The gradient of connectionist temporal classification. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.ops.array_ops import expand_dims
from sessrun.reference.build.gradient_nodes import constants, gradient, node
from sessrun.reference.graph.operation import Operation

__all__: list[str] = []

constants(("CTCBeamSearchDecoder", "CTCGreedyDecoder"))

_ONCE = (
    "Currently there is no way to take the second  derivative of ctc_loss due to the fused "
    "implementation's interaction  with tf.gradients()"
)


@gradient("CTCLoss")
def _loss(op: Operation, grad: Any, _grad_of_gradient: Any) -> Any:
    """The operation gives the gradient with the loss."""
    by_inputs = node("PreventGradient", op.outputs[1], message=_ONCE)
    return [expand_dims(grad, -1) * by_inputs, None, None, None]
