"""Traced runs of drawn graphs and programs: what is listed, how often, where, with what outputs."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Matcher, by
from sessrun.conformance.generators.dags import Dag, grow
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.control_flow.state_kinds import draw_states
from sessrun.conformance.subjects.control_flow.statements import (
    VARIABLES,
    Again,
    If,
    Loop,
    draw_program,
)
from sessrun.conformance.subjects.tracing.checks.traced_graphs import TracedRun
from sessrun.conformance.subjects.tracing.traced import CONFIG, CPU, Traced, needed
from sessrun.spec import tensors
from sessrun.spec.cases.model import Case
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.forms import Json

_LEVELS: Final = ("SOFTWARE_TRACE", "SOFTWARE_TRACE", "FULL_TRACE")


def _placed(draw: random.Random, dag: Dag) -> dict[str, Any]:
    """The GraphDef, with each node placed on one of two CPUs."""
    graph = dag.writer.graph()
    shares = draw.choice((0.0, 0.3))
    for node in graph["node"]:
        node["device"] = f"/device:CPU:{int(draw.random() < shares)}"
    return graph


@prop("traced-graphs", "RUN-044", "RUN-045", "TRACING-017", "TRACING-018", "TRACING-020")
def traced_graphs(draw: random.Random, id_: str) -> Case:
    """A trace lists the nodes that ran, once each, with their devices and outputs, and no other."""
    dag = grow(draw, draw.randint(3, 12))
    graph = _placed(draw, dag)
    devices = {node["name"]: CPU + node["device"][-1] for node in graph["node"]}
    # Where there are two devices TensorFlow lists some of the constants that are fetched.
    constants = {node["name"] for node in graph["node"] if node["op"] == "Const"}
    nodes = {node.name: node for node in dag.nodes if node.name not in constants}
    runs: list[TracedRun] = []
    wanted = []
    # The first run is asked for what was needed only: then what was not needed is no matter.
    for clause in ("RUN-044", "RUN-045"):
        fetched = [node.name for node in draw.sample(dag.nodes, min(2, len(dag.nodes)))]
        feeds = {name: tensors.decode(value) for name, value in dag.feeds.items()}
        for node in draw.sample(dag.cuttable(), draw.choice((0, min(1, len(dag.cuttable()))))):
            feeds[f"{node.name}:0"] = dag.value(node.dtype, node.shape)
        fed = {name.partition(":")[0] for name in feeds}
        executed = needed(graph["node"], fetched, fed)
        asked = [name for name in nodes if name not in fed]
        if clause == "RUN-044":
            asked = [name for name in asked if name in executed]
        runs.append(
            {
                "fetches": [f"{name}:0" for name in fetched],
                "feeds": feeds,
                "level": draw.choice(_LEVELS),
                "nodes": asked,
            }
        )
        listed = {
            name: [1, by("TRACING-020", [devices[name]]), [_output(node.dtype, node.shape)]]
            for name, node in sorted(nodes.items())
            if name in executed and name not in fed
        }
        wanted.append(by(clause, listed))
    return _case(id_, graph, [], runs, wanted)


def _output(dtype: str, shape: Sequence[int]) -> Matcher:
    nbytes = BY_NAME[dtype].itemsize * math.prod(shape)
    return by("TRACING-017", [0, dtype, list(shape), by("TRACING-018", nbytes)])


def _case(
    id_: str,
    graph: Mapping[str, Json],
    first: Sequence[str],
    runs: Sequence[TracedRun],
    wanted: Sequence[Recordable],
) -> Case:
    c = ApiAuthor()
    c.named_check(
        "traced_graphs.listed",
        wanted,
        graph=json.dumps(graph),
        config=CONFIG,
        first=first,
        runs=runs,
    )
    return c.case(id_, "A trace lists what its model says that ran.")


#: What a traced program has besides plain statements, and the clause that it can show false.
_FOCI: Final[tuple[tuple[tuple[type, ...], str], ...]] = (
    ((If,), "TRACING-032"),
    ((Loop,), "TRACING-031"),
    ((If, Loop), "TRACING-031"),
    ((Loop, Again), "TRACING-031"),
)


@prop("traced-programs", "TRACING-031", "TRACING-032")
def traced_programs(draw: random.Random, id_: str) -> Case:
    """A trace lists each operation of branches and loops as often as the program executes it."""
    makers, clause = draw.choice(_FOCI)
    states = draw_states(draw, in_functions=False)
    block = draw_program(draw, makers, len(states))
    program = Traced(block, states)
    for _ in range(2):
        variables = [draw.randrange(12) for _ in range(VARIABLES)]
        program.run(variables, draw.randrange(12), draw.choice(_LEVELS))
    return program.case(id_, (clause,))
