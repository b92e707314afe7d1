"""`smart_cond`: a conditional that needs no `cond` where its predicate is constant."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import sessrun.reference as tf
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.build.shape_inference_values import constant_value

__all__ = ["known_choice", "smart_cond"]


def known_choice(predicate: Any) -> bool | None:
    """The constant value of a predicate, or None if only a run can tell.

    Raises:
      TypeError: it is neither a tensor, a variable nor one of True, False, 1 and 0.

    """
    if isinstance(predicate, tf.Tensor):
        value = constant_value(predicate)
        return None if value is None else bool(value)
    if isinstance(predicate, Variable):
        return None
    if isinstance(predicate, Hashable) and predicate in {0, 1}:
        return bool(predicate)
    raise TypeError(
        "`pred` must be a Tensor, or a Python bool, or 1 or 0. "
        f"Found instead of type: {type(predicate)}"
    )


def smart_cond(predicate: Any, on: Callable[[], object], off: Callable[[], object]) -> Any:
    """Call `on` or `off` by a constant predicate; else build a `cond` of both."""
    known = known_choice(predicate)
    if known is None:
        return tf.cond(predicate, on, off)
    return on() if known else off()
