"""Functions of elements that also take a sparse tensor: its values change. Source: TF 2.21."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.api.ops.math_ops import EXPORTS as WRITTEN
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.build.generated import EXPORTS as GENERATED

__all__ = ["EXPORTS", "of_values"]


def of_values(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which of a sparse tensor gives one of the same places and other values.

    It is asked first with the sparse tensor itself, as in TensorFlow: that takes the name.
    """

    @functools.wraps(function)
    def mapped(x: Any, *args: Any, **options: Any) -> Any:
        try:
            return function(x, *args, **options)
        except (TypeError, ValueError):
            if not isinstance(x, SparseTensor):
                raise
        return SparseTensor(x.indices, function(x.values, *args, **options), x.dense_shape)

    return mapped


_NAMES: Final = (
    "abs",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "erf",
    "negative",
    "sign",
    "sin",
    "sqrt",
    "square",
    "tan",
    "tanh",
)
_MAPPED: Final = {name: of_values((GENERATED | WRITTEN)[name]) for name in _NAMES}

EXPORTS: Final[dict[str, Any]] = {
    **_MAPPED,
    **{f"math.{name}": _MAPPED[name] for name in _NAMES},
    "nn.tanh": _MAPPED["tanh"],
}
