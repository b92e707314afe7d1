"""Schedules of hooks that fail and ask to stop, over the runs of monitored sessions."""

from __future__ import annotations

import random
from typing import Final

from sessrun.conformance.authoring.record import ApiAuthor
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.managed.checks.managed import HookPlan
from sessrun.conformance.subjects.managed.hook_schedules import LOST, expected
from sessrun.spec.cases.model import Case

_CLAUSE: Final = "MANAGED-030"
_OTHERS: Final = ("OutOfRangeError", "StopIteration", "InternalError", "ValueError")
_METHODS: Final = ("begin", "created", "before", "after", "end")
#: How likely a hook fails in a method, in the order of the methods.
_WEIGHTS: Final = (1, 3, 8, 8, 1)


def _plan(draw: random.Random, name: str) -> HookPlan:
    """A hook: what it feeds and fetches, where it fails, and when it asks to stop."""
    plan: HookPlan = {"name": name}
    if draw.random() < 0.2:
        plan["feeds"] = draw.randint(1, 99)
    if draw.random() < 0.4:
        plan["fetches"] = True
    raises: list[list[str | int]] = []
    for _ in range(draw.choice((0, 0, 1, 1, 2))):
        method = draw.choices(_METHODS, _WEIGHTS)[0]
        last = 1 if method in {"begin", "end"} else 4
        raises.append([method, draw.randint(1, last), draw.choice((*LOST, *LOST, *_OTHERS))])
    if raises:
        plan["raises"] = raises
    if draw.random() < 0.25:
        plan["stops"] = [[draw.choice(("before", "after")), draw.randint(1, 5)]]
    return plan


def _body(draw: random.Random) -> list[str]:
    """Steps, questions and errors; what comes after a close is left out."""
    body = []
    for _ in range(draw.randint(1, 7)):
        chance = draw.random()
        if chance < 0.6:
            fed = f" {draw.randint(1, 99)}" if draw.random() < 0.25 else ""
            body.append(draw.choice(("step", "try step", "try step")) + fed)
        elif chance < 0.85:
            body.append("stop?")
        elif chance < 0.94:
            body.append(f"raise {draw.choice((*LOST, *_OTHERS))}")
        else:
            return [*body, draw.choice(("close", "try close"))]
    return body


@prop("hook-schedules", _CLAUSE)
def hook_schedules(draw: random.Random, id_: str) -> Case:
    """Hooks are called as their schedule and the failures on the way imply."""
    hooks = [_plan(draw, name) for name in "abc"[: draw.randint(1, 3)]]
    body = _body(draw)
    kind = draw.choice(("MonitoredSession", "MonitoredSession", "SingularMonitoredSession"))
    finalized = draw.random() < 0.2
    author = ApiAuthor()
    want = expected(hooks, body, kind, finalized)
    author.named_check("managed.life", want, hooks=hooks, body=body, kind=kind, finalized=finalized)
    title = "Hooks of a monitored session are called as their schedule and its failures imply."
    return author.case(id_, title, (_CLAUSE,))
