"""Gradients of random numbers by the parameters of their distributions. Source: TF 2.21."""

from __future__ import annotations

from typing import Any

from sessrun.reference import dtypes, stacks
from sessrun.reference.differentiation.nodes import constants, gradient, node
from sessrun.reference.operation import Operation
from sessrun.reference.ops.array_ops import concat, reshape
from sessrun.reference.ops.fill_ops import ones
from sessrun.reference.ops.math_ops import range_
from sessrun.reference.ops.reduce_ops import reduce_sum
from sessrun.reference.ops.shape_ops import shape

__all__: list[str] = []

constants((
    "StatelessMultinomial", "StatelessRandomGammaV2", "StatelessRandomGammaV3",
    "StatelessRandomNormal", "StatelessRandomNormalV2", "StatelessRandomPoisson",
    "StatelessRandomUniform", "StatelessRandomUniformFullInt", "StatelessRandomUniformFullIntV2",
    "StatelessRandomUniformInt", "StatelessRandomUniformIntV2", "StatelessRandomUniformV2",
    "StatelessTruncatedNormal", "StatelessTruncatedNormalV2",
))  # fmt: skip


@gradient("RandomGamma")
def _gamma(op: Operation, grad: Any) -> Any:
    sizes, alpha = op.inputs
    with stacks.get_default_graph().control_dependencies([grad]):
        count = shape(sizes)[0]
        leading = concat([ones([count], dtypes.int32), shape(alpha)], axis=0)
        by_shape = node("RandomGammaGrad", reshape(alpha, leading), op.outputs[0])
        return [None, reduce_sum(grad * by_shape, axis=range_(count))]
