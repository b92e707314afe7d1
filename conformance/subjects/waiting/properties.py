"""Runs that wait for resources: overlapping calls, the order of waiters, and closes."""

from __future__ import annotations

import random
from typing import Final

from sessrun.conformance.property import prop
from sessrun.spec.cases.forms import Step
from sessrun.spec.cases.model import Case
from sessrun.spec.forms import Json, JsonObject

_CHECKS: Final = "sessrun.conformance.checks.waiting"
_HISTORY, _ORDER, _CUT, _ONCE, _CLOSE, _SESSION = (f"WAITING-00{n}" for n in range(1, 7))
#: Resources that serve waiters in the order in which they began, with what the waiters do.
_ORDERED: Final = (
    ("queue", "take"),
    ("queue", "put"),
    ("barrier", "take"),
    ("accumulator", "take"),
)
#: Resources that serve each waiter once, in any order.
_ONE_BY_ONE: Final = (("staging", "take"), ("staging", "put"), ("map", "take"))
#: Resources whose close ends the runs that wait for them.
_ENDED: Final = (("queue", "take"), ("queue", "put"), ("barrier", "take"))
_RESOURCES: Final = ("queue", "queue", "barrier", "accumulator", "staging", "map")


def _case(id_: str, title: str, clause: str, name: str, facts: JsonObject, **args: Json) -> Case:
    step: Step = {
        "do": "check",
        "name": f"{_CHECKS}.{name}",
        "args": args,
        "expect": {"facts": facts},
    }
    return Case(id_, title, "engine", (clause,), (step,), deadline_s=60.0)


@prop("waiting-histories", _HISTORY)
def waiting_histories(draw: random.Random, id_: str) -> Case:
    """Overlapping calls with timeouts give what they could give one after another."""
    resource, seed = draw.choice(_RESOURCES), str(draw.randrange(10**9))
    title = f"Calls on a {resource} that overlap and time out could have been made in a row."
    facts: dict[str, Json] = {"broken": []}
    return _case(id_, title, _HISTORY, "explained", facts, resource=resource, seed=seed)


@prop("waiting-rows", _ORDER, _CUT, _ONCE)
def waiting_rows(draw: random.Random, id_: str) -> Case:
    """Waiters that begin one after another are each served once, in their order."""
    clause, waiters = draw.choice((_ORDER, _CUT, _ONCE)), draw.randint(2, 4)
    facts: dict[str, Json] = {"wrong": []}
    late: list[int] = []
    if clause == _ONCE:
        resource, action = draw.choice(_ONE_BY_ONE)
        title = f"Each {action} that waits for a {resource} is served once."
    else:
        resource, action = draw.choice(_ORDERED)
        title = f"Each {action} that waits for a {resource} is served in its order."
        facts["in_order"] = True
    if clause == _CUT:
        # One waiter only: TensorFlow does not cancel a second one that began after the first had
        # ended and that stands behind a run that goes on waiting.
        late = [draw.randrange(waiters)]
        title = f"A {action} that times out takes no turn at a {resource}."
        del facts["in_order"]
    args: dict[str, Json] = {
        "resource": resource,
        "action": action,
        "waiters": waiters,
        "late": late,
    }
    return _case(id_, title, clause, "in_a_row", facts, **args)


@prop("waiting-ends", _CLOSE, _SESSION)
def waiting_ends(draw: random.Random, id_: str) -> Case:
    """A close ends everything that waits for what it closes."""
    clause = draw.choice((_CLOSE, _SESSION))
    if clause == _CLOSE:
        resource, action = draw.choice(_ENDED)
    else:
        resource, action = draw.choice(_ORDERED)
    by = "close" if clause == _CLOSE else "session"
    title = f"A close ({by}) ends each {action} that waits for a {resource}."
    args: dict[str, Json] = {
        "resource": resource,
        "action": action,
        "waiters": draw.randint(1, 4),
        "by": by,
    }
    return _case(id_, title, clause, "ends", {"wrong": []}, **args)
