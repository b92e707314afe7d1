"""The JUnit view: one test case per planned case, for whatever reads JUnit XML.

`fail` and `flaky` become failures; `timeout`, `crash`, `error`, `missing` and `infra_error`
errors; `skipped` and `unsupported` skips whose message says which.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from xml.etree import ElementTree as ET

from sessrun.reports.failures import Answer, replay_command
from sessrun.reports.printable import shortened, value_text
from sessrun.reports.summary import Summary

__all__ = ["junit_xml"]

_ELEMENT: Final = {
    "fail": "failure",
    "flaky": "failure",
    "timeout": "error",
    "crash": "error",
    "error": "error",
    "missing": "error",
    "infra_error": "error",
    "skipped": "skipped",
    "unsupported": "skipped",
}
#: What XML 1.0 cannot hold, not even escaped.
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(summary: Summary, answers: Iterable[Answer]) -> bytes:
    """JUnit XML, UTF-8: a suite per family of cases, in the order of their first case.

    Args:
      summary: the summary of the run.
      answers: what counts for each planned case (`sessrun.reports.verdicts.answers_of`).

    """
    backend = str(summary.header["backend"]["spec"])
    families: dict[str, list[Answer]] = {}
    for answer in answers:
        families.setdefault(answer.case.family, []).append(answer)
    root = ET.Element("testsuites", name=f"sessrun {summary.profile}")
    totals = dict.fromkeys(("failure", "error", "skipped"), 0)
    for family, members in families.items():
        suite = ET.SubElement(root, "testsuite", name=_text(family), tests=str(len(members)))
        if summary.header.get("started"):
            suite.set("timestamp", _text(summary.header["started"])[:19])
        _properties(suite, summary)
        counts = dict.fromkeys(totals, 0)
        for answer in members:
            kind = _case(suite, answer, backend)
            if kind is not None:
                counts[kind] += 1
                totals[kind] += 1
        _counts(suite, counts, sum(_seconds(answer) for answer in members))
    root.set("tests", str(summary.planned))
    _counts(root, totals, summary.seconds)
    ET.indent(root)
    xml: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


def _counts(element: ET.Element, counts: dict[str, int], seconds: float) -> None:
    element.set("failures", str(counts["failure"]))
    element.set("errors", str(counts["error"]))
    element.set("skipped", str(counts["skipped"]))
    element.set("time", f"{seconds:.6f}")


def _properties(suite: ET.Element, summary: Summary) -> None:
    header = summary.header
    properties = ET.SubElement(suite, "properties")
    values = {
        "backend": f"{header['backend']['name']} {header['backend']['version']}",
        "profile": summary.profile,
        "spec": header["spec"]["version"],
        "plan": header["plan"]["hash"],
        "verdict": summary.verdict,
    }
    for name, value in values.items():
        ET.SubElement(properties, "property", name=name, value=_text(value))


def _case(suite: ET.Element, answer: Answer, backend: str) -> str | None:
    """Add one test case; the name of the element that says what went wrong, if anything did."""
    case = answer.case
    element = ET.SubElement(
        suite,
        "testcase",
        classname=_text(f"sessrun.{case.family}"),
        name=_text(case.id),
        time=f"{_seconds(answer):.6f}",
    )
    kind = _ELEMENT.get(answer.result)
    if kind is None:
        return None
    message = _text(shortened(answer.reason, 500))
    if kind == "skipped":
        if not message.startswith(answer.result):
            message = f"{answer.result}: {message}"
        ET.SubElement(element, kind, message=message)
        return kind
    lines = [
        f"clauses: {', '.join(answer.clauses)}",
        f"step: {answer.finding.get('step', '-')}",
        f"want: {value_text(answer.finding.get('want')) or '-'}",
        f"got: {value_text(answer.finding.get('got')) or '-'}",
        f"replay: {replay_command(case.id, answer.result, backend)}",
    ]
    outcome = ET.SubElement(element, kind, type=answer.result, message=message)
    outcome.text = _text("\n".join(lines))
    return kind


def _seconds(answer: Answer) -> float:
    return float(answer.line["seconds"]) if answer.line is not None else 0.0


def _text(value: object) -> str:
    return _NOT_XML.sub("", str(value))
