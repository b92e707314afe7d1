"""`case`: executes the first of several branches whose predicate holds."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.asserting import assert_
from sessrun.reference.api.control_flow.conditional import cond
from sessrun.reference.api.ops.array_ops import stack
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.reduce_ops import reduce_sum
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.generated import less_equal
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.public import public

__all__ = ["case"]

Branch = Callable[[], object]


@public("case")
def case(
    pred_fn_pairs: object,
    default: Branch | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """Execute the function of the first predicate that holds.

    Args:
      pred_fn_pairs: pairs of a bool scalar and a function, or a mapping of them.
      default: the function that runs if no predicate holds; if None, a run fails unless one holds.
      exclusive: whether a run fails if more than one predicate holds.
      strict: as for `cond`.
      name: a name scope.

    Raises:
      TypeError: `pred_fn_pairs` is not a list, tuple or dict of pairs, or a function cannot be
        called.
      ValueError: `pred_fn_pairs` is empty.

    """
    choose = functools.partial(cond, strict=strict)
    return first_that_holds(choose, pred_fn_pairs, default, exclusive, name)


def first_that_holds(
    choose: Callable[..., object],
    pred_fn_pairs: object,
    default: Branch | None,
    exclusive: bool,
    name: str,
) -> Any:
    """As `case`, with the function that chooses between two branches.

    Args:
      choose: a function such as `cond` or `smart_cond`, of a predicate and two functions.
      pred_fn_pairs: as for `case`.
      default: as for `case`.
      exclusive: as for `case`.
      name: as for `case`.

    Raises:
      TypeError: `pred_fn_pairs` is not a list, tuple or dict of pairs, or a function cannot be
        called.
      ValueError: `pred_fn_pairs` is empty.

    """
    pairs = _pairs(pred_fn_pairs)
    if default is not None and not callable(default):
        raise TypeError("'default' must be callable.")
    predicates = [pred for pred, _ in pairs]
    with name_scope(name, "case", predicates):
        last = default
        if last is None:
            last = _last_of(pairs)
            pairs, predicates = pairs[:-1], predicates[:-1]
        for pred, function in reversed(pairs):
            last = functools.partial(choose, pred, function, last)
        if not exclusive:
            return last()
        check = _at_most(1, predicates, "Input error: exclusive=True")
        with default_graph.get_default_graph().control_dependencies([check]):
            return last()


def _pairs(given: object) -> list[tuple[TensorLike, Branch]]:
    if isinstance(given, Mapping):
        given = sorted(given.items(), key=lambda item: item[0].name)
    if not isinstance(given, list | tuple):
        raise TypeError("'pred_fn_pairs' must be a list, tuple, or dict.")
    if not given:
        raise ValueError("'pred_fn_pairs' must have at least one pair.")
    for pair in given:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in 'pred_fn_pairs' must be a 2-tuple.")
        if not callable(pair[1]):
            raise TypeError("Second element of each 'pred_fn_pairs' entry must be callable.")
    return list(given)


def _last_of(pairs: Sequence[tuple[TensorLike, Branch]]) -> Branch:
    """The last pair's function, after a check that its predicate holds: for `case` without default.

    It also checks that no earlier predicate holds, since their branches would have been chosen.
    """
    *others, (pred, function) = pairs
    predicates = [predicate for predicate, _ in pairs]

    def branch() -> Any:
        shown = [
            "Input error: None of conditions evaluated as True:",
            stack(predicates, name="preds_c"),
        ]
        text = "Implementation error: an earlier branch should have been taken"
        checks = [_at_most(0, [predicate for predicate, _ in others], text), assert_(pred, shown)]
        with default_graph.get_default_graph().control_dependencies(checks):
            return function()

    return branch


def _at_most(number: int, predicates: Sequence[TensorLike], text: str) -> Operation:
    """An Assert that at most `number` of the predicates hold; `text` begins its message."""
    stacked = stack(list(predicates), name="preds_c")
    count = reduce_sum(cast(stacked, "int32"), name="num_true_conds")
    holds = less_equal(count, constant(number, name="n_true_conds"))
    names = ", ".join(getattr(predicate, "name", "?") for predicate in predicates)
    shown = [f"{text}: more than {number} conditions ({names}) evaluated as True:", stacked]
    return assert_(holds, shown, summarize=len(predicates))
