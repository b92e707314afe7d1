"""Kernels of activations, biases, losses and their gradients."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.kernels.channel_blocks import has_short_rows, leading_sums, shifted
from sessrun.reference.kernels.elementwise import widened
from sessrun.reference.kernels.host import HOST
from sessrun.reference.kernels.input_shapes import (
    require_rank,
    require_rank_at_least,
    require_same_shape,
)
from sessrun.reference.kernels.limits import limited
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.kernels.row_sums import row_maxima, row_sums

#: The constants of the scaled exponential linear unit.
_SELU_SCALE: Final = 1.0507009873554804934193349852946
_SELU_ALPHA: Final = 1.6732632423543772848170429916717

#: -log(epsilon) - 2 for each dtype: beyond it softplus(x) is x, below its negative exp(x).
_SOFTPLUS_EDGE: Final = {
    name: bits * math.log(2.0) - 2.0
    for name, bits in (("bfloat16", 7), ("float16", 10), ("float32", 23), ("float64", 52))
}


#: Logits whose size is below it are not shifted: sums of their exponentials are normal numbers.
_SMALL: Final = 60


def _constant(number: float, like: Array) -> Array:
    """A number as a numpy scalar of an array's dtype, which need not be copied to a GPU."""
    constant: Array = like.dtype.type(number)
    return constant


@kernel("Relu")
def relu(xp: ArrayModule, x: Array) -> Array:
    """max(x, 0)."""
    if xp is HOST:
        return limited(HOST.maximum, x, _constant(0, x))
    return xp.maximum(x, _constant(0, x))


@kernel("Relu6")
def relu6(xp: ArrayModule, x: Array) -> Array:
    """min(max(x, 0), 6)."""
    return xp.minimum(relu(xp, x), _constant(6, x))


@kernel("Elu")
@widened
def elu(xp: ArrayModule, x: Array) -> Array:
    """Elementwise x, but exp(x) - 1 below zero."""
    return xp.where(x < 0, xp.expm1(x), x)


@kernel("Selu")
@widened
def selu(xp: ArrayModule, x: Array) -> Array:
    """Scale * x, but scale * alpha * (exp(x) - 1) below zero."""
    scale = _constant(_SELU_SCALE, x)
    below = _constant(_SELU_SCALE * _SELU_ALPHA, x)
    return xp.where(x < 0, below * xp.expm1(x), scale * x)


@kernel("LeakyRelu")
def leaky_relu(xp: ArrayModule, x: Array, *, alpha: float) -> Array:
    """Elementwise x, but alpha * x where x is not above zero."""
    slope = xp.asarray(alpha, dtype="float32")  # a GraphDef holds the attribute as float32
    return xp.where(x > 0, x, x * slope.astype(x.dtype))


@binder("Softplus")
def softplus(bind: Bind) -> KernelFunction:
    """log(1 + exp(x)); x or exp(x) where the dtype cannot tell these from the result."""
    xp, edge = bind.xp, _SOFTPLUS_EDGE[bind.attrs["T"]]

    @widened
    def compute(xp: ArrayModule, x: Array) -> Array:
        powers = xp.exp(x)
        return xp.where(x > edge, x, xp.where(x < -edge, powers, xp.log1p(powers)))

    return functools.partial(compute, xp)


@kernel("Softsign")
@widened
def softsign(xp: ArrayModule, x: Array) -> Array:
    """Elementwise x / (1 + |x|)."""
    return x / (xp.ones((), x.dtype) + xp.absolute(x))


def _shifted(xp: ArrayModule, logits: Array) -> Array:
    """The logits minus the maximum of their row, so that exp does not overflow."""
    require_rank_at_least(1, logits=logits)
    if not logits.size:
        return logits
    return logits - row_maxima(xp, logits)


@kernel("Softmax")
@widened
def softmax(xp: ArrayModule, logits: Array) -> Array:
    """exp(logits), scaled so that each row (the last dimension) has the sum 1."""
    require_rank_at_least(1, logits=logits)
    is_small = xp is HOST and logits.size and abs(HOST.max(logits)) < _SMALL > abs(HOST.min(logits))
    powers = xp.exp(logits if is_small else _shifted(xp, logits))
    powers /= row_sums(xp, powers)
    return powers


@kernel("LogSoftmax")
@widened
def log_softmax(xp: ArrayModule, logits: Array) -> Array:
    """The logarithm of the softmax of each row."""
    shifted = _shifted(xp, logits)
    return shifted - xp.log(row_sums(xp, xp.exp(shifted)))


def _biased(xp: ArrayModule, x: Array, bias: Array, first: bool) -> Array:
    if x.ndim < 2 or bias.ndim != 1:
        raise InvalidArgument(
            f"value must be at least a matrix and bias a vector: {x.shape}, {bias.shape}"
        )
    axis = 1 if first else x.ndim - 1
    if bias.shape[0] != x.shape[axis]:
        raise InvalidArgument(
            f"Must provide as many biases as channels: {bias.shape[0]} vs. "
            f"{x.shape[axis]} in {x.shape}"
        )
    if xp is HOST and not first and has_short_rows(x):
        return shifted(x.reshape(-1, len(bias)), bias).reshape(x.shape)
    return x + bias.reshape(tuple(-1 if i == axis else 1 for i in range(x.ndim)))


@kernel("BiasAdd")
def bias_add(xp: ArrayModule, x: Array, bias: Array, *, data_format: str) -> Array:
    """A vector added along the channels, the last dimension or (NCHW) the second one."""
    return _biased(xp, x, bias, data_format in {"NCHW", b"NCHW"})


@kernel("BiasAddV1")
def bias_add_v1(xp: ArrayModule, x: Array, bias: Array) -> Array:
    """A vector added along the last dimension."""
    return _biased(xp, x, bias, first=False)


@kernel("BiasAddGrad")
@widened
def bias_add_grad(xp: ArrayModule, x: Array, *, data_format: str) -> Array:
    """The sum over all dimensions but the channels."""
    require_rank_at_least(2, x=x)
    if data_format in {"NCHW", b"NCHW"}:
        axes = tuple(i for i in range(x.ndim) if i != 1)
        return xp.add.reduce(x, axis=axes, dtype=x.dtype)
    return leading_sums(xp, x)


@kernel("L2Loss")
@widened
def l2_loss(xp: ArrayModule, x: Array) -> Array:
    """Half the sum of squares."""
    flat = x.reshape(-1)
    return xp.add.reduce(flat * flat, dtype=x.dtype) / _constant(2, x)


@kernel("SoftmaxCrossEntropyWithLogits")
def cross_entropy(xp: ArrayModule, features: Array, labels: Array) -> tuple[Array, Array]:
    """The cross entropy of the softmax of each row with a row of labels, and its gradient.

    The loss has the shape [batch], the gradient with respect to the logits [batch, classes].
    """
    if max(features.ndim, labels.ndim) != 2:
        raise InvalidArgument(
            f"logits and labels must be broadcastable to rank 2: {features.shape}, {labels.shape}"
        )
    shape = HOST.broadcast_shapes(features.shape, labels.shape)
    dtype = features.dtype
    if dtype.itemsize == 2:
        features, labels = features.astype("float32"), labels.astype("float32")
    shifted, gradient, sums = _softmax_parts(xp, xp.broadcast_to(features, shape))
    losses = labels * (xp.log(sums) - shifted)
    if not xp.all(labels):  # where the label is 0 there is no loss, even of an infinite logit
        losses = xp.where(labels == 0, losses.dtype.type(0), losses)
    gradient -= labels
    loss = row_sums(xp, losses)[:, 0]
    return loss.astype(dtype, copy=False), gradient.astype(dtype, copy=False)


def _softmax_parts(xp: ArrayModule, logits: Array) -> tuple[Array, Array, Array]:
    """The logits of a matrix minus their row's maximum, their softmax, and the sums of exp."""
    shifted = _shifted(xp, logits)
    powers = xp.exp(shifted)
    sums = row_sums(xp, powers)
    powers /= sums
    return shifted, powers, sums


@kernel("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy(xp: ArrayModule, features: Array, labels: Array) -> tuple[Array, Array]:
    """The cross entropy of the softmax of each row with a class number, and its gradient.

    The loss has the shape [batch], the gradient with respect to the logits [batch, classes].
    """
    require_rank(2, logits=features)
    if labels.shape != features.shape[:1]:
        raise InvalidArgument(
            f"labels must be 1-D with as many elements as logits has rows: "
            f"{labels.shape}, {features.shape}"
        )
    classes = features.shape[1]
    outside = (labels < 0) | (labels >= classes)
    if xp is HOST and xp.any(outside):
        raise InvalidArgument(
            f"Received a label value of {int(labels[outside][-1])} which is "
            f"outside the valid range of [0, {classes})."
        )
    dtype = features.dtype
    wide = features.astype("float32") if dtype.itemsize == 2 else features
    shifted, gradient, sums = _softmax_parts(xp, wide)
    logs = xp.log(sums)[:, 0]
    if xp is HOST:
        rows = HOST.arange(len(labels))
        loss = logs - shifted[rows, labels]
        gradient[rows, labels] -= gradient.dtype.type(1)
    else:
        # On a GPU labels outside of the range are no error, but give NaN, as TensorFlow documents.
        chosen = xp.arange(classes)[None, :] == labels[:, None]
        loss = logs - xp.add.reduce(xp.where(chosen, shifted, shifted.dtype.type(0)), axis=1)
        loss = xp.where(outside, xp.nan, loss)
        gradient = xp.where(outside[:, None], xp.nan, gradient - chosen.astype(gradient.dtype))
    return loss.astype(dtype, copy=False), gradient.astype(dtype, copy=False)


GradientFunction = Callable[[ArrayModule, Array, Array], Array]


def _gradient(*op_types: str) -> Callable[[GradientFunction], GradientFunction]:
    """Register `function(xp, a, b)` as the kernel of operations whose inputs have equal shapes."""

    def register(function: GradientFunction) -> GradientFunction:
        @kernel(*op_types)
        @widened
        def compute(xp: ArrayModule, a: Array, b: Array) -> Array:
            if a.shape != b.shape:  # looked at first: it is a matter of 1 µs
                require_same_shape(a=a, b=b)
            return function(xp, a, b)

        return function

    return register


@_gradient("ReluGrad")
def relu_grad(_: ArrayModule, gradients: Array, features: Array) -> Array:
    """The gradient times 1 where the features are positive, times 0 elsewhere: NaN stays."""
    return gradients * (features > 0).astype(gradients.dtype)


@_gradient("Relu6Grad")
def relu6_grad(_: ArrayModule, gradients: Array, features: Array) -> Array:
    """The gradient times 1 where the features are between 0 and 6, times 0 elsewhere."""
    inside = (features > 0) & (features < _constant(6, features))
    return gradients * inside.astype(gradients.dtype)


@_gradient("EluGrad")
def elu_grad(xp: ArrayModule, gradients: Array, outputs: Array) -> Array:
    """The gradient; where the output is below zero, times (output + 1)."""
    return xp.where(outputs < 0, gradients * (outputs + xp.ones((), outputs.dtype)), gradients)


@_gradient("SeluGrad")
def selu_grad(xp: ArrayModule, gradients: Array, outputs: Array) -> Array:
    """The gradient times scale; where the output is below zero, times (output + scale * alpha)."""
    scale = _constant(_SELU_SCALE, outputs)
    below = _constant(_SELU_SCALE * _SELU_ALPHA, outputs)
    return gradients * xp.where(outputs < 0, outputs + below, scale)


@kernel("LeakyReluGrad")
def leaky_relu_grad(xp: ArrayModule, gradients: Array, features: Array, *, alpha: float) -> Array:
    """The gradient; where the feature is not above zero, times alpha."""
    require_same_shape(gradients=gradients, features=features)
    slope = xp.asarray(alpha, dtype="float32").astype(features.dtype)
    return xp.where(features > 0, gradients, gradients * slope)


@_gradient("SoftplusGrad")
def softplus_grad(xp: ArrayModule, gradients: Array, features: Array) -> Array:
    """Elementwise gradients / (1 + exp(-features))."""
    return gradients / (xp.exp(-features) + xp.ones((), features.dtype))


@_gradient("SoftsignGrad")
def softsign_grad(xp: ArrayModule, gradients: Array, features: Array) -> Array:
    """Elementwise gradients / (1 + |features|) ** 2."""
    return gradients / xp.square(xp.ones((), features.dtype) + xp.absolute(features))


@_gradient("SigmoidGrad")
def sigmoid_grad(_: ArrayModule, y: Array, dy: Array) -> Array:
    """Elementwise dy * y * (1 - y)."""
    slope: Array = y.dtype.type(1) - y
    slope *= y
    slope *= dy
    return slope


@_gradient("TanhGrad")
def tanh_grad(xp: ArrayModule, y: Array, dy: Array) -> Array:
    """Elementwise dy * (1 - y * y)."""
    slope = y * y
    slope = (
        xp.subtract(y.dtype.type(1), slope, out=slope) if slope.ndim else y.dtype.type(1) - slope
    )
    slope *= dy
    return slope


@_gradient("InvGrad", "ReciprocalGrad")
def reciprocal_grad(xp: ArrayModule, y: Array, dy: Array) -> Array:
    """Elementwise -dy * conj(y * y)."""
    return -xp.conj(y * y) * dy


@_gradient("RsqrtGrad")
def rsqrt_grad(xp: ArrayModule, y: Array, dy: Array) -> Array:
    """Elementwise dy * -0.5 * conj(y ** 3)."""
    return _constant(-0.5, y) * dy * xp.conj(y * y * y)


@_gradient("SqrtGrad")
def sqrt_grad(xp: ArrayModule, y: Array, dy: Array) -> Array:
    """Elementwise dy * 0.5 / conj(y); 0 where dy is 0."""
    return xp.where(dy == 0, dy, _constant(0.5, y) * dy / xp.conj(y))
