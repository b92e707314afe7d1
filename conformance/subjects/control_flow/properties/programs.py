"""Programs of branches, loops and effects on every kind of state, as their model runs them."""

from __future__ import annotations

import random
from typing import Final

import numpy as np

from sessrun.conformance.authoring.record import ApiAuthor, form
from sessrun.conformance.generators.resource_histories import History
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.control_flow.deadness import (
    CONDITIONS,
    Deadness,
    Setting,
    settings,
)
from sessrun.conformance.subjects.control_flow.limits import Limits
from sessrun.conformance.subjects.control_flow.programs import (
    case_of_program,
    open_plainly,
    with_frames,
    with_functions,
)
from sessrun.conformance.subjects.control_flow.site import scalar
from sessrun.conformance.subjects.control_flow.state_kinds import draw_states
from sessrun.conformance.subjects.control_flow.statements import (
    Again,
    Choose,
    If,
    Loop,
    draw_program,
)
from sessrun.spec.cases.model import Case

#: What a program has besides plain statements, and the clauses that it can show false.
_FOCI: Final[tuple[tuple[tuple[type, ...], tuple[str, ...]], ...]] = (
    ((If,), ("RUN-049",)),
    ((Loop,), ("RUN-057",)),
    ((If, Loop), ("RUN-049", "RUN-057")),
    ((Loop, Again), ("CONTROL-FLOW-063",)),
)


@prop("effects", "RUN-049", "RUN-057", "CONTROL-FLOW-063")
def effects(draw: random.Random, id_: str) -> Case:
    """Effects in branches and loops happen as often, and in the order, that the program says."""
    makers, clauses = draw.choice(_FOCI)
    states = draw_states(draw, in_functions=False)
    block = draw_program(draw, makers, len(states))
    return case_of_program(draw, id_, block, states, with_frames, clauses)


#: The same of programs whose branches and loops are functions.
_FUNCTIONAL: Final[tuple[tuple[tuple[type, ...], tuple[str, ...]], ...]] = (
    ((If,), ("CONTROL-FLOW-020",)),
    ((Loop,), ("CONTROL-FLOW-064",)),
    ((If, Loop), ("CONTROL-FLOW-020", "CONTROL-FLOW-064")),
    ((Loop, Again), ("CONTROL-FLOW-064",)),
    ((Choose,), ("CONTROL-FLOW-017", "CONTROL-FLOW-062")),
    ((Choose, Loop), ("CONTROL-FLOW-064",)),
)


@prop(
    "function-effects",
    "CONTROL-FLOW-017",
    "CONTROL-FLOW-020",
    "CONTROL-FLOW-062",
    "CONTROL-FLOW-064",
)
def function_effects(draw: random.Random, id_: str) -> Case:
    """Effects in functions of branches and loops happen as often as the program says."""
    makers, clauses = draw.choice(_FUNCTIONAL)
    states = draw_states(draw, in_functions=True)
    block = draw_program(draw, makers, len(states))
    write = with_functions(lowers=draw.random() < 0.3)
    return case_of_program(draw, id_, block, states, write, clauses)


@prop("loop-limits", "CONTROL-FLOW-065")
def loop_limits(draw: random.Random, id_: str) -> Case:
    """A loop of `tf.while_loop` makes as many iterations as its condition and its limit allow."""
    loop = Limits.drawn(draw)
    c = ApiAuthor()
    variable = c.tf.get_variable(
        "v", [], c.tf.int32, initializer=c.tf.zeros_initializer(), use_resource=draw.random() < 0.5
    )
    result = c.do(loop.expression(str(form(variable)["$"])))
    session = c.tf.Session()
    session.run(c.tf.global_variables_initializer())
    for turn in (1, 2):
        c.check(session.run(result), np.int32(loop.iterations))
        c.check(session.run(variable), np.int32(turn * loop.innermost))
    return c.case(id_, "A loop makes as many iterations as it may.", ("CONTROL-FLOW-065",))


#: What a fetched tensor may be made by, and the clause that it can show false.
_OF: Final = {
    "Merge": "CONTROL-FLOW-002",
    "Merge:1": "CONTROL-FLOW-001",
    "waiting": "CONTROL-FLOW-003",
}


@prop(
    "dead-values",
    "CONTROL-FLOW-001",
    "CONTROL-FLOW-002",
    "CONTROL-FLOW-003",
    "CONTROL-FLOW-004",
    "RUN-051",
)
def dead_values(draw: random.Random, id_: str) -> Case:
    """What is dead has no value and no effects, whatever it passes through."""
    dead = Deadness(draw)
    for _ in range(draw.randint(4, 14)):
        dead.grow()
    history = History()
    open_plainly(history)
    history.run(["init"])
    if dead.updates and draw.random() < 0.3:
        _update(draw, dead, history)
    else:
        _fetch(draw, dead, history)
    title = "Values are dead where the conditions say, and nowhere else."
    return history.case(id_, title, dead.graph())


def _feeds(dead: Deadness, setting: Setting) -> dict[str, np.ndarray]:
    pairs = zip(CONDITIONS, setting, strict=True)
    return {"x:0": scalar(dead.fed)} | {f"{name}:0": np.array(truth) for name, truth in pairs}


def _fetch(draw: random.Random, dead: Deadness, history: History) -> None:
    """Add runs that fetch tensors of one op type, some of which are dead."""
    of = draw.choice((*_OF, "all"))
    among = [one for one in dead.tensors if of in {one.of, "all"}] or dead.tensors
    fetched = draw.sample(among, min(3, len(among)))
    for setting in draw.sample(settings(), 3):
        for one in fetched:
            name = one.name if ":" in one.name else f"{one.name}:0"
            value, clause = one.values[setting], _OF.get(one.of, "RUN-051")
            if value is None:
                history.run([name], _feeds(dead, setting), error=[3], clause=clause)
            else:
                values = [scalar(value)]
                history.run([name], _feeds(dead, setting), values=values, clause=clause)


def _update(draw: random.Random, dead: Deadness, history: History) -> None:
    """Add runs of all updates; each run is followed by a read of their number."""
    count, clause = 0, "CONTROL-FLOW-004" if dead.has_triggers else "CONTROL-FLOW-003"
    for setting in draw.sample(settings(), 3):
        updates = [name for name, _ in dead.updates]
        history.run(updates, _feeds(dead, setting), clause="CONTROL-FLOW-003")
        count += sum(setting in alive for _, alive in dead.updates)
        history.run(["read:0"], values=[scalar(count)], clause=clause)
