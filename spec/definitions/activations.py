"""Definitions of activations, their gradients, biases, and losses of logits."""

from __future__ import annotations

import numpy as np

from sessrun.spec.definitions.base import Array, definition, rounded, wide
from sessrun.spec.definitions.elementwise import in_wide, stepwise

__all__: list[str] = []

#: The two constants of the scaled exponential unit (Klambauer et al., 2017).
_SCALE, _SCALE_ALPHA = 1.0507009873554804934193349852946, 1.7580993408473768599402175208123


@definition("Relu")
def _relu(x: Array) -> Array:
    """The larger of 0 and `x`; NaN stays."""
    return np.where(x <= 0, np.zeros((), x.dtype), x)


@definition("Relu6")
def _relu6(x: Array) -> Array:
    """Between 0 and 6; NaN stays."""
    six = np.array(6).astype(x.dtype)
    return np.where(x <= 0, np.zeros((), x.dtype), np.where(x >= six, six, x))


@definition("Elu")
def _elu(x: Array) -> Array:
    """`exp(x) - 1` below 0."""
    return in_wide(lambda a: np.where(a < 0, np.expm1(a), a), x)


@definition("Selu")
def _selu(x: Array) -> Array:
    """`scale x`, below 0 `scale alpha (exp(x) - 1)`."""
    return in_wide(lambda a: np.where(a < 0, _SCALE_ALPHA * np.expm1(a), _SCALE * a), x)


@definition("LeakyRelu")
def _leaky_relu(x: Array, *, alpha: float) -> Array:
    """`alpha x` where `x` is not above 0; `alpha` is a float32."""
    slope = float(np.float32(alpha))
    return in_wide(lambda a: np.where(a > 0, a, a * slope), x)


@definition("Softplus")
def _softplus(x: Array) -> Array:
    """`log(1 + exp(x))`."""
    return in_wide(lambda a: np.maximum(a, 0) + np.log1p(np.exp(-np.abs(a))), x)


@definition("Softsign")
def _softsign(x: Array) -> Array:
    """`x / (1 + |x|)`: NaN at the infinities."""
    return in_wide(lambda a: a / (1 + np.abs(a)), x)


@definition("ReluGrad")
def _relu_grad(gradients: Array, features: Array) -> Array:
    """The gradient times 1 where the feature is above 0, elsewhere times 0.

    So an infinite gradient, or NaN, becomes NaN where the feature is not.
    """
    return stepwise(np.multiply, gradients, (features > 0).astype(gradients.dtype))


@definition("Relu6Grad")
def _relu6_grad(gradients: Array, features: Array) -> Array:
    """The gradient times 1 where the feature is above 0 and below 6, elsewhere times 0."""
    passes = (features > 0) & (features < np.array(6).astype(features.dtype))
    return stepwise(np.multiply, gradients, passes.astype(gradients.dtype))


@definition("EluGrad")
def _elu_grad(gradients: Array, outputs: Array) -> Array:
    """The gradient, times `y + 1` where the output `y` is below 0."""
    return in_wide(lambda g, y: np.where(y < 0, g * (y + 1), g), gradients, outputs)


@definition("SeluGrad")
def _selu_grad(gradients: Array, outputs: Array) -> Array:
    """The gradient times `scale`, or times `y + scale alpha` where the output `y` is below 0."""
    return in_wide(
        lambda g, y: np.where(y < 0, g * (y + _SCALE_ALPHA), g * _SCALE), gradients, outputs
    )


@definition("LeakyReluGrad")
def _leaky_relu_grad(gradients: Array, features: Array, *, alpha: float) -> Array:
    slope = float(np.float32(alpha))
    return in_wide(lambda g, x: np.where(x > 0, g, g * slope), gradients, features)


@definition("SoftplusGrad")
def _softplus_grad(gradients: Array, features: Array) -> Array:
    """`g / (exp(-x) + 1)`."""
    return in_wide(lambda g, x: g / (np.exp(-x) + 1), gradients, features)


@definition("SoftsignGrad")
def _softsign_grad(gradients: Array, features: Array) -> Array:
    """`g / (1 + |x|)**2`."""
    return in_wide(lambda g, x: g / (1 + np.abs(x)) ** 2, gradients, features)


@definition("SigmoidGrad")
def _sigmoid_grad(y: Array, dy: Array) -> Array:
    """`dy y (1 - y)`; nothing is conjugated."""
    return in_wide(lambda a, g: g * a * (1 - a), y, dy)


@definition("TanhGrad")
def _tanh_grad(y: Array, dy: Array) -> Array:
    """`dy (1 - y**2)`; nothing is conjugated."""
    return in_wide(lambda a, g: g * (1 - a * a), y, dy)


@definition("InvGrad", "ReciprocalGrad")
def _reciprocal_grad(y: Array, dy: Array) -> Array:
    """`-dy y**2`, `y` conjugated."""
    return in_wide(lambda a, g: -g * np.conj(a * a), y, dy)


@definition("RsqrtGrad")
def _rsqrt_grad(y: Array, dy: Array) -> Array:
    """`-dy y**3 / 2`, `y` conjugated."""
    return in_wide(lambda a, g: -0.5 * g * np.conj(a * a * a), y, dy)


@definition("SqrtGrad")
def _sqrt_grad(y: Array, dy: Array) -> Array:
    """`dy / (2 y)`, `y` conjugated."""
    return in_wide(lambda a, g: 0.5 * g / np.conj(a), y, dy)


def _exponentials(logits: Array) -> tuple[Array, Array]:
    """Of each row the numbers less the largest, and the sum of their exponentials."""
    lowered = wide(logits) - np.max(wide(logits), axis=-1, keepdims=True)
    return lowered, np.sum(np.exp(lowered), axis=-1, keepdims=True)


@definition("Softmax")
def _softmax(logits: Array) -> Array:
    """`exp(x) / sum(exp(x))` along the last dimension."""
    lowered, total = _exponentials(logits)
    return rounded(np.exp(lowered) / total, logits.dtype)


@definition("LogSoftmax")
def _log_softmax(logits: Array) -> Array:
    """`x - log(sum(exp(x)))` along the last dimension."""
    lowered, total = _exponentials(logits)
    return rounded(lowered - np.log(total), logits.dtype)


@definition("SoftmaxCrossEntropyWithLogits")
def _cross_entropy(features: Array, labels: Array) -> tuple[Array, Array]:
    """The sums of `-labels log softmax`, and `softmax - labels`, row by row."""
    lowered, total = _exponentials(features)
    losses = np.sum(wide(labels) * (np.log(total) - lowered), axis=-1)
    return losses, np.exp(lowered) / total - wide(labels)


@definition("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_cross_entropy(features: Array, labels: Array) -> tuple[Array, Array]:
    """The same of a label that is a class's number: 1 for that class, 0 for the others."""
    lowered, total = _exponentials(features)
    one_hot = np.arange(features.shape[-1]) == labels[:, None]
    losses = np.log(total)[:, 0] - lowered[np.arange(len(labels)), labels]
    return losses, np.exp(lowered) / total - one_hot


def _channels_last(x: Array, data_format: str) -> Array:
    return np.moveaxis(x, 1, -1) if data_format.startswith("NC") else x


@definition("BiasAdd")
def _bias_add(value: Array, bias: Array, *, data_format: str) -> Array:
    """A number of its own added to each channel; channels are second in NCHW, else last."""
    added = stepwise(np.add, _channels_last(value, data_format), bias)
    return np.moveaxis(added, -1, 1) if data_format.startswith("NC") else added


@definition("BiasAddV1")
def _bias_add_v1(value: Array, bias: Array) -> Array:
    return stepwise(np.add, value, bias)


@definition("BiasAddGrad")
def _bias_add_grad(out_backprop: Array, *, data_format: str) -> Array:
    """The sum over all but the channels."""
    rows = wide(_channels_last(out_backprop, data_format))
    return rows.reshape(-1, rows.shape[-1]).sum(axis=0, dtype=rows.dtype)


@definition("L2Loss")
def _l2_loss(t: Array) -> Array:
    """Half the sum of the squares."""
    return np.sum(wide(t) ** 2) / 2


@definition("IsotonicRegression")
def _isotonic(x: Array) -> tuple[Array, Array]:
    """The non-increasing sequence nearest to each row, and the number of each element's level.

    Levels are the rows' blocks of equal numbers: while a block's mean is above that of the
    block before it, the two are one.
    """
    values, levels = np.zeros(x.shape), np.zeros(x.shape, np.int32)
    for row in np.ndindex(x.shape[:-1]):
        blocks: list[list[float]] = []
        for number in wide(x)[row].astype(np.float64):
            blocks.append([float(number)])
            while len(blocks) > 1 and np.mean(blocks[-1]) > np.mean(blocks[-2]):
                blocks[-2:] = [blocks[-2] + blocks[-1]]
        values[row] = [np.mean(block) for block in blocks for _ in block]
        levels[row] = [number for number, block in enumerate(blocks) for _ in block]
    return values, levels
