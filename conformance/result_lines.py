"""The lines of a record: the result of a case, and events of the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

from sessrun.spec.cases.engine import step_of
from sessrun.spec.cases.judge import Finding, clause_of
from sessrun.spec.cases.model import Case, Observation, walk
from sessrun.spec.cases.steady import finding_form, is_kept, steady_text
from sessrun.spec.inference import DECLARATION, Offer, demand_of
from sessrun.spec.records import FIRST_TRY, SECOND_TRY

__all__ = [
    "EventLine",
    "ResultLine",
    "is_worth_a_second_try",
    "lost_at",
    "result_line",
    "second_try",
]


class ResultLine(TypedDict):
    """The line of a case.

    Attributes:
      id, hash, clauses: those of the case.
      result: the result, as `pass`.
      seconds: how long the case took.
      finding: the step that decided the result, and why.
      observations: the answers of the backend, if they are small.
      detail: what happened to the worker, or to the suite.
      attempts: how often the case was run, if more than once.

    """

    kind: Literal["result"]
    id: str
    hash: str
    clauses: list[str]
    result: str
    seconds: float
    finding: NotRequired[Mapping[str, Any]]
    observations: NotRequired[list[Observation]]
    detail: NotRequired[str]
    attempts: NotRequired[int]


class EventLine(TypedDict):
    """The line of an event, such as the restart of a worker."""

    kind: Literal["event"]
    event: str
    detail: str
    seconds: float


def is_worth_a_second_try(line: ResultLine) -> bool:
    """Whether a fresh worker may answer otherwise: an error of the audit has no detail."""
    result = line["result"]
    return result in {"fail", "crash"} or (result == "error" and "detail" in line)


def second_try(result: str, first: ResultLine) -> str:
    """The detail of a case whose second try had another result: that, and the first detail."""
    detail = first.get("detail")
    return f"{SECOND_TRY}{result}" + (f"{FIRST_TRY}{detail}" if detail else "")


def result_line(
    case: Case,
    result: str,
    seconds: float,
    finding: Finding | None = None,
    seen: list[Observation] | None = None,
    *,
    detail: str = "",
) -> ResultLine:
    """The line of a case.

    Args:
      case: the case.
      result: the result.
      seconds: how long that took.
      finding: the step that decided the result, and why.
      seen: the answers of the backend, which a record keeps if they are small.
      detail: what happened to the worker, or to the suite.

    """
    line: ResultLine = {
        "kind": "result",
        "id": case.id,
        "hash": case.hash,
        "clauses": list(case.clauses),
        "result": result,
        "seconds": round(seconds, 6),
    }
    if finding is not None:
        line["finding"] = finding_form(finding)
    if seen is not None and is_kept(seen):
        line["observations"] = seen
    if detail:
        line["detail"] = steady_text(detail)[:2000]
    return line


def lost_at(case: Case, error: Exception, offer: Offer | None = None) -> Finding | None:
    """The step of a case at which its backend was lost, and the clause that it names.

    A graph of what the backend does not declare was to be refused: that clause is blamed then.
    """
    path = step_of(error)
    steps = dict(walk(case.steps))
    if path not in steps:
        return None
    undeclared = offer is not None and offer.lacks(demand_of(case))
    clause = DECLARATION if undeclared else clause_of(steps[path])
    return Finding(path, str(error), clause=clause)
