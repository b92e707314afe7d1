"""Programs of the public namespace, in an order drawn by the seed, against the oracle.

A program builds graphs, runs them and returns values, tensors, nodes and errors. What it returns
is compared: names, static shapes, dtypes and error classes exactly, numbers nearly.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from typing import Final

from sessrun.conformance.property import prop
from sessrun.conformance.subjects.programs.registry import CLAUSES, RELEASES, programs_of
from sessrun.spec.cases.forms import Step
from sessrun.spec.cases.model import Case

#: How near numbers must be: some programs train for several steps.
_CONTRACT: Final = "close(2e-4, 2e-5)"
_OUTCOME: Final = "sessrun.conformance.checks.programs.outcome"
#: The property of each profile: its areas.
_AREAS: Final = {
    "core": ("graphs", "sessions"),
    "state": ("queues", "tables", "variables", "readers", "saving"),
    "training": ("tensor_arrays", "control_flow", "gradients"),
    "library": (
        "arrays",
        "numbers",
        "text",
        "sparse",
        "pictures",
        "networks",
        "layers",
        "training",
        "managed",
    ),
}


@functools.cache
def _order(areas: tuple[str, ...], seed: str) -> Sequence[str]:
    """The programs of the areas, in an order drawn by the seed."""
    names = sorted(name for area in areas for name in programs_of(area))
    random.Random(f"programs:{seed}").shuffle(names)
    return names


def _program_case(areas: tuple[str, ...], id_: str) -> Case:
    _, seed, index = id_.rsplit(":", 2)
    names = _order(areas, seed)
    name = names[int(index) % len(names)] if index.isdecimal() else names[0]
    step: Step = {
        "do": "check",
        "name": _OUTCOME,
        "args": {"program": name},
        "expect": {"oracle": {"contract": _CONTRACT}},
    }
    title = f"The program {name} gives what TensorFlow gives."
    clause = CLAUSES[name.partition("/")[0]]
    release = RELEASES.get(name, {})
    return Case(id_, title, "api", (clause,), (step,), release=release, deadline_s=60.0)


def _register(profile: str, areas: tuple[str, ...]) -> None:
    def rows() -> int:
        return sum(len(programs_of(area)) for area in areas)

    @prop(f"programs-{profile}", *(CLAUSES[area] for area in areas), weight=9, rows=rows)
    def programs(_: random.Random, id_: str) -> Case:
        """A program of the public namespace gives what TensorFlow gives."""
        return _program_case(areas, id_)


for _profile, _members in _AREAS.items():
    _register(_profile, _members)
