"""Gradients of normalizations, and second gradients of batch normalizations. Source: TF 2.21.

The second gradient is that of the first one, composed of simple operations, by a tape.
"""

from __future__ import annotations

from typing import Final

from sessrun.reference.api.ops.array_ops import reshape, size, squeeze, transpose
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.reduce_ops import reduce_mean, reduce_sum
from sessrun.reference.base import dtypes
from sessrun.reference.build.generated import reciprocal, rsqrt, squared_difference, stop_gradient
from sessrun.reference.build.gradient_nodes import gradient, node, nodes
from sessrun.reference.build.gradient_registry import Gradient
from sessrun.reference.gradient.tape import GradientTape
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["batch_norm_gradient"]

_GRADIENTS: Final = {
    "FusedBatchNorm": "FusedBatchNormGrad",
    "FusedBatchNormV2": "FusedBatchNormGradV2",
    "FusedBatchNormV3": "FusedBatchNormGradV3",
}
#: For each format with channels first: the permutation that puts them last, the one that puts them
#: back, and the format with channels last.
_CHANNELS_LAST: Final = {
    b"NCHW": ([0, 2, 3, 1], [0, 3, 1, 2], "NHWC"),
    b"NCDHW": ([0, 2, 3, 4, 1], [0, 4, 1, 2, 3], "NDHWC"),
}
#: The axes that are not channels, by the format.
_OTHER_AXES: Final = {
    b"NHWC": [0, 1, 2],
    b"NDHWC": [0, 1, 2, 3],
    b"NCHW": [0, 2, 3],
    b"NCDHW": [0, 2, 3, 4],
}


@gradient(*_GRADIENTS)
def _batch_norm(op: Operation, grad: Tensor, *_: Gradient) -> tuple[Gradient, ...]:
    """Only the normalized batch has a gradient; where it was not training, channels are last."""
    x, scale = op.inputs[:2]
    data_format, training = op.get_attr("data_format"), op.get_attr("is_training")
    attrs = {"epsilon": op.get_attr("epsilon"), "is_training": training}
    moments = op.outputs[3:5] if training else op.inputs[3:5]
    channels_last = None if training else _CHANNELS_LAST.get(data_format)
    if channels_last is not None:
        x, grad = transpose(x, channels_last[0]), transpose(grad, channels_last[0])
        data_format = channels_last[2]
    inputs = (grad, x, scale, *moments, *op.outputs[5:])
    by_x, by_scale, by_offset, *_rest = nodes(
        _GRADIENTS[op.type], *inputs, data_format=data_format, **attrs
    )
    if channels_last is not None:
        by_x = transpose(by_x, channels_last[1])
    return by_x, by_scale, by_offset, None, None


@gradient("BatchNormWithGlobalNormalization")
def _global_batch_norm(op: Operation, grad: Tensor) -> list[Tensor]:
    t, m, v, _, gamma = op.inputs
    attrs = {name: op.get_attr(name) for name in ("variance_epsilon", "scale_after_normalization")}
    return nodes("BatchNormWithGlobalNormalizationGrad", t, m, v, gamma, grad, **attrs)


@gradient("LRN")
def _local_response(op: Operation, grad: Tensor) -> Tensor:
    attrs = {name: op.get_attr(name) for name in ("depth_radius", "bias", "alpha", "beta")}
    return node("LRNGrad", grad, op.inputs[0], op.outputs[0], **attrs)


def batch_norm_gradient(
    grad_y: Tensor,
    x: Tensor,
    scale: Tensor,
    pop_mean: Tensor,
    pop_var: Tensor,
    epsilon: float,
    data_format: bytes,
    is_training: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of a batch normalization by batch, scale and offset, of simple operations.

    Args:
      grad_y: the gradient of the normalized batch, of its shape.
      x: the batch: [batch, spatial dimensions and channels].
      scale: one number for each channel.
      pop_mean: the mean of each channel, where it is not training.
      pop_var: the variance of each channel, where it is not training.
      epsilon: a small number that is added to a variance.
      data_format: `NHWC` and the like.
      is_training: whether mean and variance are the batch's own.

    """
    dtype = x.dtype.base_dtype
    if dtype in {dtypes.float16, dtypes.bfloat16}:
        x, grad_y = cast(x, dtypes.float32), cast(grad_y, dtypes.float32)
    if is_training:
        by_x, by_scale, by_offset = _by_own_moments(grad_y, x, scale, epsilon, data_format)
    else:
        by_x, by_scale, by_offset = _by_given_moments(
            grad_y, x, scale, pop_mean, pop_var, epsilon, data_format
        )
    return cast(by_x, dtype), by_scale, by_offset


def _for_channels_first(data_format: bytes, channels: Tensor, *vectors: Tensor) -> list[Tensor]:
    """Vectors [channels] in a shape in which they broadcast to a batch with channels first.

    Args:
      data_format: the format of the batch.
      channels: the vector of which the number of channels is taken.
      *vectors: the vectors.

    """
    ones = [1] * (len(_OTHER_AXES[data_format]) - 1)
    broadcast_shape = [1, size(channels), *ones]
    return [reshape(vector, broadcast_shape) for vector in vectors]


def _by_own_moments(
    grad_y: Tensor, x: Tensor, scale: Tensor, epsilon: float, data_format: bytes
) -> tuple[Tensor, Tensor, Tensor]:
    axes, channels_first = _OTHER_AXES[data_format], data_format.startswith(b"NC")
    if channels_first:
        (scale,) = _for_channels_first(data_format, scale, scale)
    mean_grad = reduce_mean(grad_y, axes, keepdims=channels_first)
    mean_x = reduce_mean(x, axes, keepdims=channels_first)
    variance = reduce_mean(
        squared_difference(x, stop_gradient(mean_x)), axes, keepdims=channels_first
    )
    grad_deviation = grad_y - mean_grad
    deviation = x - mean_x
    mean = reduce_mean(grad_y * deviation, axis=axes, keepdims=channels_first)
    by_x = (
        scale
        * rsqrt(variance + epsilon)
        * (grad_deviation - reciprocal(variance + epsilon) * mean * deviation)
    )
    by_scale = rsqrt(variance + epsilon) * reduce_sum(
        grad_y * deviation, axis=axes, keepdims=channels_first
    )
    if channels_first:
        by_scale = squeeze(by_scale)
    return by_x, by_scale, reduce_sum(grad_y, axis=axes)


def _by_given_moments(
    grad_y: Tensor,
    x: Tensor,
    scale: Tensor,
    mean: Tensor,
    variance: Tensor,
    epsilon: float,
    data_format: bytes,
) -> tuple[Tensor, Tensor, Tensor]:
    axes = _OTHER_AXES[data_format]
    if data_format.startswith(b"NC"):
        mean, variance, scale = _for_channels_first(data_format, mean, mean, variance, scale)
    by_offset = reduce_sum(grad_y, axis=axes)
    slope = rsqrt(variance + epsilon)
    by_scale = reduce_sum(grad_y * (x - mean) * slope, axis=axes)
    return grad_y * scale * slope, by_scale, by_offset


@gradient("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def _batch_norm_grad(op: Operation, *grads: Gradient) -> tuple[Gradient, ...]:
    """The gradients by the incoming gradient, the batch and the scale; the moments have none."""
    epsilon, data_format, training = map(op.get_attr, ("epsilon", "data_format", "is_training"))
    sources = list(op.inputs[:3])
    with GradientTape() as tape:
        for source in sources:
            tape.watch(source)
        grad_y, x, scale, mean, variance = op.inputs[:5]
        composed = batch_norm_gradient(
            grad_y, x, scale, mean, variance, epsilon, data_format, training
        )
    by_sources: list[Gradient] = tape.gradient(list(composed), sources, list(grads[:3]))
    return (*by_sources, *[None] * (len(op.inputs) - 3))
