"""All properties of the suite, and the cases that they generate."""

from __future__ import annotations

import random

from sessrun.conformance.property import PROPERTIES, Property
from sessrun.conformance.subjects import load_modules
from sessrun.spec.cases.model import Case

__all__ = ["PROPERTIES", "Property", "generate"]


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


load_modules("properties")
