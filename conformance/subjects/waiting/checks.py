"""Named checks of waiting: recorded histories, waiters one after another, and what ends them."""

from __future__ import annotations

import random
from collections.abc import Callable

from sessrun.conformance.subjects.queues.histories.history import shown
from sessrun.conformance.subjects.queues.histories.linear import is_explained
from sessrun.conformance.subjects.queues.histories.recording import RefusedError
from sessrun.conformance.subjects.waiting.recording import HungError, draw_plan, record
from sessrun.conformance.subjects.waiting.resources import RESOURCES
from sessrun.conformance.subjects.waiting.staggering import Row, ended, staggered
from sessrun.spec.cases.engine import Engine
from sessrun.spec.cases.outcomes import Done, Outcome
from sessrun.spec.forms import JsonObject
from sessrun.spec.model.calls import State
from sessrun.spec.model.resource_calls import model_of

__all__ = ["ends", "explained", "in_a_row"]


def _facts(work: Callable[[], JsonObject], if_hung: JsonObject) -> Outcome:
    """The facts that the work finds, or the outcome of a call that must not end that way."""
    try:
        return Done(work())
    except RefusedError as refused:
        return refused.outcome
    except HungError:
        return Done(if_hung)


def explained(engine: Engine, resource: str, seed: str) -> Outcome:
    """Record a history of overlapping calls on a resource and hold it against its model.

    Args:
      engine: the backend.
      resource: a name of `RESOURCES`.
      seed: of what the threads do.

    Returns:
      Done with `broken`, the history if no order of its calls explains it, for people; or what
      else came of a call.

    """

    def work() -> JsonObject:
        kind = RESOURCES[resource]
        plan = draw_plan(random.Random(f"{resource}:{seed}"), kind)
        events = record(engine, kind, plan)
        if is_explained(model_of(resource, plan.capacity), State(), events):
            return {"broken": []}
        return {"broken": [f"room for {plan.capacity}\n{shown(events)}"]}

    return _facts(work, {"broken": ["a call does not end"]})


def in_a_row(engine: Engine, resource: str, action: str, waiters: int, late: list[int]) -> Outcome:
    """Waiters that begin one after another, some of which time out, and then are served.

    Args:
      engine: the backend.
      resource: a name of `RESOURCES`.
      action: `take` or `put`.
      waiters: how many.
      late: those that time out.

    Returns:
      Done with `wrong`, what was lost, doubled or failed, for people, and `in_order`, whether
      those that were served were so in their order; or what else came of a call.

    """

    def work() -> JsonObject:
        account = staggered(engine, RESOURCES[resource], Row(action, waiters, tuple(late)))
        return {"wrong": account.wrong, "in_order": account.in_order}

    return _facts(work, {"wrong": ["a waiter is never served"], "in_order": False})


def ends(engine: Engine, resource: str, action: str, waiters: int, by: str) -> Outcome:
    """Waiters that a close ends.

    Args:
      engine: the backend.
      resource: a name of `RESOURCES`.
      action: `take` or `put`.
      waiters: how many.
      by: `close` (of the resource) or `session` (the close of the session).

    Returns:
      Done with `wrong`, what did not end as it must, for people; or what else came of a call.

    """

    def work() -> JsonObject:
        return {"wrong": ended(engine, RESOURCES[resource], Row(action, waiters), by)}

    return _facts(work, {"wrong": ["a waiter does not end"]})
