"""Gradients of special functions. Source: TF 2.21, whose nodes and order these are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from sessrun.reference.api.ops.array_ops import reshape, where
from sessrun.reference.api.ops.cast_ops import cast, conj
from sessrun.reference.api.ops.fill_ops import ones_like
from sessrun.reference.api.ops.math_ops import div, equal
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.api.ops.special_ops import SCOPED, xlog1py
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.generated import (
    cos,
    exp,
    lgamma,
    log,
    polygamma,
    reciprocal,
    select_v2,
    sign,
    sin,
    square,
    xlogy,
    zeta,
)
from sessrun.reference.build.generated import digamma as digamma_of
from sessrun.reference.build.gradient_nodes import gradient, late, node, nodes
from sessrun.reference.build.gradient_registry import GradientFunction, Gradients
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor


def _with_factor(factor: float, of: GradientFunction) -> GradientFunction:
    """The gradient times a constant factor, which is made first, and times a derivative."""

    def function(op: Operation, grad: Tensor) -> Gradients:
        scale = constant(factor, dtype=grad.dtype)
        with get_default_graph().control_dependencies([grad]):
            return of(op, grad * scale)

    return function


def _normal_curve(op: Operation, scaled: Tensor) -> Gradients:
    return scaled * exp(-square(conj(op.inputs[0])))


gradient("Erf")(_with_factor(2 / np.sqrt(np.pi), _normal_curve))
gradient("Erfc")(_with_factor(-2 / np.sqrt(np.pi), _normal_curve))
gradient("Erfinv")(
    _with_factor(np.sqrt(np.pi) / 2, lambda op, scaled: scaled * exp(square(op.outputs[0])))
)
gradient("Ndtri")(
    _with_factor(np.sqrt(2 * np.pi), lambda op, scaled: scaled * exp(square(op.outputs[0]) / 2.0))
)


def _at_zero(value: float, x: Tensor, elsewhere: Callable[[], Tensor]) -> Tensor:
    """A value where x is 0, since the formula for other x divides by zero there."""
    is_zero = equal(x, 0.0)
    limit = cast(value, x.dtype)
    return select_v2(is_zero, limit, elsewhere())


def _of_i1(x: Tensor, y: Tensor) -> Tensor:
    return _at_zero(1.0, x, lambda: SCOPED["bessel_i0"](x) - div(y, x))


def _of_i1e(x: Tensor, y: Tensor) -> Tensor:
    return _at_zero(0.5, x, lambda: SCOPED["bessel_i0e"](x) - y * (sign(x) + reciprocal(x)))


def _of_j1(x: Tensor, y: Tensor) -> Tensor:
    return _at_zero(0.5, x, lambda: SCOPED["bessel_j0"](x) - div(y, x))


def _of_spence(x: Tensor, _: Tensor) -> Tensor:
    derivative = log(x) / (1 - x)
    return where(equal(x, 1.0), -ones_like(x), derivative)


def _of_digamma(x: Tensor, _: Tensor) -> Tensor:
    x = conj(x)
    return polygamma(constant(1, dtype=x.dtype), x)


#: The derivative by the input, of the input and the output.
_DERIVATIVES: Final[dict[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "BesselI0": lambda x, y: SCOPED["bessel_i1"](x),
    "BesselI0e": lambda x, y: SCOPED["bessel_i1e"](x) - sign(x) * y,
    "BesselI1": _of_i1,
    "BesselI1e": _of_i1e,
    "BesselJ0": lambda x, y: -SCOPED["bessel_j1"](x),
    "BesselJ1": _of_j1,
    "BesselK0": lambda x, y: -SCOPED["bessel_k1"](x),
    "BesselK0e": lambda x, y: y - SCOPED["bessel_k1e"](x),
    "BesselK1": lambda x, y: -SCOPED["bessel_k0"](x) - div(y, x),
    "BesselK1e": lambda x, y: y * (1.0 - reciprocal(x)) - SCOPED["bessel_k0e"](x),
    "BesselY0": lambda x, y: -SCOPED["bessel_y1"](x),
    "BesselY1": lambda x, y: SCOPED["bessel_y0"](x) - div(y, x),
    "Dawsn": lambda x, y: 1.0 - 2 * x * y,
    "Digamma": _of_digamma,
    "FresnelCos": lambda x, y: cos((np.pi / 2.0) * square(x)),
    "FresnelSin": lambda x, y: sin((np.pi / 2.0) * square(x)),
    "Lgamma": lambda x, y: digamma_of(conj(x)),
    "Spence": _of_spence,
}
for _op_type, _derivative in _DERIVATIVES.items():
    late(_op_type)(lambda op, grad, of=_derivative: grad * of(op.inputs[0], op.outputs[0]))
late("Expint")(lambda op, grad: grad * exp(op.inputs[0]) / op.inputs[0])


def _broadcast_axes(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The shapes of x and y, and the axes along which x and y are broadcast."""
    of_x, of_y = shape(x), shape(y)
    axes = nodes("BroadcastGradientArgs", of_x, of_y)
    return of_x, of_y, axes[0], axes[1]


@gradient("Igamma")
def _igamma(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor]:
    a, x = op.inputs
    of_a, of_x, axes_a, axes_x = _broadcast_axes(a, x)
    with get_default_graph().control_dependencies([grad]):
        by_a = node("IgammaGradA", a, x)
        # In logarithms: the gamma function and its derivative can be large.
        by_x = exp(-x + (a - 1) * log(x) - lgamma(a))
        return (
            reshape(reduce_sum(by_a * grad, axes_a), of_a),
            reshape(reduce_sum(by_x * grad, axes_x), of_x),
        )


@gradient("Igammac")
def _igammac(op: Operation, grad: Tensor) -> Gradients:
    by_a, by_x = _igamma(op, grad)
    return -by_a, -by_x


@gradient("Betainc")
def _betainc(op: Operation, grad: Tensor) -> Gradients:
    a, b, x = op.inputs
    _, of_x, _, axes = _broadcast_axes(a, x)
    log_beta = lgamma(a) + lgamma(b) - lgamma(a + b)
    by_x = exp(xlog1py(b - 1, -x) + xlogy(a - 1, x) - log_beta)
    return None, None, reshape(reduce_sum(by_x * grad, axes), of_x)


def _by_second(derivative: Callable[[Tensor, Tensor], Tensor]) -> GradientFunction:
    def function(op: Operation, grad: Tensor) -> Gradients:
        _, of_second, _, axes = _broadcast_axes(*op.inputs)
        with get_default_graph().control_dependencies([grad]):
            partial = derivative(conj(op.inputs[0]), conj(op.inputs[1]))
            return None, reshape(reduce_sum(partial * grad, axes), of_second)

    return function


gradient("Zeta")(_by_second(lambda x, q: -x * zeta(x + 1, q)))
gradient("Polygamma")(_by_second(lambda n, x: polygamma(n + 1, x)))
