"""Programs of int32 variables, branches, loops and effects: drawn, and run as plain Python.

A program has a few variables, a number that never changes (`fixed`), and states that its effects
change. All numbers are taken modulo 1009.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sessrun.conformance.subjects.control_flow.states import State

__all__ = [
    "CYCLES",
    "MODULUS",
    "OPS",
    "VARIABLES",
    "Again",
    "Choose",
    "Effect",
    "If",
    "Loop",
    "Passes",
    "Set",
    "Statement",
    "draw_program",
    "run_block",
    "touched",
]

VARIABLES: Final = 3
MODULUS: Final = 1009
#: A loop makes fewer iterations than this.
CYCLES: Final = 4
#: Branches and loops are nested no deeper.
_DEPTH: Final = 3
#: A block has no more statements.
_LONGEST: Final = 2
OPS: Final[dict[str, Callable[[int, int], int]]] = {
    "AddV2": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
}


@dataclass(frozen=True, slots=True)
class Set:
    """`target = (left op right) mod 1009`."""

    target: int
    op: str
    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect on a state, with the value of a variable."""

    state: int
    value: int


@dataclass(frozen=True, slots=True)
class If:
    """`if left < right: then else: otherwise`."""

    left: int
    right: int
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Choose:
    """`blocks[by mod (n + 1)]` of n blocks, and the last for the number n, which none has."""

    by: int
    blocks: tuple[tuple[Statement, ...], ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """`for _ in range(min(times mod 4, most)): body`, the variable looked at before the loop.

    Attributes:
      times: the variable.
      most: a limit beside it; None if there is none.
      parallel: how many iterations may be under way at once.
      asking: effects of the condition on the tally; the condition is executed once more often
        than the body.
      body: the statements.

    """

    times: int
    most: int | None
    parallel: int
    asking: tuple[Effect, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Again:
    """`for j in range(times): tally += fixed + j; sum += fixed + j`, then `target += sum`.

    It reads nothing that the loops around it change.
    """

    target: int
    times: int
    parallel: int


Statement = Set | Effect | If | Choose | Loop | Again


def draw_block(
    draw: random.Random, states: int, makers: Sequence[type], depth: int = 0, least: int = 0
) -> tuple[Statement, ...]:
    """Draw statements of these kinds, and of Set and Effect."""
    kinds: list[type] = [Set, Effect, Effect]
    if depth < _DEPTH:
        kinds += makers
    return tuple(
        _drawn(draw, draw.choice(kinds), states, makers, depth)
        for _ in range(draw.randint(least, _LONGEST))
    )


def draw_program(draw: random.Random, makers: Sequence[type], states: int) -> tuple[Statement, ...]:
    """Draw a program with at least one statement of each of these kinds."""
    return (
        *draw_block(draw, states, makers),
        *(_drawn(draw, maker, states, makers, 0) for maker in makers),
        *draw_block(draw, states, makers),
    )


def _drawn(
    draw: random.Random, kind: type, states: int, makers: Sequence[type], depth: int
) -> Statement:
    def block(least: int = 0) -> tuple[Statement, ...]:
        return draw_block(draw, states, makers, depth + 1, least)

    def variable() -> int:
        return draw.randrange(VARIABLES)

    parallel = draw.choice((1, 2, 10, 32))
    if kind is Set:
        return Set(variable(), draw.choice(sorted(OPS)), variable(), variable())
    if kind is Effect:
        return Effect(draw.randrange(states), variable())
    if kind is If:
        left, right = draw.sample(range(VARIABLES), 2)
        return If(left, right, block(), block(1))
    if kind is Choose:
        return Choose(variable(), tuple(block(1) for _ in range(draw.randint(1, 3))))
    if kind is Again:
        return Again(variable(), draw.randint(0, 3), parallel)
    asking = tuple(Effect(0, variable()) for _ in range(draw.choice((0, 0, 1))))
    most = draw.choice((None, None, 0, 1, 2, 5))
    return Loop(variable(), most, parallel, asking, block(1))


def touched(block: Sequence[Statement]) -> set[int]:
    """The indices of what its statements read or change: variables, then states."""
    places: set[int] = set()
    for statement in block:
        match statement:
            case Set(target, _, left, right):
                places |= {target, left, right}
            case Effect(state, value):
                places |= {value, VARIABLES + state}
            case If(left, right, then, otherwise):
                places |= {left, right} | touched(then) | touched(otherwise)
            case Choose(by, blocks):
                places |= {by}.union(*map(touched, blocks))
            case Loop(times, _, _, asking, body):
                places |= {times} | touched(asking) | touched(body)
            case Again(target):
                places |= {target, VARIABLES}
    return places


class Passes(Counter[tuple[int, str]]):
    """How often parts of statements were executed, by a statement's identity and a part's name."""


def run_block(
    block: Sequence[Statement],
    variables: list[int],
    fixed: int,
    states: Sequence[State],
    passes: Passes | None = None,
) -> None:
    """Change the variables, and the models of the states, as the statements say.

    Args:
      block: the statements.
      variables: the variables.
      fixed: the number that never changes.
      states: the states; the first is the tally.
      passes: counts the parts that are executed: of each statement the part without a name, of
        loops also `asked`, the condition, and `turned`, the body.

    """
    counted = Passes() if passes is None else passes
    for statement in block:
        counted[id(statement), ""] += 1
        _run(statement, variables, fixed, states, counted)


def _run(
    statement: Statement, variables: list[int], fixed: int, states: Sequence[State], passes: Passes
) -> None:
    match statement:
        case Set(target, op, left, right):
            variables[target] = OPS[op](variables[left], variables[right]) % MODULUS
        case Effect(state, value):
            states[state].happen(variables[value])
        case If(left, right, then, otherwise):
            taken = then if variables[left] < variables[right] else otherwise
            run_block(taken, variables, fixed, states, passes)
        case Choose(by, blocks):
            number = variables[by] % (len(blocks) + 1)
            run_block(blocks[min(number, len(blocks) - 1)], variables, fixed, states, passes)
        case Loop(times, most, _, asking, body):
            cycles = variables[times] % CYCLES
            limit = cycles if most is None else min(cycles, most)
            for turn in range(limit + 1):
                passes[id(statement), "asked"] += 1
                run_block(asking, variables, fixed, states, passes)
                if turn < limit:
                    passes[id(statement), "turned"] += 1
                    run_block(body, variables, fixed, states, passes)
        case Again(target, times, _):
            terms = [fixed + turn for turn in range(times)]
            passes[id(statement), "asked"] += times + 1
            passes[id(statement), "turned"] += times
            for term in terms:
                states[0].happen(term)
            variables[target] = (variables[target] + sum(terms)) % MODULUS
