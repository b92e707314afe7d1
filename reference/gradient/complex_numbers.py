"""Gradients of operations on complex numbers, and of casts."""

from __future__ import annotations

from sessrun.reference.api.ops.cast_ops import cast, complex_, conj, imag, real
from sessrun.reference.api.ops.fill_ops import zeros_like
from sessrun.reference.api.ops.math_ops import div_no_nan
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.generated import reciprocal
from sessrun.reference.build.gradient_nodes import gradient, late
from sessrun.reference.build.gradient_registry import Gradients
from sessrun.reference.gradient.broadcasting import of_pair
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

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
