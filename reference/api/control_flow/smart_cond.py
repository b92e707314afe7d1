"""`smart_cond` and `smart_case`: branches chosen while the graph is built, where they can be."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.case import first_that_holds
from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.build.get_static_value import get_static_value
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.graph.tensor import Tensor

__all__ = ["smart_case", "smart_cond", "smart_constant_value"]


def smart_constant_value(pred: object) -> Any:
    """The value of a predicate if it is known while the graph is built, else None.

    Raises:
      TypeError: the predicate is neither a tensor nor one of True, False, 1 and 0.

    """
    if isinstance(pred, Tensor):
        value = get_static_value(pred)
        if value is not None:
            return value
        value = constant_value(pred)
        return None if value is None else value[()]
    if isinstance(pred, Hashable) and pred in {0, 1}:
        return bool(pred)
    raise TypeError(
        "Argument `pred` must be a Tensor, or a Python bool, or 1 or 0. Received: "
        f"pred={pred} of type {type(pred).__name__}"
    )


def smart_cond(
    pred: TensorLike,
    true_fn: Callable[[], object] | None = None,
    false_fn: Callable[[], object] | None = None,
    name: str | None = None,
) -> Any:
    """Call one of two functions if the predicate's value is known now, else build a `cond`.

    Args:
      pred: a bool, the number 0 or 1, or a scalar bool tensor.
      true_fn: a function without arguments: the result where the predicate is true.
      false_fn: a function without arguments: the result where the predicate is false.
      name: the name scope of the `cond`; not used if one of the functions is called.

    Returns:
      What the called function returns, or the result of `cond`.

    Raises:
      TypeError: a function cannot be called, or `pred` is of another type.

    """
    for label, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"Argument `{label}` must be callable. Received {function}")
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn, false_fn, name=name)
    chosen = true_fn if known else false_fn
    assert chosen is not None
    return chosen()


def smart_case(
    pred_fn_pairs: object,
    default: Callable[[], object] | None = None,
    exclusive: bool = False,
    name: str = "smart_case",
) -> Any:
    """As `case`, by `smart_cond`: no branch is built where a predicate's value is known now.

    Raises:
      TypeError: `pred_fn_pairs` is not a list, tuple or dict of pairs, or a function cannot be
        called.
      ValueError: `pred_fn_pairs` is empty.

    """
    return first_that_holds(smart_cond, pred_fn_pairs, default, exclusive, name)
