"""Random programs of branches and loops: what they leave, as a model of them says."""

from __future__ import annotations

import random
from typing import Final

import numpy as np

from sessrun.conformance.property import prop
from sessrun.conformance.subjects.run.programs import PLAIN, VARIABLES, draw_program
from sessrun.spec import tensors
from sessrun.spec.cases.forms import Step
from sessrun.spec.cases.model import Case, clauses_of
from sessrun.spec.forms import JsonObject

_BRANCH: Final = "RUN-049"
_LOOP: Final = "RUN-056"
_EFFECT: Final = "RUN-057"


def _scalar(value: int) -> JsonObject:
    return tensors.encode(np.array(value, np.int32))


@prop("programs", _BRANCH, _LOOP, _EFFECT)
def programs(draw: random.Random, id_: str) -> Case:
    """Branches and loops inside of each other execute what a program of them says, and no more."""
    program = draw_program(draw)
    steps: list[Step] = [
        {"do": "open", "session": "s", "graph": "g", "config": PLAIN},
        {"do": "run", "session": "s", "fetches": ["init"], "expect": {"values": [None]}},
    ]
    bumps = 0
    for _ in range(draw.randint(1, 3)):
        given = [draw.randrange(12) for _ in range(VARIABLES)]
        wanted, more = program.run(given)
        bumps += more
        steps.append(
            {
                "do": "run",
                "session": "s",
                "clause": _LOOP if program.loops else _BRANCH,
                "fetches": [f"r{number}:0" for number in range(VARIABLES)],
                "feeds": {f"v{number}:0": _scalar(value) for number, value in enumerate(given)},
                "expect": {"values": [{"$array": _scalar(value)} for value in wanted]},
            }
        )
        steps.append(
            {
                "do": "run",
                "session": "s",
                "fetches": ["count:0"],
                "expect": {"values": [{"$array": _scalar(bumps)}]},
                "clause": _EFFECT if program.loops else _BRANCH,
            }
        )
    title = "A program of branches and loops leaves what its model says."
    return Case(id_, title, "engine", clauses_of(steps), tuple(steps), {"g": program.graph()})
