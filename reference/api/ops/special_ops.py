"""Special functions, each in a name scope as in TensorFlow; and polynomials."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from sessrun.reference.api import nest
from sessrun.reference.api.ops.fill_ops import zeros_like
from sessrun.reference.api.ops.math_ops import div_no_nan
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.api.ops.sparse_elementwise import of_values
from sessrun.reference.build import generated
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["SCOPED", "xlog1py"]


def _scoped(name: str, op_type: str) -> Callable[..., Tensor]:
    def function(x: TensorLike, name: str | None = None) -> Tensor:
        with name_scope(name, function.__name__, [x]):
            result: Tensor = apply_op(op_type, {"x": x}, {}, None).outputs[0]
            return result

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""The operation {op_type} in a scope.

    Args:
      x: a floating point tensor.
      name: the scope.

    Returns:
      A tensor of the same dtype and shape.

    """
    return function


#: The op types by the names of functions.
_OP_TYPES: Final[Mapping[str, str]] = {
    **{
        f"bessel_{kind}{mark}": f"Bessel{kind.upper()}{mark}"
        for kind, marks in (
            ("i", ("0", "0e", "1", "1e")),
            ("j", ("0", "1")),
            ("k", ("0", "0e", "1", "1e")),
            ("y", ("0", "1")),
        )
        for mark in marks
    },
    "dawsn": "Dawsn",
    "erfinv": "Erfinv",
    "expint": "Expint",
    "fresnel_cos": "FresnelCos",
    "fresnel_sin": "FresnelSin",
    "ndtri": "Ndtri",
    "spence": "Spence",
}
#: The functions that accept sparse tensors.
_OF_VALUES: Final = ("bessel_i0e", "bessel_i1e")
#: The functions by their names.
SCOPED: Final[Mapping[str, Callable[..., Tensor]]] = {
    name: of_values(_scoped(name, op_type)) if name in _OF_VALUES else _scoped(name, op_type)
    for name, op_type in _OP_TYPES.items()
}
for _name in ("bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "erfinv", "ndtri"):
    public(f"math.{_name}")(SCOPED[_name])
for _name in SCOPED.keys() - {"erfinv", "ndtri"}:
    public(f"math.special.{_name}")(SCOPED[_name])


@public("math.erfcinv")
def erfcinv(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of the complementary error function, computed by `ndtri`.

    Args:
      x: a floating point tensor of numbers in [0, 2].
      name: the operations' scope.

    Returns:
      A tensor of the same dtype and shape.

    """
    with name_scope(name, "erfcinv", [x]):
        start = convert_to_tensor(x, name="start")
        result: Tensor = -SCOPED["ndtri"](0.5 * start) * np.sqrt(0.5)
        return result


@public("lbeta", "math.lbeta")
def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the beta function, over the last dimension.

    Args:
      x: a floating point tensor of shape `[..., k]`.
      name: the operations' scope.

    Returns:
      A tensor of shape `[...]`.

    """
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        products = reduce_sum(generated.lgamma(x), axis=[-1])
        result: Tensor = products - generated.lgamma(reduce_sum(x, axis=[-1]))
        return result


@public("math.xdivy")
def xdivy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Elementwise x / y, but 0 where x is 0, with broadcasting; `name` is the scope."""
    with name_scope(name, "xdivy", [x]):
        result: Tensor = apply_op("Xdivy", {"x": x, "y": y}, {}, None).outputs[0]
        return result


@public("math.xlog1py")
def xlog1py(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Elementwise x * log(1 + y), but 0 where x is 0, with broadcasting; `name` is the scope."""
    with name_scope(name, "xlog1py", [x]):
        result: Tensor = apply_op("Xlog1py", {"x": x, "y": y}, {}, None).outputs[0]
        return result


@public("math.polyval")
def polyval(coeffs: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The value of a polynomial, by Horner's rule.

    Args:
      coeffs: a list of tensors, from the highest power on.
      x: a tensor.
      name: the operations' scope.

    Raises:
      ValueError: the coefficients are not a list.

    """
    if not isinstance(coeffs, list):
        raise bad_value(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    with name_scope(name, "polyval", [*nest.flatten(coeffs), x]) as scope:
        x = convert_to_tensor(x, name="x")
        if not coeffs:
            return zeros_like(x, name=scope)
        first, *others = [
            convert_to_tensor(coefficient, name=f"coeff_{index}")
            for index, coefficient in enumerate(coeffs)
        ]
        for coefficient in others:
            first = coefficient + first * x
        return first


@public("math.reciprocal_no_nan")
def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """Elementwise 1 / x, but 0 where x is 0."""
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        one = constant(1, dtype=x.dtype.base_dtype, name="one")
        return div_no_nan(one, x, name=scope)
