"""Gradients of normalizations. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.ops.array_ops import transpose
from sessrun.reference.build.gradient_nodes import gradient, node
from sessrun.reference.graph.operation import Operation

__all__: list[str] = []

_GRADIENTS = {
    "FusedBatchNorm": "FusedBatchNormGrad",
    "FusedBatchNormV2": "FusedBatchNormGradV2",
    "FusedBatchNormV3": "FusedBatchNormGradV3",
}
#: Channels first: how they are put last, and back; and the format they are then in.
_TURNS = {
    b"NCHW": ([0, 2, 3, 1], [0, 3, 1, 2], "NHWC"),
    b"NCDHW": ([0, 2, 3, 4, 1], [0, 4, 1, 2, 3], "NDHWC"),
}


@gradient(*_GRADIENTS)
def _batch_norm(op: Operation, grad: Any, *_: Any) -> Any:
    """Only the normalized batch has a gradient; where it was not training, channels are last."""
    x, scale = op.inputs[:2]
    data_format, training = op.get_attr("data_format"), op.get_attr("is_training")
    attrs = {"epsilon": op.get_attr("epsilon"), "is_training": training}
    saved = op.outputs[3:5] if training else op.inputs[3:5]
    turn = None if training else _TURNS.get(data_format)
    if turn is not None:
        x, grad = transpose(x, turn[0]), transpose(grad, turn[0])
        data_format = turn[2]
    inputs = (grad, x, scale, *saved, *op.outputs[5:])
    made = node(_GRADIENTS[op.type], *inputs, data_format=data_format, **attrs)
    by_x = made[0] if turn is None else transpose(made[0], turn[1])
    return by_x, made[1], made[2], None, None


@gradient("BatchNormWithGlobalNormalization")
def _by_moments(op: Operation, grad: Any) -> Any:
    t, m, v, _, gamma = op.inputs
    attrs = {name: op.get_attr(name) for name in ("variance_epsilon", "scale_after_normalization")}
    return node("BatchNormWithGlobalNormalizationGrad", t, m, v, gamma, grad, **attrs)


@gradient("LRN")
def _response(op: Operation, grad: Any) -> Any:
    attrs = {name: op.get_attr(name) for name in ("depth_radius", "bias", "alpha", "beta")}
    return node("LRNGrad", grad, op.inputs[0], op.outputs[0], **attrs)
