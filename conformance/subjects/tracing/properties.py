"""Traced runs of drawn graphs and programs: what is listed, how often, where, with what outputs."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sessrun.conformance.authoring.record import ApiAuthor, anything
from sessrun.conformance.generators.dags import Dag, grow
from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.conformance.properties import prop
from sessrun.conformance.subjects.control_flow.frames import FIXED, Frames
from sessrun.conformance.subjects.control_flow.site import INT, scalar, waiting
from sessrun.conformance.subjects.control_flow.state_kinds import draw_states
from sessrun.conformance.subjects.control_flow.statements import (
    VARIABLES,
    Again,
    If,
    Loop,
    Passes,
    draw_program,
    run_block,
)
from sessrun.spec import tensors
from sessrun.spec.cases.model import Case
from sessrun.spec.dtypes import BY_NAME

_CPU: Final = "/job:localhost/replica:0/task:0/device:CPU:"
#: Two CPUs, and graphs that are executed as they are written.
_CONFIG: Final = json.dumps(
    {
        "deviceCount": {"CPU": 2},
        "graphOptions": {
            "optimizerOptions": {"optLevel": "L0"},
            "rewriteOptions": {"disableMetaOptimizer": True},
        },
    }
)
#: Nodes that only say where values go; an engine need not have them.
_PLUMBING: Final = frozenset(
    {
        "Enter",
        "Exit",
        "LoopCond",
        "Merge",
        "NextIteration",
        "RefEnter",
        "RefSwitch",
        "Switch",
    }
)
_LEVELS: Final = ("SOFTWARE_TRACE", "SOFTWARE_TRACE", "FULL_TRACE")


def _needed(nodes: Iterable[Mapping[str, Any]], fetches: Iterable[str], fed: set[str]) -> set[str]:
    """The nodes that a run of these executes, where these nodes are fed."""
    inputs = {node["name"]: node.get("input", ()) for node in nodes}
    needed: set[str] = set()
    pending = [fetch for fetch in fetches if fetch not in fed]
    while pending:
        name = pending.pop()
        if name not in needed:
            needed.add(name)
            sources = [text.lstrip("^").partition(":")[0] for text in inputs[name]]
            pending += [source for source in sources if source not in fed]
    return needed


def _placed(draw: random.Random, dag: Dag) -> dict[str, Any]:
    """The graph, each node on one of two CPUs."""
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
    devices = {node["name"]: _CPU + node["device"][-1] for node in graph["node"]}
    # Where there are two devices TensorFlow lists some of the constants that are fetched.
    constants = {node["name"] for node in graph["node"] if node["op"] == "Const"}
    made = {node.name: node for node in dag.nodes if node.name not in constants}
    runs, wanted = [], []
    for _ in range(2):
        fetched = [node.name for node in draw.sample(dag.nodes, min(2, len(dag.nodes)))]
        feeds = {name: tensors.decode(value) for name, value in dag.feeds.items()}
        for node in draw.sample(dag.cuttable(), draw.choice((0, min(1, len(dag.cuttable()))))):
            feeds[f"{node.name}:0"] = dag.value(node.dtype, node.shape)
        fed = {name.partition(":")[0] for name in feeds}
        needed = _needed(graph["node"], fetched, fed)
        runs.append(
            {
                "fetches": [f"{name}:0" for name in fetched],
                "feeds": feeds,
                "level": draw.choice(_LEVELS),
                "nodes": [name for name in made if name not in fed],
            }
        )
        wanted.append(
            {
                name: [1, [devices[name]], [_output(node.dtype, node.shape)]]
                for name, node in sorted(made.items())
                if name in needed
            }
        )
    clauses = draw.choice((("RUN-044",), ("RUN-045",), ("TRACING-017", "TRACING-018")))
    if any(device.endswith("1") for device in devices.values()):
        clauses = ("TRACING-020",)
    return _case(id_, clauses, graph, [], runs, wanted)


def _output(dtype: str, shape: Sequence[int]) -> list[Any]:
    return [0, dtype, list(shape), BY_NAME[dtype].itemsize * math.prod(shape)]


def _case(
    id_: str,
    clauses: Sequence[str],
    graph: Mapping[str, Any],
    first: Sequence[str],
    runs: Sequence[Any],
    wanted: Sequence[Any],
) -> Case:
    c = ApiAuthor()
    c.named_check(
        "traced_graphs.listed",
        wanted,
        graph=json.dumps(graph),
        config=_CONFIG,
        first=first,
        runs=runs,
    )
    return c.case(id_, "A trace lists what its model says that ran.", clauses)


#: What a traced program has besides plain statements, and the clauses that it can show false.
_FOCI: Final[tuple[tuple[tuple[type, ...], tuple[str, ...]], ...]] = (
    ((If,), ("TRACING-032",)),
    ((Loop,), ("TRACING-031",)),
    ((If, Loop), ("TRACING-031", "TRACING-032")),
    ((Loop, Again), ("TRACING-031",)),
)


@prop("traced-programs", "TRACING-031", "TRACING-032")
def traced_programs(draw: random.Random, id_: str) -> Case:
    """A trace lists each operation of branches and loops as often as the program executes it."""
    makers, clauses = draw.choice(_FOCI)
    states = draw_states(draw, in_functions=False)
    block = draw_program(draw, makers, len(states))
    writer = GraphWriter()
    for state in states:
        state.make(writer)
    writer.placeholder("int32", (), FIXED)
    carried = [writer.placeholder("int32", (), f"v{number}") for number in range(VARIABLES)]
    carried += [writer.constant(scalar(0)) for _ in states]
    frames = Frames(writer, states)
    ends = frames.block(block, carried)
    waits = [waiting(end) for end in ends]
    writer.node("Identity", (ends[0], *waits), {"T": INT}, "end")
    graph = writer.graph()
    ops = {node["name"]: node["op"] for node in graph["node"]}
    needed = _needed(graph["node"], ["end"], {FIXED, *carried[:VARIABLES]})
    runs, wanted = [], []
    for _ in range(2):
        variables = [draw.randrange(12) for _ in range(VARIABLES)]
        fixed = draw.randrange(12)
        feeds = {f"v{number}:0": scalar(value) for number, value in enumerate(variables)}
        passes = Passes()
        run_block(block, variables, fixed, states, passes)
        listed = {
            name: [passes[part], [f"{_CPU}0"]]
            for part, names in frames.parts.items()
            for name in names
            if ops[name] not in _PLUMBING and name in needed and passes[part]
        }
        asked = [name for names in frames.parts.values() for name in names]
        runs.append(
            {
                "fetches": ["end"],
                "feeds": {**feeds, f"{FIXED}:0": scalar(fixed)},
                "level": draw.choice(_LEVELS),
                "nodes": [name for name in asked if ops[name] not in _PLUMBING],
            }
        )
        wanted.append({name: [*of, anything] for name, of in sorted(listed.items())})
    first = [name for state in states if (name := state.initializer()) is not None]
    return _case(id_, clauses, graph, first, runs, wanted)
