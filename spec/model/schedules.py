"""All that a program may give: every order in which its activities may execute."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TypeVar

from sessrun.spec.model.run import Choose

__all__ = ["every_outcome"]

Result = TypeVar("Result")


def every_outcome(program: Callable[[Choose], Result]) -> Iterator[Result]:
    """What a program gives for each way to choose among the activities that are ready.

    Args:
      program: makes a session of its own and executes runs in it, with the choice that it is given
        (`run.proceed`, `Session.run`). It is called once for each order; there are as many as there
        are interleavings, so that a program must be small.

    """
    choices: list[int] = []
    while True:
        taken: list[tuple[int, int]] = []
        yield program(functools.partial(_choose, choices, taken))
        while taken and taken[-1][0] + 1 == taken[-1][1]:
            taken.pop()
        if not taken:
            return
        last, _ = taken.pop()
        choices = [number for number, _ in taken] + [last + 1]


def _choose(choices: list[int], taken: list[tuple[int, int]], count: int) -> int:
    """The next of the choices, or the first activity where they end; noted in `taken`."""
    number = choices[len(taken)] if len(taken) < len(choices) else 0
    taken.append((number, count))
    return number
