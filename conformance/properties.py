"""All properties of the suite, and the cases that they generate."""

from __future__ import annotations

import functools
import random
from typing import Any

from sessrun.conformance.property import PROPERTIES, Property
from sessrun.conformance.subjects import load_modules
from sessrun.spec.cases.model import Case

__all__ = ["PROPERTIES", "Property", "generate", "strategy"]


def generate(name: str, seed: int, index: int) -> Case:
    """The case `name:seed:index`.

    Raises:
      ValueError: it tests no clause; no package could hold it.

    """
    id_ = f"{name}:{seed}:{index}"
    # str seeds hash with SHA-512 in `random`, so every id has a stream of its own.
    case = PROPERTIES[name].generator(random.Random(id_), id_)
    if not case.clauses:
        raise ValueError(f"the case {id_} of the property {name!r} tests no clause")
    return case


def strategy(name: str) -> Any:
    """A Hypothesis strategy of the property's cases: the same code, draws that shrink."""
    from hypothesis import strategies as st  # noqa: PLC0415 - only development explores

    make = functools.partial(PROPERTIES[name].generator)
    return st.randoms(use_true_random=False).map(lambda draw: make(draw, f"{name}:explored:0"))


load_modules("properties")
