"""How a case is put to a backend: on the surface that it is for, within a deadline."""

from __future__ import annotations

from typing import Any

from sessrun.spec.cases import engine
from sessrun.spec.cases.model import Case, Observation

__all__ = ["observe"]


def observe(backend: Any, case: Case, deadline_s: float) -> list[Observation]:
    """What the backend was seen to do; raises what the host of its worker raises.

    Args:
      backend: the backend, in this process or behind the process protocol.
      case: the case: an engine case is interpreted here, an API case where the namespace lives.
      deadline_s: seconds that a call may take, an API case as a whole; kept by a worker's host.

    """
    if hasattr(backend, "deadline_s"):
        backend.deadline_s = deadline_s
    if case.surface == "api":
        seen: list[Observation] = backend.interpret_api(case)
        return seen
    return engine.interpret(case, backend)
