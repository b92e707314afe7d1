"""Faults of strings."""

from __future__ import annotations

import numpy as np

from sessrun.spec.rules.domains import Draw
from sessrun.spec.rules.domains.base import Arguments
from sessrun.spec.rules.faults.base import Fault, changed, fault
from sessrun.spec.rules.faults.elementwise import valid

__all__: list[str] = []


def _vector(*items: bytes) -> np.ndarray:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


@fault
def not_numerals(draw: Draw, x: str) -> Fault:
    """A text that says no number."""
    text = draw.random.choice([b"", b"abc", b"1x", b"--1", b"1 2"])
    return Fault(draw.arguments(**{x: _vector(b"1", text)}), seen="run")


@fault
def not_web_safe(draw: Draw, x: str) -> Fault:
    """A text with a letter that is not of the web-safe alphabet, or cut short."""
    text = draw.random.choice([b"ab+/", b"a b=", b"a"])
    return Fault(draw.arguments(**{x: _vector(text)}), seen="run")


@fault
def part_range(draw: Draw, x: str, pos: str, length: str) -> Fault:
    """A position beyond the string."""
    place = draw.random.choice([4, -4])
    made = Arguments({x: _vector(b"abc"), length: draw.integers(length, 1)}, draw.attrs)
    return changed(draw, made, "run", **{pos: draw.integers(pos, place)})


@fault
def split_rows(draw: Draw, splits: str) -> Fault:
    """Splits that do not begin with 0, or end elsewhere than the values, or fall."""
    made = valid(draw)
    last = int(made.inputs[splits][-1])
    wrong = draw.random.choice(([1, last], [0, last + 1], [0, last, last - 1, last], [-1, last]))
    return changed(draw, made, "run", **{splits: draw.integers(splits, wrong)})
