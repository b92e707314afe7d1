"""Puts a case to a backend on the surface of the case, within a deadline.

The backend is sent the steps of the case without the results that the case expects.
"""

from __future__ import annotations

from sessrun.adapters.backend import Backend
from sessrun.spec.cases import engine
from sessrun.spec.cases.model import Case, GoesOn, Observation, asked, walk

__all__ = ["observe"]


def observe(backend: Backend, case: Case, deadline_s: float) -> list[Observation]:
    """The observations of the case; raises what the host of the backend's worker raises.

    Args:
      backend: the backend, in this process or behind the process protocol.
      case: the case: an engine case is interpreted here, an API case where the namespace lives.
      deadline_s: seconds that a call may take, an API case as a whole; kept by a worker's host.

    """
    if hasattr(backend, "deadline_s"):
        backend.deadline_s = deadline_s
    if case.surface == "api":
        seen: list[Observation] = backend.interpret_api(asked(case), _goes_on(case))
        return seen
    return engine.interpret(case, backend)


def _goes_on(case: Case) -> GoesOn:
    """Whether an API case goes on after its last observation: a failure that was expected."""
    steps = dict(walk(case.steps))

    def goes_on(seen: list[Observation]) -> bool:
        step = steps.pop(seen[-1]["step"], None) if seen else None  # no step fails twice
        return step is not None and engine.expects_failure(step)

    return goes_on
