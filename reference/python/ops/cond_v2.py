"""`cond_v2`: branches as functions, whatever is switched on."""

from __future__ import annotations

from typing import Any

from sessrun.reference.control_flow.functional_branches import functional_cond

__all__ = ["cond_v2"]


def cond_v2(pred: Any, true_fn: Any, false_fn: Any, name: str | None = "cond") -> Any:
    """What one of two functions returns; the arguments are those of `tf.cond`."""
    return functional_cond(pred, true_fn, false_fn, name)
