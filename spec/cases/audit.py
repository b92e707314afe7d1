"""What a backend declares of itself, and the audit: answers held against it, in both directions.

Declared and refused is a failure; answered without being declared is an error, since nobody
could rely on it. Undeclared and refused is `unsupported`, as judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from sessrun.spec.cases.judge import Finding, Judgement
from sessrun.spec.cases.model import Case, Observation, walk
from sessrun.spec.inference import DECLARATION, Offer, demand_of

__all__ = ["CAPABILITIES", "audit"]

#: What a backend may declare. Declared: tested. Not declared: probed that it is refused.
CAPABILITIES: Final = frozenset(
    {
        "api",  # it has the Python namespace
        "callables",  # callable(), call()
        "concurrent",  # calls may overlap; answers may come out of order
        "devices",  # devices()
        "extend",  # extend()
        "fed_structure",  # profile inference: axes, shapes and the like may be fed
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


def audit(case: Case, judgement: Judgement, seen: Sequence[Observation], offer: Offer) -> Judgement:
    """The judgement of a case after the audit.

    Args:
      case: the case.
      judgement: what its observations were judged to be.
      seen: the observations.
      offer: what the backend declares.

    """
    demand = demand_of(case)
    if demand is not None:
        return _audit_offer(judgement, seen, offer.lacks(demand))
    declared = offer.capabilities
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


def _audit_offer(judgement: Judgement, seen: Sequence[Observation], lacks: str) -> Judgement:
    """The judgement of a case of operations that a backend declares, or does not."""
    finding = judgement.finding
    if not lacks:
        if judgement.result == "unsupported" and finding is not None:
            reason = f"declares all that it needs, but refused: {finding.reason}"
            return Judgement("fail", Finding(finding.step, reason, clause=DECLARATION))
        return judgement
    if judgement.result == "unsupported":
        return judgement
    step = finding.step if finding is not None else seen[-1]["step"]
    if finding is not None and any(
        entry["step"] == step and entry["outcome"] == "failure" for entry in seen
    ):
        reason = f"unsupported: {lacks} (not declared, and refused)"
        return Judgement("unsupported", Finding(step, reason))
    reason = f"answered without declaring the {lacks}"
    return Judgement("error", Finding(step, reason, clause=DECLARATION))


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
