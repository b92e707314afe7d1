"""Gradients of random numbers by the parameters of their distributions. Source: TF 2.21."""

from __future__ import annotations

import numpy as np

from sessrun.reference.api.ops.array_ops import broadcast_dynamic_shape, concat, reshape, where
from sessrun.reference.api.ops.clipping import clip_by_value
from sessrun.reference.api.ops.fill_ops import ones, ones_like
from sessrun.reference.api.ops.math_ops import absolute, range_
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.ops.shape_ops import rank, shape, size
from sessrun.reference.base import dtypes
from sessrun.reference.build import generated as functions
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.gradient_nodes import constants, gradient, late, node, nodes
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = ["add_leading_unit_dimensions"]

constants(
    (
        "ParameterizedTruncatedNormal",
        "StatelessMultinomial",
        "StatelessRandomBinomial",
        "StatelessRandomNormal",
        "StatelessRandomNormalV2",
        "StatelessRandomPoisson",
        "StatelessRandomUniform",
        "StatelessRandomUniformFullInt",
        "StatelessRandomUniformFullIntV2",
        "StatelessRandomUniformInt",
        "StatelessRandomUniformIntV2",
        "StatelessRandomUniformV2",
        "StatelessTruncatedNormal",
        "StatelessTruncatedNormalV2",
    )
)


def add_leading_unit_dimensions(x: Tensor, num_dimensions: TensorLike) -> Tensor:
    """A tensor with `num_dimensions` more dimensions of 1 in front."""
    return reshape(x, concat([ones([num_dimensions], dtypes.int32), shape(x)], axis=0))


@gradient("RandomGamma")
def _gamma(op: Operation, grad: Tensor) -> Gradients:
    sizes, alpha = op.inputs
    with default_graph.get_default_graph().control_dependencies([grad]):
        count = shape(sizes)[0]
        by_shape = node("RandomGammaGrad", add_leading_unit_dimensions(alpha, count), op.outputs[0])
        return [None, reduce_sum(grad * by_shape, axis=range_(count))]


@late("StatelessRandomGammaV2", "StatelessRandomGammaV3")
def _stateless_gamma(op: Operation, grad: Tensor) -> Gradients:
    sizes, *rest, alpha = op.inputs
    count = shape(sizes)[0] - rank(alpha)
    by_shape = node("RandomGammaGrad", add_leading_unit_dimensions(alpha, count), op.outputs[0])
    return [None, *(None for _ in rest), reduce_sum(grad * by_shape, axis=range_(count))]


def _normal_cdf(x: Tensor) -> Tensor:
    """The probability that a standard normal number is below x."""
    half = constant(0.5 * np.sqrt(2.0), dtype=x.dtype, name="half_sqrt_2")
    scaled = x * half
    size = absolute(scaled)
    is_near, near = size < half, 1.0 + functions.erf(scaled)
    far = where(scaled > 0.0, 2.0 - functions.erfc(size), functions.erfc(size))
    return 0.5 * where(is_near, near, far)


@late("StatelessParameterizedTruncatedNormal")
def _truncated_normal(op: Operation, grad: Tensor) -> Gradients:
    sizes, _, *parameters = op.inputs
    mean, width, low, high = parameters
    least, most, number = ((bound - mean) / width for bound in (low, high, op.outputs[0]))
    share = (_normal_cdf(number) - _normal_cdf(least)) / (_normal_cdf(most) - _normal_cdf(least))
    info = np.finfo(mean.dtype.as_numpy_dtype)
    share = clip_by_value(share, info.tiny, 1 - info.eps)
    by_high = functions.exp(0.5 * (number**2 - most**2) + functions.log(share))
    by_low = functions.exp(0.5 * (number**2 - least**2) + functions.log1p(-share))
    by_mean = ones_like(number)
    shapes = [shape(parameter) for parameter in parameters]
    broadcast_shape = broadcast_dynamic_shape(shapes[0], shapes[1])
    for parameter_shape in shapes[2:]:
        broadcast_shape = broadcast_dynamic_shape(parameter_shape, broadcast_shape)
    sample_axes = range_(size(sizes) - size(broadcast_shape))
    sums = [reduce_sum(grad * by, axis=sample_axes) for by in (by_mean, number, by_low, by_high)]
    axes = [nodes("BroadcastGradientArgs", broadcast_shape, sizes)[1] for sizes in shapes]
    return [
        None,
        None,
        *(
            reshape(reduce_sum(total, axis=reduced, keepdims=True), parameter_shape)
            for total, reduced, parameter_shape in zip(sums, axes, shapes, strict=True)
        ),
    ]
