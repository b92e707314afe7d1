"""Control edges between operations of every kind: what waits, and what never starts."""

from __future__ import annotations

import random
from typing import Final

from sessrun.conformance.generators.graphdef import CPU, GraphWriter
from sessrun.conformance.generators.resource_histories import History
from sessrun.conformance.generators.single import single_graph
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.control_flow.programs import ask, open_plainly
from sessrun.conformance.subjects.control_flow.site import scalar
from sessrun.conformance.subjects.control_flow.state_kinds import KINDS, Variable
from sessrun.conformance.subjects.control_flow.states import State
from sessrun.conformance.subjects.operations.properties.single_operations import (
    drawable,
    output_count,
    refusing,
)
from sessrun.conformance.subjects.ordering.chains import Chain, LinkKind
from sessrun.conformance.subjects.ordering.surroundings import (
    INITIALIZER,
    READ,
    UNWRITTEN,
    WRITE_AFTER,
    WRITTEN,
    between,
)
from sessrun.spec.cases.model import Case
from sessrun.spec.rules.domains import arguments
from sessrun.spec.rules.faults import faulty_arguments

#: The links of a chain besides control edges, and what its run and the states after it show.
_FOCI: Final[tuple[tuple[LinkKind, tuple[str, ...]], ...]] = (
    ("control", ("RUN-004", "RUN-005")),
    ("control", ("RUN-005", "RUN-007")),
    ("value", ("RUN-019",)),
    ("placeholder", ("RUN-022",)),
    ("failing", ("RUN-030", "RUN-055")),
)
_KEPT: Final = tuple(kind for kind in KINDS if not kind.of_run)


def _states(draw: random.Random) -> list[State]:
    """One to three states of different kinds."""
    return [
        kind(kind.__name__.lower(), adds=draw.random() < 0.5)
        if issubclass(kind, Variable)
        else kind(kind.__name__.lower())
        for kind in draw.sample(_KEPT, draw.randint(1, 3))
    ]


@prop("ordering", "RUN-004", "RUN-005", "RUN-007", "RUN-019", "RUN-022", "RUN-030", "RUN-055")
def ordering(draw: random.Random, id_: str) -> Case:
    """Operations that wait for one another by control edges happen one after another."""
    link, clauses = draw.choice(_FOCI)
    states = _states(draw)
    chain = Chain(draw, states)
    length = draw.randint(3, 8)
    odd = draw.randint(1, length - 1)
    for index in range(length):
        chain.add(link if index == odd else "control")
    history = History()
    open_plainly(history)
    first = [name for state in states if (name := state.initializer()) is not None]
    if first:
        history.run(first)
    for last in (length - 1, draw.randrange(length), length - 1):
        run = chain.perform(last, fed=draw.random() < 0.7)
        if run.code:
            history.run(run.fetches, run.feeds, error=[run.code], clause=clauses[0])
        else:
            history.run(run.fetches, run.feeds, values=run.values, clause=clauses[0])
        ask(history, [asked for state in states for asked in state.seen()], clauses[-1])
    ask(history, [asked for state in states for asked in state.taken()], clauses[-1])
    title = "A chain of operations does what its control edges say, in their order."
    return history.case(id_, title, chain.graph())


#: It enciphers an index until it is small enough, which may take seconds; `operations` asks it.
_SLOW: Final = frozenset({"RandomIndexShuffle"})


def _turn(id_: str) -> int:
    """The case's number: operations take turns, so that some hundreds of cases meet them all."""
    return int(id_.rpartition(":")[2])


@prop("ordering-operations", "RUN-005", weight=6)
def ordering_operations(draw: random.Random, id_: str) -> Case:
    """Whatever operation stands between a write and a read, the read sees what was written."""
    among = [operation for operation in drawable() if operation.name not in _SLOW]
    operation = among[_turn(id_) % len(among)]
    given = arguments(operation, draw)
    single = single_graph(operation, given, draw, output_count(operation, given))
    history = History()
    open_plainly(history)
    history.run([INITIALIZER])
    for number in draw.sample(range(100), 2):
        feeds = {WRITTEN: scalar(number)}
        history.run([READ], feeds, values=[scalar(number)])
        last = history.steps[-1]
        last["feeds"] = {**last["feeds"], **single.feeds}
    title = f"A read that waits for {operation.name}, which waits for a write, sees the write."
    return history.case(id_, title, between(single.graph), ("RUN-005",))


@prop("ordering-refusals", "RUN-030", weight=2)
def ordering_refusals(draw: random.Random, id_: str) -> Case:
    """Whatever operation fails, a write that waits for it does not happen."""
    operation = refusing()[_turn(id_) % len(refusing())]
    _, fault = draw.choice(sorted(faulty_arguments(operation, draw).items()))
    count = output_count(operation, fault.arguments)
    writer = GraphWriter()
    single = single_graph(operation, fault.arguments, draw, count, ("unknown",), writer)
    if fault.seen == "run":
        writer.put_on("result", CPU)
    history = History()
    # An operation that has no kernel for a dtype is refused where it is placed: not by other runs.
    open_plainly(history, placePrunedGraph=True)
    history.run([INITIALIZER])
    history.run([WRITE_AFTER], {WRITTEN: scalar(7)}, error=fault.codes)
    last = history.steps[-1]
    last["feeds"] = {**last["feeds"], **single.feeds}
    history.run([UNWRITTEN], values=[scalar(0)])
    title = f"A write that waits for a {operation.name} which fails does not happen."
    return history.case(id_, title, between(single.graph), ("RUN-030",))
