"""Whole programs with effects: a graph, a model, and the runs that hold one against the other."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter
from sessrun.conformance.generators.resource_histories import History
from sessrun.conformance.subjects.control_flow.bodies import Bodies, Library
from sessrun.conformance.subjects.control_flow.frames import FIXED, Frames
from sessrun.conformance.subjects.control_flow.site import INT, scalar, waiting
from sessrun.conformance.subjects.control_flow.statements import (
    VARIABLES,
    Statement,
    run_block,
)
from sessrun.conformance.subjects.control_flow.states import Asked, RunState, State
from sessrun.conformance.subjects.run.programs import PLAIN
from sessrun.spec.cases.model import Case
from sessrun.spec.forms import Json, JsonObject

__all__ = [
    "Writing",
    "ask",
    "case_of_program",
    "open_plainly",
    "with_frames",
    "with_functions",
]

#: Writes a program into a graph, and the functions that it needs: from the names of what is carried
#: to what it is in the end, and the functions.
Writing = Callable[
    [GraphWriter, Sequence[State], Sequence[Statement], list[str]],
    tuple[list[str], Sequence[JsonObject]],
]


def open_plainly(history: History, **options: Json) -> None:
    """Open a session on the graph as it is written, without TensorFlow's optimizer.

    Args:
      history: takes the step.
      options: further GraphOptions.

    """
    config = {"graphOptions": {**PLAIN["graphOptions"], **options}}
    history.steps.append({"do": "open", "session": "s", "graph": "g", "config": config})


def ask(history: History, asked: Sequence[Asked], clause: str) -> None:
    """Add a run that fetches these, unless there are none; its values show the clause."""
    if asked:
        feeds = {name: value for one in asked for name, value in one.feeds.items()}
        values = [one.wanted for one in asked]
        history.run([one.fetch for one in asked], feeds, values=values, clause=clause)


def with_frames(
    writer: GraphWriter, states: Sequence[State], block: Sequence[Statement], carried: list[str]
) -> tuple[list[str], Sequence[JsonObject]]:
    """Write a program with Switch, Merge and frames."""
    return Frames(writer, states).block(block, carried), []


def with_functions(*, lowers: bool) -> Writing:
    """Write a program with If and While, which may ask to be made of Switch and Merge."""

    def write(
        writer: GraphWriter, states: Sequence[State], block: Sequence[Statement], carried: list[str]
    ) -> tuple[list[str], Sequence[JsonObject]]:
        library = Library(states, lowers)
        return Bodies(library, writer).block(block, carried), library.functions

    return write


def case_of_program(
    draw: random.Random,
    id_: str,
    block: Sequence[Statement],
    states: Sequence[State],
    write: Writing,
    clauses: Sequence[str],
) -> Case:
    """The case of a program: one to three runs, each followed by runs that show every state.

    The first of the clauses is what its values show, the last what the states do.
    """
    writer = GraphWriter()
    for state in states:
        state.make(writer)
    graph, fetches = _written(writer, block, states, write)
    history = History()
    open_plainly(history)
    first = [state.initializer() for state in states]
    history.run([name for name in first if name is not None])
    for _ in range(draw.randint(1, 3)):
        variables = [draw.randrange(12) for _ in range(VARIABLES)]
        fixed = draw.randrange(12)
        feeds = {f"v{number}:0": scalar(value) for number, value in enumerate(variables)}
        run_block(block, variables, fixed, states)
        wanted: list[np.ndarray | None] = [scalar(value) for value in variables]
        wanted += [state.shown() for state in states if isinstance(state, RunState)]
        feeds[f"{FIXED}:0"] = scalar(fixed)
        history.run(fetches, feeds, values=wanted, clause=clauses[0])
        ask(history, [asked for state in states for asked in state.seen()], clauses[-1])
        ask(history, [asked for state in states for asked in state.taken()], clauses[-1])
    title = "A program of branches, loops and effects leaves what its model says."
    return history.case(id_, title, graph)


def _written(
    writer: GraphWriter, block: Sequence[Statement], states: Sequence[State], write: Writing
) -> tuple[dict[str, Json], list[str]]:
    """Write the program; return its GraphDef and the fetches of its variables and run states."""
    writer.placeholder("int32", (), FIXED)
    carried = [writer.placeholder("int32", (), f"v{number}") for number in range(VARIABLES)]
    carried += [writer.constant(scalar(0)) for _ in states]
    ends, functions = write(writer, states, block, carried)
    counts = ends[VARIABLES:]
    fetches = []
    for number, end in enumerate(ends[:VARIABLES]):
        inputs = (end, *(waiting(count) for count in counts))
        fetches.append(f"{writer.node('Identity', inputs, {'T': INT}, f'r{number}')}:0")
    top = Frames(writer, states, "last")
    for state, count in zip(states, counts, strict=True):
        if isinstance(state, RunState):
            fetches.append(f"{state.finish(top, count)}:0")
    return {**writer.graph(), "library": {"function": functions}}, fetches
