"""`smart_cond`: a conditional that needs no `cond` where its predicate is constant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sessrun.reference as tf
from sessrun.reference.api.control_flow.smart_cond import smart_constant_value
from sessrun.reference.api.variables.variable_base import Variable

__all__ = ["known_choice", "smart_cond"]


def known_choice(predicate: Any) -> bool | None:
    """The constant value of a predicate, or None if only a run can tell.

    Raises:
      TypeError: it is neither a tensor, a variable nor one of True, False, 1 and 0.

    """
    if isinstance(predicate, Variable):
        return None
    known = smart_constant_value(predicate)
    return None if known is None else bool(known)


def smart_cond(predicate: Any, on: Callable[[], object], off: Callable[[], object]) -> Any:
    """Call `on` or `off` by a constant predicate; else build a `cond` of both."""
    known = known_choice(predicate)
    if known is None:
        return tf.cond(predicate, on, off)
    return on() if known else off()
