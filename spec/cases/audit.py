"""What a backend declares of itself, and the audit: answers held against it, in both directions.

Declared and refused is a failure; answered without being declared is an error, since nobody
could rely on it. Undeclared and refused is `unsupported`, as judged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from sessrun.spec.cases.judge import Finding, Judgement
from sessrun.spec.cases.model import Case, Observation, walk

__all__ = ["CAPABILITIES", "audit"]

#: What a backend may declare. Declared: tested. Not declared: probed that it is refused.
CAPABILITIES: Final = frozenset(
    {
        "api",  # it has the Python namespace
        "callables",  # callable(), call()
        "concurrent",  # calls may overlap; answers may come out of order
        "devices",  # devices()
        "extend",  # extend()
        "partial_runs",  # setup(), partial()
        "reset",  # reset()
        "state",  # variables keep their values between runs of a session
    }
)

#: The capability that a backend declares if it offers a step of an engine case.
_CAPABILITY_OF: Final[Mapping[str, str]] = {
    "extend": "extend",
    "setup": "partial_runs",
    "partial": "partial_runs",
    "callable": "callables",
    "call": "callables",
    "devices": "devices",
    "reset": "reset",
    "start": "concurrent",
    "join": "concurrent",
    "check": "concurrent",
}


def audit(
    case: Case, judgement: Judgement, seen: Iterable[Observation], declared: Collection[str]
) -> Judgement:
    """The judgement of a case after the audit.

    Args:
      case: the case.
      judgement: what its observations were judged to be.
      seen: the observations.
      declared: the capabilities that the backend declares.

    """
    finding = judgement.finding
    if judgement.result == "unsupported" and finding is not None:
        refused = _refused(case, finding.step, seen)
        if refused in declared:
            reason = f"declares {refused}, but refused: {finding.reason}"
            return Judgement("fail", Finding(finding.step, reason))
    if judgement.result == "pass":
        for step, capability in _used(case):
            if capability not in declared:
                reason = f"answered without declaring the capability {capability}"
                return Judgement("error", Finding(step, reason))
    return judgement


def _used(case: Case) -> list[tuple[str, str]]:
    """The capabilities that the case needs, each with the step that needs it first."""
    if case.surface == "api":
        return [("0", "api")]
    found: dict[str, str] = {}
    for path, step in walk(case.steps):
        inner = step.get("step", {}).get("do", "")
        for do in (step["do"], inner):
            if do in _CAPABILITY_OF:
                found.setdefault(_CAPABILITY_OF[do], path)
    return [(path, capability) for capability, path in found.items()]


def _refused(case: Case, step: str, seen: Iterable[Observation]) -> str:
    """The capability that an Unsupported at this step speaks of."""
    named = next((e.get("capability") for e in seen if e["step"] == step), None)
    if isinstance(named, str) and named.strip() in CAPABILITIES:
        return named.strip()
    if case.surface == "api":
        return "api"
    do = dict(walk(case.steps))[step]["do"]
    return _CAPABILITY_OF.get(do, str(named))
