"""Programs of branches, loops and effects on every kind of state, as their model runs them."""

from __future__ import annotations

import random
from typing import Final

from sessrun.conformance.properties import prop
from sessrun.conformance.subjects.control_flow.programs import (
    case_of_program,
    with_frames,
    with_functions,
)
from sessrun.conformance.subjects.control_flow.statements import (
    Again,
    If,
    Loop,
    draw_program,
)
from sessrun.conformance.subjects.control_flow.states import draw_states
from sessrun.spec.cases.model import Case

#: What a program has besides plain statements, and the clauses that it can show false.
_FOCI: Final[tuple[tuple[tuple[type, ...], tuple[str, ...]], ...]] = (
    ((If,), ("RUN-049",)),
    ((Loop,), ("RUN-057",)),
    ((If, Loop), ("RUN-049", "RUN-057")),
    ((Loop, Again), ("CONTROL-FLOW-027",)),
)


@prop("effects", "RUN-049", "RUN-057", "CONTROL-FLOW-027")
def effects(draw: random.Random, id_: str) -> Case:
    """Effects in branches and loops happen as often, and in the order, that the program says."""
    makers, clauses = draw.choice(_FOCI)
    states = draw_states(draw, in_functions=False)
    block = draw_program(draw, makers, len(states))
    return case_of_program(draw, id_, block, states, with_frames, clauses)


#: The same of programs whose branches and loops are functions.
_FUNCTIONAL: Final[tuple[tuple[tuple[type, ...], tuple[str, ...]], ...]] = (
    ((If,), ("CONTROL-FLOW-020",)),
    ((Loop,), ("CONTROL-FLOW-028",)),
    ((If, Loop), ("CONTROL-FLOW-020", "CONTROL-FLOW-028")),
    ((Loop, Again), ("CONTROL-FLOW-028",)),
)


@prop("function-effects", "CONTROL-FLOW-020", "CONTROL-FLOW-028")
def function_effects(draw: random.Random, id_: str) -> Case:
    """Effects in functions of branches and loops happen as often as the program says."""
    makers, clauses = draw.choice(_FUNCTIONAL)
    states = draw_states(draw, in_functions=True)
    block = draw_program(draw, makers, len(states))
    write = with_functions(lowers=draw.random() < 0.3)
    return case_of_program(draw, id_, block, states, write, clauses)
