"""Gradients of random numbers by the parameters of their distributions. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

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
from sessrun.reference.build.gradient_nodes import constants, gradient, late, node
from sessrun.reference.graph import stacks
from sessrun.reference.graph.operation import Operation

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


def add_leading_unit_dimensions(x: Any, num_dimensions: Any) -> Any:
    """A tensor with that many dimensions of 1 in front."""
    return reshape(x, concat([ones([num_dimensions], dtypes.int32), shape(x)], axis=0))


@gradient("RandomGamma")
def _gamma(op: Operation, grad: Any) -> Any:
    sizes, alpha = op.inputs
    with stacks.get_default_graph().control_dependencies([grad]):
        count = shape(sizes)[0]
        by_shape = node("RandomGammaGrad", add_leading_unit_dimensions(alpha, count), op.outputs[0])
        return [None, reduce_sum(grad * by_shape, axis=range_(count))]


@late("StatelessRandomGammaV2", "StatelessRandomGammaV3")
def _stateless_gamma(op: Operation, grad: Any) -> Any:
    sizes, *rest, alpha = op.inputs
    count = shape(sizes)[0] - rank(alpha)
    by_shape = node("RandomGammaGrad", add_leading_unit_dimensions(alpha, count), op.outputs[0])
    return [None, *(None for _ in rest), reduce_sum(grad * by_shape, axis=range_(count))]


def _below(x: Any) -> Any:
    """How likely a standard normal number is below x."""
    half = constant(0.5 * np.sqrt(2.0), dtype=x.dtype, name="half_sqrt_2")
    turned = x * half
    size = absolute(turned)
    is_near, near = size < half, 1.0 + functions.erf(turned)
    far = where(turned > 0.0, 2.0 - functions.erfc(size), functions.erfc(size))
    return 0.5 * where(is_near, near, far)


@late("StatelessParameterizedTruncatedNormal")
def _truncated_normal(op: Operation, grad: Any) -> Any:
    sizes, _, *parameters = op.inputs
    mean, width, low, high = parameters
    least, most, number = ((each - mean) / width for each in (low, high, op.outputs[0]))
    share = (_below(number) - _below(least)) / (_below(most) - _below(least))
    info = np.finfo(mean.dtype.as_numpy_dtype)
    share = clip_by_value(share, info.tiny, 1 - info.eps)
    by_high = functions.exp(0.5 * (number**2 - most**2) + functions.log(share))
    by_low = functions.exp(0.5 * (number**2 - least**2) + functions.log1p(-share))
    by_mean = ones_like(number)
    shapes = [shape(each) for each in parameters]
    whole = broadcast_dynamic_shape(shapes[0], shapes[1])
    for each in shapes[2:]:
        whole = broadcast_dynamic_shape(each, whole)
    drawn = range_(size(sizes) - size(whole))
    sums = [reduce_sum(grad * by, axis=drawn) for by in (by_mean, number, by_low, by_high)]
    axes = [node("BroadcastGradientArgs", whole, each)[1] for each in shapes]
    return [
        None,
        None,
        *(
            reshape(reduce_sum(total, axis=over, keepdims=True), each)
            for total, over, each in zip(sums, axes, shapes, strict=True)
        ),
    ]
