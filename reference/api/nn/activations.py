"""Activations, biases, softmax and L2 normalization. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sessrun.reference.api.custom_gradients import custom_gradient
from sessrun.reference.api.ops.array_ops import concat, rank, transpose, where
from sessrun.reference.api.ops.cast_ops import cast, complex_, imag, one, real
from sessrun.reference.api.ops.math_ops import matmul, range_
from sessrun.reference.api.ops.reduce_ops import chosen, reduce_sum
from sessrun.reference.base import dtypes
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import maximum, mul, relu, rsqrt, sigmoid, square, sub
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import InvalidArgumentError, bad_value
from sessrun.reference.graph.default_graph import control_dependencies
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["along_axis", "bias_add"]


@public("nn.leaky_relu")
def leaky_relu(features: TensorLike, alpha: TensorLike = 0.2, name: str | None = None) -> Tensor:
    """The larger of x and alpha * x.

    Args:
      features: a tensor; integers are converted to float32.
      alpha: a number.
      name: the operation's name.

    """
    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        value = convert_to_tensor(features, name="features")
        if value.dtype.is_integer:
            value = cast(value, dtypes.float32)
        slope = alpha.item() if isinstance(alpha, np.ndarray) else alpha
        return one("LeakyRelu", {"features": value}, scope, alpha=slope)


@public("nn.relu6")
def relu6(features: TensorLike, name: str | None = None) -> Tensor:
    """The elements clipped to [0, 6]."""
    with name_scope(name, "Relu6", [features]) as scope:
        return one("Relu6", {"features": convert_to_tensor(features, name="features")}, scope)


@public("nn.crelu")
def crelu(features: TensorLike, name: str | None = None, axis: TensorLike = -1) -> Tensor:
    """relu(x) and relu(-x), concatenated along an axis."""
    with name_scope(name, "CRelu", [features]) as scope:
        value = convert_to_tensor(features, name="features")
        return relu(concat([value, -value], axis, name=scope))


def _swapped_with_last(
    value: Tensor, axis: int | Tensor, last: Tensor, name: str | None = None
) -> Tensor:
    """The tensor with an axis and the last axis swapped."""
    order = concat([range_(axis), [last], range_(axis + 1, last), [axis]], 0)
    return transpose(value, order, name=name)  # type: ignore[arg-type]  # None: named by its scope


def _checked_axis(axis: int | Tensor, ndims: int | None) -> None:
    known = constant_value(axis) if isinstance(axis, Tensor) else axis
    if known is not None and ndims is not None and not -ndims <= known < ndims:
        raise InvalidArgumentError(
            None, None, f"`dim` must be in the range [{-ndims}, {ndims}), received: dim={known}"
        )


def along_axis(
    function: Callable[[Tensor, str | None], Sequence[Tensor]],
    value: Tensor,
    axis: Any,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Apply a function of rows along the last dimension along any axis.

    Args:
      function: from a tensor and a name to tensors of the same shape.
      value: a tensor.
      axis: the axis.
      name: the operation's name.

    Raises:
      InvalidArgumentError: the axis is out of range.

    """
    ndims = value.shape.ndims
    is_known = not isinstance(axis, Tensor)
    if is_known and (axis == -1 or (ndims is not None and axis == ndims - 1)):
        return tuple(function(value, name))
    _checked_axis(axis, ndims)
    count = rank(value)
    if not is_known:
        axis = where(axis < 0, axis + count, axis)
    elif axis < 0:
        axis += count
    rows = rank(value)
    axis %= ndims
    turned = function(_swapped_with_last(value, axis, sub(rows, 1)), None)
    outputs = tuple(_swapped_with_last(output, axis, sub(rows, 1), name) for output in turned)
    for output in outputs:
        output.set_shape(value.shape)
    return outputs


def _rowwise(op_type: str, summary: str) -> Callable[..., Tensor]:
    def compute(
        logits: TensorLike,
        axis: TensorLike | None = None,
        name: str | None = None,
        dim: TensorLike | None = None,
    ) -> Tensor:
        axis = chosen(axis, dim, "axis", "dim")
        axis = -1 if axis is None else axis
        (normalized,) = along_axis(
            lambda rows, name: (one(op_type, {"logits": rows}, name),),
            convert_to_tensor(logits),
            axis,
            name,
        )
        return normalized

    compute.__doc__ = f"""{summary}

    Args:
      logits: a floating point tensor of rank 1 or more.
      axis: the axis, by default the last.
      name: the operation's name.
      dim: the older name of `axis`.

    Raises:
      InvalidArgumentError: the axis is out of range.

    """
    return compute


softmax = _rowwise("Softmax", "The softmax along an axis.")
log_softmax = _rowwise("LogSoftmax", "The log-softmax along an axis.")


@public("nn.bias_add")
def bias_add(
    value: TensorLike, bias: TensorLike, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """A vector added along the channels.

    Args:
      value: a tensor of rank 2 or more.
      bias: a vector with one element per channel.
      data_format: `NHWC` (the default) or `NCHW`, or any name that begins `N...C` or `NC`.
      name: the operation's name.

    Raises:
      ValueError: the format is unknown.

    """
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        form = "NHWC"
        if data_format is not None:
            if data_format.startswith("NC"):
                form = "NCHW"
            elif not (data_format.startswith("N") and data_format.endswith("C")):
                raise bad_value(
                    f"`data_format` must be of the form `N...C` or `NC...`: {data_format}"
                )
        features = convert_to_tensor(value, name="input")
        vector = convert_to_tensor(bias, dtype=features.dtype.base_dtype, name="bias")
        return one("BiasAdd", {"value": features, "bias": vector}, scope, data_format=form)


def _affine(
    x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None
) -> Tensor:
    features = convert_to_tensor(x, name="x")
    matrix = convert_to_tensor(weights, name="weights")
    vector = convert_to_tensor(biases, name="biases")
    return bias_add(matmul(features, matrix), vector, name=name)


@public("nn.xw_plus_b")
def xw_plus_b(
    x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None
) -> Tensor:
    """The affine map x @ weights + biases.

    Args:
      x: [batch, from].
      weights: [from, to], of the dtype of `x`.
      biases: [to].
      name: a name scope.

    Returns:
      [batch, to].

    Raises:
      ValueError: the shapes are incompatible.

    """
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        return _affine(x, weights, biases, scope)


@public("nn.relu_layer")
def relu_layer(
    x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None
) -> Tensor:
    """relu(x @ weights + biases); arguments and errors as for `xw_plus_b`."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        return relu(_affine(x, weights, biases), name=scope)


@public("linalg.l2_normalize", "math.l2_normalize", "nn.l2_normalize")
def l2_normalize(
    x: TensorLike,
    axis: TensorLike | None = None,
    epsilon: float = 1e-12,
    name: str | None = None,
    dim: TensorLike | None = None,
) -> Tensor:
    """The tensor x divided by its L2 norm along the axes; the squared norm is at least `epsilon`.

    Args:
      x: a tensor of floating point or complex numbers.
      axis: the axes of the norm.
      epsilon: the lower bound of the squared norm.
      name: the operation's name.
      dim: the older name of `axis`.

    """
    axis = chosen(axis, dim, "axis", "dim")
    with name_scope(name, "l2_normalize", [x]) as scope:
        value = convert_to_tensor(x, name="x")
        if value.dtype.is_complex:
            squares = square(real(value)) + square(imag(value))
            total = real(reduce_sum(squares, axis, keepdims=True))
            inverse = rsqrt(maximum(total, epsilon))
            return complex_(mul(real(value), inverse), mul(imag(value), inverse), name=scope)
        inverse = rsqrt(maximum(reduce_sum(square(value), axis, keepdims=True), epsilon))
        return mul(value, inverse, name=scope)


public("math.log_softmax", "nn.log_softmax")(log_softmax)
public("math.softmax", "nn.softmax")(softmax)


@public("nn.silu", "nn.swish")
def swish(features: TensorLike, beta: TensorLike = 1.0) -> Tensor:
    """X * sigmoid(beta * x).

    Its gradient recomputes the sigmoid, so that it need not be kept in memory.

    Args:
      features: x, a tensor of floating point numbers.
      beta: a number, or a tensor that broadcasts.

    """
    x = convert_to_tensor(features, name="features")
    slope = cast(convert_to_tensor(beta, name="beta"), x.dtype)

    def computed(x: Tensor, slope: Tensor) -> tuple[Any, Any]:
        def gradient(grad: Tensor) -> tuple[Tensor, Tensor]:
            with control_dependencies([grad]):
                gate = sigmoid(slope * x)
            by_x = gate * (1.0 + slope * x * (1.0 - gate))
            by_slope = reduce_sum(grad * square(x) * gate * (1.0 - gate))
            return grad * by_x, by_slope

        return x * sigmoid(slope * x), gradient

    activated: Tensor = custom_gradient(computed)(x, slope)
    return activated
