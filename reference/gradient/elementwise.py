"""Gradients of elementwise operations.

By the chain rule they are the gradient of the output times a derivative; complex derivatives are
conjugated. Source: TF 2.21, whose nodes and order these are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sessrun.reference.api.ops.array_ops import where
from sessrun.reference.api.ops.cast_ops import cast, complex_, conj, imag, real
from sessrun.reference.api.ops.fill_ops import ones, ones_like, zeros, zeros_like
from sessrun.reference.api.ops.math_ops import add, div_no_nan, divide, not_equal, scalar_mul
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.ops.shape_ops import shape
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.generated import (
    cos,
    cosh,
    exp,
    floor_div,
    greater,
    greater_equal,
    less,
    less_equal,
    log,
    mul,
    neg,
    reciprocal,
    select_v2,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    sub,
    xlogy,
)
from sessrun.reference.build.generated import pow as power
from sessrun.reference.build.gradient_nodes import constants, gradient, late, node, nodes
from sessrun.reference.build.gradient_registry import GradientFunction, Gradients
from sessrun.reference.gradient.broadcasting import are_equal, of_first, of_pair, summed_to
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

constants(
    (
        "ApproximateEqual",
        "BitwiseAnd",
        "BitwiseOr",
        "BitwiseXor",
        "Equal",
        "Greater",
        "GreaterEqual",
        "Invert",
        "LeftShift",
        "Less",
        "LessEqual",
        "LogicalAnd",
        "LogicalNot",
        "LogicalOr",
        "NotEqual",
        "PopulationCount",
        "RightShift",
    )
)


def _one(grad: Tensor) -> Tensor:
    return constant(1, dtype=grad.dtype)


def _inverse_of_root(x: Tensor, grad: Tensor) -> Tensor:
    """1 / sqrt(1 - x^2)."""
    squared, one = square(x), _one(grad)
    return reciprocal(sqrt(sub(one, squared)))


def _of_acos(x: Tensor, grad: Tensor) -> Tensor:
    inverse = _inverse_of_root(x, grad)
    return -grad * inverse


def _over(sum_of: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """1 / (1 + x^2), or 1 / (1 - x^2)."""

    def derivative(x: Tensor, grad: Tensor) -> Tensor:
        squared, one = square(x), _one(grad)
        return reciprocal(sum_of(one, squared))

    return derivative


#: The gradient by the input, of the conjugated input and the output's gradient.
_BY_INPUT: Final[dict[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "Acos": _of_acos,
    "Asin": lambda x, grad: grad * _inverse_of_root(x, grad),
    "Atan": lambda x, grad: grad * _over(add)(x, grad),
    "Atanh": lambda x, grad: grad * _over(sub)(x, grad),
    "Cos": lambda x, grad: -grad * sin(x),
    "Cosh": lambda x, grad: grad * sinh(x),
    "Expm1": lambda x, grad: grad * exp(x),
    "Log": lambda x, grad: grad * reciprocal(x),
    "Log1p": lambda x, grad: grad * reciprocal(1 + x),
    "Sin": lambda x, grad: grad * cos(x),
    "Sinh": lambda x, grad: grad * cosh(x),
    "Square": lambda x, grad: mul(grad, mul(x, constant(2.0, dtype=x.dtype))),
    "Tan": lambda x, grad: square(reciprocal(cos(x))) * grad,
}
#: The gradient by the input, of the conjugated output and the output's gradient.
_BY_OUTPUT: Final[dict[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "Acosh": lambda y, grad: grad / sinh(y),
    "Asinh": lambda y, grad: grad / cosh(y),
    "Exp": lambda y, grad: grad * y,
    "Sigmoid": lambda y, grad: node("SigmoidGrad", y, grad),
    "Tanh": lambda y, grad: node("TanhGrad", y, grad),
}
#: Op types whose gradient is an operation that takes the output.
_OF_OUTPUT: Final = {
    "Inv": "ReciprocalGrad",
    "Reciprocal": "ReciprocalGrad",
    "Rsqrt": "RsqrtGrad",
    "Sqrt": "SqrtGrad",
}
#: Step functions: their gradient is None, but they are no constants.
_STEPS: Final = ("Ceil", "Floor", "Rint", "Round")

for _op_type, _by_input in _BY_INPUT.items():
    late(_op_type)(lambda op, grad, of=_by_input: of(conj(op.inputs[0]), grad))
for _op_type, _by_output in _BY_OUTPUT.items():
    late(_op_type)(lambda op, grad, of=_by_output: of(conj(op.outputs[0]), grad))
for _op_type, _grad_type in _OF_OUTPUT.items():
    gradient(_op_type)(lambda op, grad, grad_type=_grad_type: node(grad_type, op.outputs[0], grad))
gradient(*_STEPS)(lambda op, grad: [None])
gradient("FloorDiv", "TruncateDiv")(lambda op, grad: [None, None])
gradient("Neg")(lambda op, grad: -grad)
gradient("Abs")(lambda op, grad: grad * sign(op.inputs[0]))
gradient("Sign")(lambda op, grad: zeros_like(op.inputs[0]))
gradient("AddN", "AccumulateNV2")(lambda op, grad: [grad] * len(op.inputs))


@late("InvGrad", "ReciprocalGrad")
def _reciprocal_grad(op: Operation, grad: Tensor) -> Gradients:
    b = op.inputs[1]
    a, conjugate = conj(op.inputs[0]), conj(grad)
    return conjugate * -2.0 * b * a, node("ReciprocalGrad", a, grad)


@late("SqrtGrad")
def _sqrt_grad(op: Operation, grad: Tensor) -> Gradients:
    ratio = grad / op.inputs[0]
    return -conj(ratio) * op.outputs[0], 0.5 * ratio


@late("RsqrtGrad")
def _rsqrt_grad(op: Operation, grad: Tensor) -> Gradients:
    a, conjugate = conj(op.inputs[0]), conj(grad)
    return -1.5 * conjugate * op.inputs[1] * square(a), node("RsqrtGrad", a, grad)


@late("TanhGrad")
def _tanh_grad(op: Operation, grad: Tensor) -> Gradients:
    a, b = conj(op.inputs[0]), conj(op.inputs[1])
    return grad * -2.0 * b * a, node("TanhGrad", a, grad)


@late("SigmoidGrad")
def _sigmoid_grad(op: Operation, grad: Tensor) -> Gradients:
    a, b = conj(op.inputs[0]), conj(op.inputs[1])
    scaled = grad * b
    return scaled - 2.0 * scaled * a, node("SigmoidGrad", a, grad)


@gradient("Add", "AddV2")
def _add(op: Operation, grad: Tensor) -> Gradients:
    x, y = op.inputs
    return (grad, grad) if are_equal(x, y, grad) else of_pair((x, y), grad, grad)


@gradient("Sub")
def _sub(op: Operation, grad: Tensor) -> Gradients:
    x, y = op.inputs
    return (grad, -grad) if are_equal(x, y, grad) else of_pair((x, y), grad, -grad)


@gradient("Mul")
def _mul(op: Operation, grad: Tensor) -> Gradients:
    x, y = op.inputs
    if are_equal(x, y, grad) and grad.dtype in {dtypes.int32, dtypes.float32}:
        return mul(grad, y), mul(grad, x)
    return of_pair((x, y), mul(grad, conj(y)), mul(conj(x), grad))


@gradient("MulNoNan")
def _mul_no_nan(op: Operation, grad: Tensor) -> Gradients:
    x, y = op.inputs
    products = node("MulNoNan", grad, y), node("MulNoNan", x, grad)
    return products if are_equal(x, y, grad) else of_pair((x, y), *products)


def _quotient(divided: Callable[[Tensor, Tensor], Tensor]) -> GradientFunction:
    def function(op: Operation, grad: Tensor) -> Gradients:
        x, y = conj(op.inputs[0]), conj(op.inputs[1])
        of_x = divided(grad, y)
        of_y = grad * divided(divided(-x, y), y)
        return of_pair(op.inputs, of_x, of_y)

    return function


gradient("Div")(_quotient(divide))
gradient("RealDiv")(_quotient(lambda x, y: node("RealDiv", x, y)))
gradient("DivNoNan")(_quotient(div_no_nan))


@gradient("FloorMod")
def _floor_mod(op: Operation, grad: Tensor) -> Gradients:
    x, y = op.inputs
    quotient = floor_div(conj(x), conj(y))
    return of_pair((x, y), grad, grad * neg(quotient))


@gradient("Pow")
def _pow(op: Operation, grad: Tensor) -> Gradients:
    x, y = conj(op.inputs[0]), conj(op.inputs[1])
    of_x = grad * y * power(x, y - 1)
    # Where x has no logarithm, the derivative by y is 0.
    has_log = not_equal(x, 0) if op.inputs[0].dtype.is_complex else x > 0
    safe = where(has_log, x, ones_like(op.inputs[0]))
    logarithm = where(has_log, log(safe), zeros_like(op.inputs[0]))
    return of_pair(op.inputs, of_x, grad * conj(op.outputs[0]) * logarithm)


def _selected(is_first: Callable[[Tensor, Tensor], Tensor]) -> GradientFunction:
    """The gradient goes to the input that was selected, to the first of equal ones."""

    def function(op: Operation, grad: Tensor) -> Gradients:
        zero = zeros_like(grad)
        first = is_first(*op.inputs)
        return of_pair(op.inputs, select_v2(first, grad, zero), select_v2(first, zero, grad))

    return function


gradient("Maximum")(_selected(greater_equal))
gradient("Minimum")(_selected(less_equal))


@gradient("SquaredDifference")
def _squared_difference(op: Operation, grad: Tensor) -> Gradients:
    x, y = op.inputs
    with op.graph.control_dependencies([grad]):
        of_x = scalar_mul(2.0, grad) * (x - y)
    return (of_x, -of_x) if are_equal(x, y, grad) else of_pair((x, y), of_x, -of_x)


@late("Atan2")
def _atan2(op: Operation, grad: Tensor) -> Gradients:
    y, x = op.inputs
    scaled = grad / (square(y) + square(x))
    return of_pair((y, x), x * scaled, -y * scaled)


def _is_not_zero(x: Tensor) -> Tensor:
    return cast(not_equal(x, cast(0.0, x.dtype)), x.dtype)


@gradient("Xlogy")
def _xlogy(op: Operation, grad: Tensor) -> Gradients:
    x, y = op.inputs
    return summed_to(
        op.inputs, (lambda _: xlogy(_is_not_zero(x), y), lambda _: node("Xdivy", x, y)), grad
    )


@gradient("Xlog1py")
def _xlog1py(op: Operation, grad: Tensor) -> Gradients:
    x, y = op.inputs
    return summed_to(
        op.inputs,
        (lambda _: node("Xlog1py", _is_not_zero(x), y), lambda _: node("Xdivy", x, y + 1.0)),
        grad,
    )


@gradient("Xdivy")
def _xdivy(op: Operation, grad: Tensor) -> Gradients:
    x, y = op.inputs
    return summed_to(
        op.inputs,
        (lambda _: node("Xdivy", _is_not_zero(x), y), lambda _: node("Xdivy", neg(x), y**2)),
        grad,
    )


@gradient("NextAfter")
def _next_after(op: Operation, grad: Tensor) -> Gradients:
    partials = (lambda of_x: ones(of_x, grad.dtype), lambda of_y: zeros(of_y, grad.dtype))
    return summed_to(op.inputs, partials, grad)


@gradient("Select")
def _select(op: Operation, grad: Tensor) -> Gradients:
    which, x, _ = op.inputs
    zero = zeros_like(x)
    return None, where(which, grad, zero), where(which, zero, grad)


@gradient("SelectV2")
def _select_v2(op: Operation, grad: Tensor) -> Gradients:
    which, x, y = op.inputs
    zero = zeros([], grad.dtype.base_dtype)
    of_x, of_y = select_v2(which, grad, zero), select_v2(which, zero, grad)
    result = op.outputs[0]
    return None, of_first(x, result, of_x), of_first(y, result, of_y)


@gradient("ClipByValue")
def _clip_by_value(op: Operation, grad: Tensor) -> Gradients:
    x, low, high = op.inputs
    shapes = [shape(tensor) for tensor in op.inputs]
    zero = zeros(shape(grad), grad.dtype)
    below, above = less(x, low), greater(x, high)
    over_low = nodes("BroadcastGradientArgs", shapes[0], shapes[1])[1]
    over_high = nodes("BroadcastGradientArgs", shapes[0], shapes[2])[1]
    of_x = where(node("LogicalOr", below, above), zero, grad)
    of_low, of_high = where(below, grad, zero), where(above, grad, zero)
    return (
        of_x,
        node("Reshape", reduce_sum(of_low, over_low), shapes[1]),
        node("Reshape", reduce_sum(of_high, over_high), shapes[2]),
    )


_CASTABLE = frozenset(
    {
        dtypes.float16,
        dtypes.float32,
        dtypes.float64,
        dtypes.bfloat16,
        dtypes.complex64,
        dtypes.complex128,
    }
)


def _zero(grad: Tensor) -> Tensor:
    return constant(0, dtype=grad.dtype)


gradient("Conj")(lambda op, grad: conj(grad))
gradient("Imag")(lambda op, grad: complex_(_zero(grad), grad))
gradient("Real")(lambda op, grad: complex_(grad, _zero(grad)))


@gradient("Complex")
def _complex_grad(op: Operation, grad: Tensor) -> Gradients:
    return of_pair(op.inputs, real(grad), imag(grad))


@late("Angle")
def _angle(op: Operation, grad: Tensor) -> Gradients:
    x = op.inputs[0]
    real_part, imaginary_part = real(x), imag(x)
    inverse = reciprocal(complex_(imaginary_part, real_part))
    return -complex_(grad, _zero(grad)) * inverse


@gradient("ComplexAbs")
def _complex_abs(op: Operation, grad: Tensor) -> Gradients:
    scaled = complex_(grad, zeros_like(grad)) * op.inputs[0]
    size = complex_(op.outputs[0], zeros_like(op.outputs[0]))
    return div_no_nan(scaled, size)


@gradient("Cast")
def _cast(op: Operation, grad: Tensor) -> Gradients:
    source, target = op.inputs[0].dtype.base_dtype, grad.dtype.base_dtype
    return cast(grad, source) if source in _CASTABLE and target in _CASTABLE else None
