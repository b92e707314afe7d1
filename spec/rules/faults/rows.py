"""Faults of one input's form: a dimension, a row or a column more or less, a number below zero."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from sessrun.spec.operations import Name, Operation, RuleCall
from sessrun.spec.rules.domains import Arguments, Draw
from sessrun.spec.rules.faults.base import FAULTS, Fault, Seen, changed, fault, valid
from sessrun.spec.rules.shapes import ShapeError, infer

__all__ = ["FORMS", "malformed_arguments"]

#: How often valid arguments are drawn until none is empty and one has the rank that a change needs.
_TRIES: Final = 20


@fault
def one_row_more(draw: Draw, x: str, seen: Seen = "run") -> Fault:
    """The first row of an input once more at its end; of a number a vector of two."""
    return _changed(draw, x, seen, lambda rows: np.concatenate([rows, rows[:1]]), np.atleast_1d)


@fault
def one_row_alone(draw: Draw, x: str, seen: Seen = "run") -> Fault:
    """The first row of an input, without the dimension of rows."""
    return _changed(draw, x, seen, lambda rows: rows[0], _of_rank(1))


@fault
def one_row_less(draw: Draw, x: str, seen: Seen = "run") -> Fault:
    """An input without its last row."""
    return _changed(draw, x, seen, lambda rows: rows[:-1], _of_rank(1))


@fault
def no_rows(draw: Draw, x: str, seen: Seen = "run") -> Fault:
    """An input without its rows."""
    return _changed(draw, x, seen, lambda rows: rows[:0], _of_rank(1))


@fault
def one_column_more(draw: Draw, x: str, seen: Seen = "run") -> Fault:
    """The first column of an input once more at its end."""
    return _changed(draw, x, seen, lambda t: np.concatenate([t, t[..., :1]], axis=-1), _of_rank(2))


@fault
def one_dimension_more(draw: Draw, x: str, seen: Seen = "run") -> Fault:
    """An input as the only row of a tensor; of a number a vector of one."""
    return _changed(draw, x, seen, lambda value: value[np.newaxis])


@fault
def below_zero(draw: Draw, x: str, seen: Seen = "run") -> Fault:
    """An input whose first number is -7."""

    def negative(value: np.ndarray) -> np.ndarray:
        numbers = value.copy()
        numbers.reshape(-1)[0] = -7
        return numbers

    return _changed(draw, x, seen, negative, lambda v: v if v.dtype.kind in "if" else None)


#: The faults of this module, which can be asked of every input of every operation.
FORMS: Final = (
    "one_row_more", "one_row_alone", "one_row_less", "no_rows", "one_column_more",
    "one_dimension_more", "below_zero",
)  # fmt: skip


#: What an operation says of an input that no form of is asked.
_ANY: Final = "any_form"


def malformed_arguments(operation: Operation, draw: random.Random) -> Iterator[tuple[str, Fault]]:
    """Each form of each input that the operation's shape rule refuses, by what it is called.

    Where a run is not refused although the rule refuses, the operation says so (`unchecked`):
    of one form of an input, or of `any_form`.
    """
    for arg in operation.inputs:
        for form in FORMS:
            unasked = {RuleCall(name, (Name(arg.name),)) for name in (form, _ANY)}
            if not unasked.isdisjoint(operation.unchecked):
                continue
            try:
                faulty = FAULTS[form](Draw(operation, draw), arg.name)
            except _NoSuchFormError:
                continue
            if _is_refused(operation, faulty.arguments):
                yield f"{form}({arg.name})", faulty


def _is_refused(operation: Operation, given: Arguments) -> bool:
    """Whether the shape rule refuses the arguments."""
    shapes: Mapping[str, Any] = {
        name: [item.shape for item in value] if isinstance(value, list) else value.shape
        for name, value in given.inputs.items()
    }
    try:
        infer(operation, shapes, given.attrs, value=given.inputs.__getitem__)
    except ShapeError:
        return True
    return False


class _NoSuchFormError(ValueError):
    """An input is never of a form that can be changed so."""


def _of_rank(least: int) -> Callable[[np.ndarray], np.ndarray | None]:
    return lambda value: value if value.ndim >= least else None


def _changed(
    draw: Draw,
    x: str,
    seen: Seen,
    change: Callable[[np.ndarray], np.ndarray],
    form: Callable[[np.ndarray], np.ndarray | None] = np.asarray,
) -> Fault:
    """Valid arguments, none empty, of which one, or the first of a list, is changed."""
    for _ in range(_TRIES):
        made = valid(draw)
        if any(not item.size for value in made.inputs.values() for item in _items(value)):
            continue
        items = _items(made.inputs[x])
        whole = form(items[0]) if items else None
        if whole is not None:
            wrong = np.asarray(change(whole), whole.dtype)
            is_list = isinstance(made.inputs[x], list)
            return changed(draw, made, seen, **{x: [wrong, *items[1:]] if is_list else wrong})
    raise _NoSuchFormError(f"{draw.operation.name}: {x} has no such form")


def _items(value: Any) -> list[np.ndarray]:
    """The tensors of an input."""
    return value if isinstance(value, list) else [np.asarray(value)]
