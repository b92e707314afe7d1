"""Seeded random operations over several runs and sessions, against the oracle's own numbers."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.conformance.property import prop
from sessrun.spec import tensors
from sessrun.spec.cases.forms import Expect, Step
from sessrun.spec.cases.model import Case, clauses_of
from sessrun.spec.forms import Json, JsonObject
from sessrun.spec.operations import Operation
from sessrun.spec.rules.domains import Arguments, arguments
from sessrun.spec.tables.ops import OPERATIONS

#: The operations, and the clause that says what each one's numbers are.
_CLAUSES: Final[Mapping[str, str]] = {
    "RandomUniform": "RANDOM-001",
    "RandomUniformInt": "RANDOM-002",
    "RandomShuffle": "RANDOM-003",
    "RandomStandardNormal": "RANDOM-005",
    "TruncatedNormal": "RANDOM-006",
    "Multinomial": "RANDOM-007",
}
#: What the runs after the first of a session show.
_NEXT: Final = "RANDOM-004"


def _contract(operation: Operation, attrs: Mapping[str, Json]) -> str:
    """The numeric contract for the dtype that is drawn."""
    dtype = str(attrs[operation.outputs[0].type_attr or ""])
    numeric = operation.numeric or {}
    return numeric.get(dtype) or numeric.get("*", "exact")


def _node(
    writer: GraphWriter, operation: Operation, given: Arguments, draw: random.Random, name: str
) -> dict[str, JsonObject]:
    """Write the operation with placeholders or constants as inputs, and return the feeds."""
    feeds: dict[str, JsonObject] = {}
    inputs = []
    for arg in operation.inputs:
        value = given.inputs[arg.name]
        if draw.random() < 0.5:
            inputs.append(writer.constant(value))
            continue
        row = tensors.encode(value)
        placeholder = writer.placeholder(row["dtype"], None)
        feeds[f"{placeholder}:0"] = row
        inputs.append(placeholder)
    writer.operation(operation, inputs, given.attrs, name)
    return feeds


def _other_shape(feeds: Mapping[str, JsonObject], draw: random.Random) -> dict[str, JsonObject]:
    """The feeds of another run, in which a fed shape may have changed."""
    changed = dict(feeds)
    for key, row in feeds.items():
        value = tensors.decode(row)
        if value.ndim == 1 and value.dtype in (np.int32, np.int64) and draw.random() < 0.7:
            dims = [draw.randint(0, 9) for _ in range(draw.randint(0, 3))]
            changed[key] = tensors.encode(np.array(dims, value.dtype))
    return changed


@prop("random-streams", *_CLAUSES.values(), _NEXT, weight=4)
def random_streams(draw: random.Random, id_: str) -> Case:
    """Seeded random operations draw the oracle's numbers, run after run, session by session."""
    types = list(_CLAUSES)
    operation = OPERATIONS[types[int(id_.rpartition(":")[2]) % len(types)]]
    writer = GraphWriter()
    nodes: dict[str, tuple[dict[str, JsonObject], Expect]] = {}
    for name in ("x", "y")[: draw.randint(1, 2)]:
        given = arguments(operation, draw)
        feeds = _node(writer, operation, given, draw, name)
        nodes[name] = feeds, {"oracle": {"contract": _contract(operation, given.attrs)}}
    sessions = ("s", "t")[: draw.randint(1, 2)]
    steps: list[Step] = [{"do": "open", "session": session, "graph": "g"} for session in sessions]
    runs = draw.randint(1, 5)
    for number in range(runs):
        name = draw.choice(list(nodes))
        feeds, expect = nodes[name]
        steps.append(
            {
                "do": "run",
                "session": draw.choice(sessions),
                "fetches": [f"{name}:0"],
                "feeds": _other_shape(feeds, draw),
                "expect": expect,
                "clause": _NEXT if number else _CLAUSES[operation.name],
            }
        )
    title = f"{operation.name} with seeds draws the numbers of its stream."
    return Case(id_, title, "engine", clauses_of(steps), tuple(steps), {"g": writer.graph()})
