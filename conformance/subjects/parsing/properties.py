"""Lines, numbers and features drawn at random, written as bytes, parsed to what they were."""

from __future__ import annotations

import random
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.parsing.draws import draw_parsing
from sessrun.spec import tensors
from sessrun.spec.cases.forms import Expect, Step
from sessrun.spec.cases.model import Case

_CLAUSE: Final = "PARSING-031"


@prop("parsing", _CLAUSE)
def parsing(draw: random.Random, id_: str) -> Case:
    """Batches of lines, strings and Examples are parsed to what they were made of."""
    drawn = draw_parsing(draw)
    writer = GraphWriter()
    shape = {"shape": {"dim": [{"size": "-1"}]}}
    writer.node("Placeholder", [], {"dtype": dtype_attr("string"), "shape": shape}, "in")
    drawn.writes(writer, "in")
    given = np.empty(len(drawn.given), object)
    given[:] = drawn.given
    expect: Expect = {"error": {"codes": [] if drawn.code is None else [drawn.code]}}
    if drawn.code is None:
        expect = {"values": [{"$array": tensors.encode(value)} for value in drawn.values]}
    steps: tuple[Step, ...] = (
        {"do": "open", "session": "s", "graph": "g"},
        {
            "do": "run",
            "session": "s",
            "fetches": drawn.fetches,
            "feeds": {"in:0": tensors.encode(given)},
            "expect": expect,
        },
    )
    return Case(id_, drawn.title, "engine", (_CLAUSE,), steps, {"g": writer.graph()})
