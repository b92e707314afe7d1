"""Second gradients of batch normalizations that are one operation. Source: TF 2.21.

The gradient is composed once more of simple operations, and a tape goes back through these.
"""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.ops.array_ops import reshape, size, squeeze
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.reduce_ops import reduce_mean, reduce_sum
from sessrun.reference.base import dtypes
from sessrun.reference.build.generated import reciprocal, rsqrt, squared_difference, stop_gradient
from sessrun.reference.build.gradient_nodes import gradient
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["batch_norm_gradient"]

#: The axes that are not channels, by the format.
_OTHERS = {b"NHWC": [0, 1, 2], b"NDHWC": [0, 1, 2, 3], b"NCHW": [0, 2, 3], b"NCDHW": [0, 2, 3, 4]}


def batch_norm_gradient(
    grad_y: Tensor,
    x: Tensor,
    scale: Tensor,
    pop_mean: Any,
    pop_var: Any,
    epsilon: float,
    data_format: bytes,
    is_training: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of a batch normalization by batch, scale and offset, composed.

    Args:
      grad_y: the gradient of what it gives, [batch, spatial dimensions and channels].
      x: the batch, of the same shape.
      scale: one number for each channel.
      pop_mean: the mean of each channel, where it is not training.
      pop_var: and the variance.
      epsilon: what is added to a variance.
      data_format: where the channels stand.
      is_training: whether mean and variance are the batch's own.

    """
    dtype = x.dtype.base_dtype
    if dtype in {dtypes.float16, dtypes.bfloat16}:
        x, grad_y = cast(x, dtypes.float32), cast(grad_y, dtypes.float32)
    own = _by_own_moments if is_training else _by_given_moments
    by_x, by_scale, by_offset = own(
        grad_y, x, scale, pop_mean, pop_var, epsilon=epsilon, data_format=data_format
    )
    return cast(by_x, dtype), by_scale, by_offset


def _stretched(count: Any, data_format: bytes, *vectors: Any) -> list[Any]:
    """Vectors of channels so that they broadcast to a batch whose channels are first."""
    ones = [1] * (len(_OTHERS[data_format]) - 1)
    whole = [1, size(count), *ones]
    return [reshape(vector, whole) for vector in vectors]


def _by_own_moments(
    grad_y: Any, x: Any, scale: Any, *_: Any, epsilon: float, data_format: bytes
) -> tuple[Any, Any, Any]:
    axes, first = _OTHERS[data_format], data_format.startswith(b"NC")
    if first:
        (scale,) = _stretched(scale, data_format, scale)
    mean_grad = reduce_mean(grad_y, axes, keepdims=first)
    mean_x = reduce_mean(x, axes, keepdims=first)
    spread = reduce_mean(squared_difference(x, stop_gradient(mean_x)), axes, keepdims=first)
    grad_apart = grad_y - mean_grad
    apart = x - mean_x
    mean = reduce_mean(grad_y * apart, axis=axes, keepdims=first)
    by_x = (
        scale * rsqrt(spread + epsilon) * (grad_apart - reciprocal(spread + epsilon) * mean * apart)
    )
    by_scale = rsqrt(spread + epsilon) * reduce_sum(grad_y * apart, axis=axes, keepdims=first)
    if first:
        by_scale = squeeze(by_scale)
    return by_x, by_scale, reduce_sum(grad_y, axis=axes)


def _by_given_moments(
    grad_y: Any,
    x: Any,
    scale: Any,
    mean: Any,
    variance: Any,
    *,
    epsilon: float,
    data_format: bytes,
) -> tuple[Any, Any, Any]:
    axes = _OTHERS[data_format]
    if data_format.startswith(b"NC"):
        mean, variance, scale = _stretched(mean, data_format, mean, variance, scale)
    by_offset = reduce_sum(grad_y, axis=axes)
    slope = rsqrt(variance + epsilon)
    by_scale = reduce_sum(grad_y * (x - mean) * slope, axis=axes)
    return grad_y * scale * slope, by_scale, by_offset


@gradient("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def _again(op: Operation, *grads: Any) -> Any:
    """By the incoming gradient, the batch and the scale; the moments have none."""
    from sessrun.reference.gradient.tape import GradientTape  # noqa: PLC0415 - it imports gradients

    epsilon, form, training = map(op.get_attr, ("epsilon", "data_format", "is_training"))
    sources = list(op.inputs[:3])
    with GradientTape() as tape:
        for each in sources:
            tape.watch(each)
        grad_y, x, scale, mean, variance = op.inputs[:5]
        found = batch_norm_gradient(grad_y, x, scale, mean, variance, epsilon, form, training)
    by = tape.gradient(list(found), sources, list(grads[:3]))
    return (*by, *[None] * (len(op.inputs) - 3))
