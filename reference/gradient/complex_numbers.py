"""Gradients of operations on complex numbers, and of casts."""

from __future__ import annotations

from typing import Any

from sessrun.reference.api.ops import cast_ops
from sessrun.reference.api.ops.cast_ops import cast, conj
from sessrun.reference.api.ops.fill_ops import zeros_like
from sessrun.reference.api.ops.math_ops import div_no_nan
from sessrun.reference.base import dtypes
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.generated import reciprocal
from sessrun.reference.build.gradient_nodes import gradient, late
from sessrun.reference.gradient.broadcasting import of_pair
from sessrun.reference.graph.operation import Operation

__all__: list[str] = []

_complex = cast_ops.complex_
_real, _imag = cast_ops.real, cast_ops.imag
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


def _zero(grad: Any) -> Any:
    return constant(0, dtype=grad.dtype)


gradient("Conj")(lambda op, grad: conj(grad))
gradient("Imag")(lambda op, grad: _complex(_zero(grad), grad))
gradient("Real")(lambda op, grad: _complex(grad, _zero(grad)))


@gradient("Complex")
def _complex_grad(op: Operation, grad: Any) -> Any:
    return of_pair(op.inputs, _real(grad), _imag(grad))


@late("Angle")
def _angle(op: Operation, grad: Any) -> Any:
    x = op.inputs[0]
    real, imag = _real(x), _imag(x)
    turned = reciprocal(_complex(imag, real))
    return -_complex(grad, _zero(grad)) * turned


@gradient("ComplexAbs")
def _complex_abs(op: Operation, grad: Any) -> Any:
    scaled = _complex(grad, zeros_like(grad)) * op.inputs[0]
    size = _complex(op.outputs[0], zeros_like(op.outputs[0]))
    return div_no_nan(scaled, size)


@gradient("Cast")
def _cast(op: Operation, grad: Any) -> Any:
    source, target = op.inputs[0].dtype.base_dtype, grad.dtype.base_dtype
    return cast(grad, source) if source in _CASTABLE and target in _CASTABLE else None
