"""Random programs of calls, branches and loops that are functions of a library."""

from __future__ import annotations

import random
from typing import Final

import numpy as np

from sessrun.conformance.generators.resource_histories import History
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.control_flow.function_programs import Body, Library
from sessrun.spec.cases.model import Case

_CLAUSES: Final = (
    "CONTROL-FLOW-013",
    "CONTROL-FLOW-014",
    "CONTROL-FLOW-017",
    "CONTROL-FLOW-018",
    "CONTROL-FLOW-019",
    "CONTROL-FLOW-062",
    "GRAPH-133",
)
_FIRST: Final = ("a", "b")


@prop("function-programs", *_CLAUSES)
def function_programs(draw: random.Random, id_: str) -> Case:
    """Calls, branches and loops of functions give what a program of them gives."""
    library = Library(draw)
    body = Body(draw, library, _FIRST, inside=False)
    for name in _FIRST:
        body.writer.placeholder("int32", (), name)
    body.begin()
    for _ in range(draw.randint(2, 5)):
        body.go_on()
    history = History()
    history.open()
    for _ in range(draw.randint(1, 3)):
        given = [draw.randint(-4, 9) for _ in _FIRST]
        feeds = {
            f"{name}:0": np.array(value, np.int32)
            for name, value in zip(_FIRST, given, strict=True)
        }
        shown = body.shown(given)
        values = [np.array(value, np.int32) for value, _ in shown.values()]
        named = [clause for _, clause in shown.values()]
        history.run(list(shown), feeds, values=values, clauses=named)
    title = "A program of functions gives what its model says."
    return history.case(id_, title, {**body.writer.graph(), "library": library.form()})
