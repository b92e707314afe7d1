"""Named checks of queues under many threads: recorded histories, and elements by the million."""

from __future__ import annotations

import random

from sessrun.conformance.subjects.queues.histories.history import shown
from sessrun.conformance.subjects.queues.histories.linear import is_linearizable
from sessrun.conformance.subjects.queues.histories.recording import RefusedError, draw_plan, record
from sessrun.conformance.subjects.queues.histories.stress import Round, run_round
from sessrun.spec.cases.engine import Engine
from sessrun.spec.cases.outcomes import Done, Outcome

__all__ = ["conserved", "linearizable"]


def linearizable(
    engine: Engine, kind: str, histories: int, calls: int, seed: int, *, timed: bool = False
) -> Outcome:
    """Record histories of overlapping calls on queues of a kind, and check each.

    Args:
      engine: the backend.
      kind: `fifo`, `padding`, `priority` or `shuffle`.
      histories: how many.
      calls: how many calls each has.
      seed: of what the threads do.
      timed: whether calls have timeouts.

    Returns:
      Done with `broken`, the histories that no order of their calls explains, for people; or what
      else came of a call.

    """
    broken = []
    for number in range(histories):
        plan = draw_plan(random.Random(f"{kind}:{seed}:{number}"), kind, calls, timed=timed)
        try:
            events = record(engine, plan)
        except RefusedError as refused:
            return refused.outcome
        if not is_linearizable(plan.discipline, events):
            broken.append(f"{plan.discipline}\n{shown(events)}")
    return Done({"broken": broken})


def conserved(
    engine: Engine,
    kind: str,
    threads: int,
    elements: int,
    seed: int,
    *,
    cut: bool = False,
    timeout_ms: int = 0,
) -> Outcome:
    """Let half of the threads put elements in and half take them out, and account for each.

    Args:
      engine: the backend.
      kind: `fifo`, `padding`, `priority` or `shuffle`.
      threads: how many, an even number.
      elements: how many in all.
      seed: of what the threads do.
      cut: whether the queue is closed half-way, cancelling what waits.
      timeout_ms: of some of the calls, 0 for none.

    Returns:
      Done with how many elements were `lost`, `doubled`, `invented` and `disordered`, or what
      else came of a call.

    """
    half = threads // 2
    plan = Round(kind, half, half, elements // half, cut, timeout_ms, seed)
    try:
        return Done(run_round(engine, plan).wrong)
    except RefusedError as refused:
        return refused.outcome
