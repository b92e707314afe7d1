"""The JSON view: the summary, and the result of every planned case."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sessrun.reports.failures import Answer
from sessrun.reports.summary import Summary

__all__ = ["results_json"]


def results_json(summary: Summary, answers: Iterable[Answer]) -> dict[str, Any]:
    """`{summary, results: [{id, clauses, result, seconds, reason?, …}]}`, plan order.

    A result that is no pass has `reason`, `blamed` (the clauses that it speaks of), and the `want`
    and `got` of its finding.

    Args:
      summary: the summary of the run.
      answers: what counts for each planned case (`sessrun.reports.verdicts.answers_of`).

    """
    return {"summary": summary.to_json(), "results": [_result(answer) for answer in answers]}


def _result(answer: Answer) -> dict[str, Any]:
    form: dict[str, Any] = {
        "id": answer.case.id,
        "clauses": list(answer.case.clauses),
        "result": answer.result,
        "seconds": answer.line["seconds"] if answer.line is not None else None,
    }
    if answer.result != "pass":
        form["reason"] = answer.reason
        form["blamed"] = list(answer.clauses)
        form |= {key: answer.finding[key] for key in ("want", "got") if key in answer.finding}
    return form
