"""Elementwise functions that accept sparse tensors, too: they apply to the values."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from sessrun.reference.api.ops import math_ops
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.build import generated
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.public import public

__all__ = ["of_values"]


def of_values(function: Callable[..., TensorLike]) -> Callable[..., Any]:
    """Let an elementwise function accept a sparse tensor, to whose values it is applied.

    It is first called with the sparse tensor itself, as in TensorFlow, which uses up a node name.
    """

    @functools.wraps(function)
    def mapped(x: TensorLike, *args: TensorLike, **options: Any) -> Any:
        try:
            return function(x, *args, **options)
        except (TypeError, ValueError):
            if not isinstance(x, SparseTensor):
                raise
        return SparseTensor(x.indices, function(x.values, *args, **options), x.dense_shape)

    return mapped


for _name, _function in {
    "abs": math_ops.absolute,
    "asin": generated.asin,
    "asinh": generated.asinh,
    "atan": generated.atan,
    "atanh": generated.atanh,
    "erf": generated.erf,
    "negative": generated.neg,
    "sign": math_ops.sign_,
    "sin": generated.sin,
    "sqrt": generated.sqrt,
    "square": generated.square,
    "tan": generated.tan,
}.items():
    public(_name, f"math.{_name}")(of_values(_function))
public("tanh", "math.tanh", "nn.tanh")(of_values(generated.tanh))
