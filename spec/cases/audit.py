"""What a backend declares of itself, and the audit: answers held against it, in both directions.

Declared and refused is a failure; answered without being declared is an error, since nobody
could rely on it. Undeclared and refused is `unsupported`, as judged. Of the cases that need what a
backend does not declare one in ten is asked, as a probe; the others are `unsupported` unasked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from sessrun.spec.cases.engine import CAPABILITIES
from sessrun.spec.cases.judge import Finding, Judgement
from sessrun.spec.cases.model import Case, Observation, walk
from sessrun.spec.cases.stateful import stateful_step
from sessrun.spec.inference import (
    DECLARATION,
    Offer,
    demand_of,
    demand_of_graphs,
    is_audited,
    is_probe,
)
from sessrun.spec.releases import needed_release

__all__ = ["audit", "capabilities_needed", "unasked"]

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
        return _audit_offer(case, judgement, seen, offer)
    declared = offer.capabilities
    finding = judgement.finding
    if judgement.result == "unsupported" and finding is not None:
        refused = _refused(case, finding.step, seen)
        if refused in declared:
            reason = f"declares {refused}, but refused: {finding.reason}"
            return Judgement("fail", Finding(finding.step, reason))
    if judgement.result == "pass":
        for capability, step in capabilities_needed(case).items():
            if capability not in declared:
                reason = f"answered without declaring the capability {capability}"
                return Judgement("error", Finding(step, reason))
    return judgement


def _audit_offer(
    case: Case, judgement: Judgement, seen: Sequence[Observation], offer: Offer
) -> Judgement:
    """The judgement of a case of operations that a backend declares, or does not."""
    finding, lacks = judgement.finding, offer.lacks(demand_of(case))
    if not lacks:
        if judgement.result == "unsupported" and finding is not None:
            reason = f"declares all that it needs, but refused: {finding.reason}"
            return Judgement("fail", Finding(finding.step, reason, clause=DECLARATION))
        return judgement
    if judgement.result == "unsupported":
        return judgement
    step = finding.step if finding is not None else seen[-1]["step"]
    if finding is not None and _is_refused(finding.step, seen, _undeclared_steps(case, offer)):
        reason = f"unsupported: {lacks} (not declared, and refused)"
        return Judgement("unsupported", Finding(step, reason))
    reason = f"answered without declaring the {lacks}"
    return Judgement("error", Finding(step, reason, clause=DECLARATION))


def _is_refused(step: str, seen: Iterable[Observation], undeclared: Collection[str]) -> bool:
    """Whether a step that went wrong was refused, as what is not declared ought to be.

    A case may ask for what is declared first, and go wrong there: then what is not declared has its
    own steps, and these count.
    """
    steps = {step} if step in undeclared else undeclared
    refusals = {"failure", "unsupported"}
    return any(entry["step"] in steps and entry["outcome"] in refusals for entry in seen)


def _undeclared_steps(case: Case, offer: Offer) -> frozenset[str]:
    """The paths of the steps in sessions of graphs that need what is not declared."""
    lacking = {
        name for name, graph in case.graphs.items() if offer.lacks(demand_of_graphs([graph]))
    }
    steps = list(walk(case.steps))
    sessions = {s["session"] for _, s in steps if s["do"] == "open" and s["graph"] in lacking}
    return frozenset(path for path, step in steps if step.get("session") in sessions)


def unasked(case: Case, offer: Offer) -> Finding | None:
    """Why a case is `unsupported` without being put to a backend: it declares that it would refuse.

    What only a later release than the backend's has is never asked. Of the other such cases one in
    ten is asked all the same, to see that it refuses. Overlapping calls are left to whoever runs
    the case: a backend that does not declare `concurrent` cannot be asked for them.

    Args:
      case: the case.
      offer: what the backend declares.

    """
    older = offer.release.lacks(needed_release(case))
    if older:
        return Finding("0", f"unsupported: {older} (a later release)")
    demand = demand_of(case)
    if demand is not None:
        lacks = offer.lacks(demand)
        if not lacks or is_probe(case, lacks):
            return None
        return Finding("0", f"unsupported: {lacks} (not declared)")
    if is_audited(case.hash):
        return None
    for capability, step in capabilities_needed(case).items():
        if capability not in {*offer.capabilities, "concurrent"}:
            return Finding(step, f"unsupported: {capability} (not declared)")
    return None


def capabilities_needed(case: Case) -> dict[str, str]:
    """The capabilities without which a backend cannot pass the case: the first step that needs it.

    `state` only where a step surely needs it: see `stateful`.
    """
    if case.surface == "api":
        return {"api": "0"}
    needed: dict[str, str] = {}
    for path, step in walk(case.steps):
        inner = step.get("step", {}).get("do", "")
        for do in (step["do"], inner):
            if do in _CAPABILITY_OF:
                needed.setdefault(_CAPABILITY_OF[do], path)
    keeping = stateful_step(case)
    return needed if keeping is None else needed | {"state": keeping}


def _refused(case: Case, step: str, seen: Iterable[Observation]) -> str:
    """The capability that an Unsupported at this step speaks of."""
    named = next((e.get("capability") for e in seen if e["step"] == step), None)
    if isinstance(named, str) and named.strip() in CAPABILITIES:
        return named.strip()
    if case.surface == "api":
        return "api"
    do = dict(walk(case.steps))[step]["do"]
    return _CAPABILITY_OF.get(do, str(named))
