"""Faults of one input's form: a dimension, a row or a column more or less, a number below zero."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sessrun.spec.operations import Name, Operation, RuleCall
from sessrun.spec.rules.domains import Arguments, Draw
from sessrun.spec.rules.faults.base import Fault, Seen, changed, fault, valid
from sessrun.spec.rules.shapes import ShapeError, infer

__all__ = ["FORMS", "malformed_arguments"]

#: How often valid arguments are drawn until none is empty and one has the rank that a change needs:
#: of a fault that is declared there are such, of any other there may be none.
_TRIES_DECLARED: Final = 2000
_TRIES_ANY: Final = 20


@dataclass(frozen=True, slots=True)
class _Form:
    """A change of one input: from an input that it can be made of to another, or None."""

    what: str
    change: Callable[[np.ndarray], np.ndarray | None]


def _below_zero(value: np.ndarray) -> np.ndarray | None:
    if value.dtype.kind not in "if":
        return None
    numbers = value.copy()
    numbers.reshape(-1)[0] = -7
    return numbers


def _twice(value: np.ndarray, axis: int) -> np.ndarray:
    return np.concatenate([value, value.take([0], axis)], axis)


#: What can be asked of every input of every operation.
FORMS: Final[Mapping[str, _Form]] = {
    "one_row_more": _Form(
        "The first row of an input once more at its end; of a number a vector of two.",
        lambda value: _twice(np.atleast_1d(value), 0),
    ),
    "one_row_alone": _Form(
        "The first row of an input, without the dimension of rows.",
        lambda value: value[0] if value.ndim else None,
    ),
    "one_row_less": _Form(
        "An input without its last row.", lambda value: value[:-1] if value.ndim else None
    ),
    "no_rows": _Form("An input without its rows.", lambda value: value[:0] if value.ndim else None),
    "one_column_more": _Form(
        "The first column of an input once more at its end.",
        lambda value: _twice(value, value.ndim - 1) if value.ndim > 1 else None,
    ),
    "one_dimension_more": _Form(
        "An input as the only row of a tensor; of a number a vector of one.",
        lambda value: value[np.newaxis],
    ),
    "below_zero": _Form("An input whose first number is -7.", _below_zero),
}
#: What an operation says of an input that no form of is asked.
_ANY: Final = "any_form"


def _declare(name: str, form: _Form) -> None:
    def faulty(draw: Draw, x: str, seen: Seen = "run") -> Fault:
        drawn = ((draw, valid(draw)) for _ in range(_TRIES_DECLARED))
        malformed = _changed(drawn, x, form, seen)
        if malformed is None:
            raise ValueError(f"{draw.operation.name}: {x} has no form for {name}")
        return malformed

    faulty.__name__, faulty.__doc__ = name, form.what
    fault(faulty)


for _name, _form in FORMS.items():
    _declare(_name, _form)


def malformed_arguments(operation: Operation, draw: random.Random) -> Iterator[tuple[str, Fault]]:
    """Each form of each input that the operation's shape rule refuses, by what it is called.

    Where a run is not refused although the rule refuses, the operation says so (`unchecked`):
    of one form of an input, or of `any_form`.
    """
    drawn = _Drawn(operation, draw)
    for arg in operation.inputs:
        for name, form in FORMS.items():
            unasked = {RuleCall(call, (Name(arg.name),)) for call in (name, _ANY)}
            if not unasked.isdisjoint(operation.unchecked):
                continue
            faulty = _changed(drawn.arguments(), arg.name, form)
            if faulty is not None and _is_refused(operation, faulty.arguments):
                yield f"{name}({arg.name})", faulty


class _Drawn:
    """Valid arguments of an operation, drawn when first asked for: its forms share them."""

    def __init__(self, operation: Operation, draw: random.Random) -> None:
        self._operation = operation
        self._draw = draw
        self._drawn: list[tuple[Draw, Arguments]] = []

    def arguments(self) -> Iterator[tuple[Draw, Arguments]]:
        """The first ones again, then more, at most `_TRIES_ANY`."""
        for index in range(_TRIES_ANY):
            if index == len(self._drawn):
                draw = Draw(self._operation, self._draw)
                self._drawn.append((draw, valid(draw)))
            yield self._drawn[index]


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


def _changed(
    drawn: Iterable[tuple[Draw, Arguments]], x: str, form: _Form, seen: Seen = "run"
) -> Fault | None:
    """The first of valid arguments, none of them empty, of which one input takes the form.

    Of a list its first tensor is changed.
    """
    for draw, arguments in drawn:
        if any(not item.size for value in arguments.inputs.values() for item in _items(value)):
            continue
        items = _items(arguments.inputs[x])
        wrong = form.change(items[0]) if items else None
        if wrong is not None:
            wrong = np.asarray(wrong, items[0].dtype)
            is_list = isinstance(arguments.inputs[x], list)
            return changed(draw, arguments, seen, **{x: [wrong, *items[1:]] if is_list else wrong})
    return None


def _items(value: Any) -> list[np.ndarray]:
    """The tensors of an input."""
    return value if isinstance(value, list) else [np.asarray(value)]
