"""The HTML view: one self-contained file that loads nothing and escapes everything.

Everything that a backend controls passes through `printable` (no control characters, nothing
that turns the direction of reading) and the template's autoescape; the content policy admits
this page's own style and script by their hashes, and no network.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sessrun.reports.answers import answer_rows
from sessrun.reports.coverage_view import coverage_view
from sessrun.reports.failures import replay_command
from sessrun.reports.origin import origin_of_cases
from sessrun.reports.printable import number, printable, shortened, value_text
from sessrun.reports.summary import (
    CERTIFIED,
    CLAUSE_RESULTS,
    ClauseResult,
    ClauseSummary,
    FailureGroup,
    SubjectSummary,
    Summary,
    Verdict,
)
from sessrun.spec.scopes import scope_of

__all__ = [
    "FACES",
    "Links",
    "coded",
    "content_policy",
    "flat",
    "report_html",
    "template",
    "template_text",
]

_TEMPLATES: Final = Path(__file__).parent / "templates"
#: Style class of a verdict, and its mark: a path in a circle of 24 by 24.
FACES: Final[dict[Verdict, tuple[str, str]]] = {
    "CERTIFIED": ("certified", "M7 12.5 10.5 16 17 8.5"),
    "CERTIFIED WITH WAIVERS": ("waivers", "M7 12.5 10.5 16 17 8.5"),
    "SIMULATED": ("simulated", "M6.5 11 9.5 8 14.5 11 17.5 8M6.5 16 9.5 13 14.5 16 17.5 13"),
    "NOT CERTIFIED": ("not", "M8 8 16 16M16 8 8 16"),
    "NOT APPLICABLE": ("na", "M7 12H17"),
    "VOID": ("void", "M12 6.5V13M12 17V17.2"),
}
#: Style class and mark of a clause's result.
_MARKS: Final[dict[ClauseResult, tuple[str, str]]] = {
    "holds": ("holds", "✓"),
    "broken": ("broken", "✗"),
    "not applicable here": ("idle", "-"),
    "not declared": ("idle", "-"),
    "not tested": ("open", "?"),
}
#: Kinds of segments of a bar: style, words, the results they gather.
_KINDS: Final = (
    ("good", "passed", ("pass",)),
    ("bad", "went wrong", ("fail", "flaky", "error", "timeout", "crash")),
    ("open", "unsupported or not answered", ("unsupported", "missing", "infra_error")),
    ("idle", "not applicable here", ("skipped",)),
)
_EVENTS: Final = 200
#: How many causes a clause leads to.
_CAUSES: Final = 3
_LIMITS: Final = (
    "It does not say that the backend has no other faults: it reports the planned cases, no more.",
    "It is of this version of the backend on this machine: another build or device may differ.",
    "It says nothing of profiles that it does not name, and does not count optional parts.",
    "It says nothing of speed, of memory, or of fitness for any purpose.",
)


@dataclass(frozen=True, slots=True)
class Links:
    """What a report leads to, where it is a page among others.

    Attributes:
      trail: text and address of the pages above it.
      package: the address of the package, to be downloaded.
      programs: case to the plain TensorFlow code that shows it.
      findings: clause or operation to the address of what is known of its failure.

    """

    trail: Sequence[tuple[str, str]] = ()
    package: str = ""
    programs: Mapping[str, str] = field(default_factory=dict)
    findings: Mapping[str, str] = field(default_factory=dict)


_NO_LINKS: Final = Links()


def report_html(summary: Summary, replays: str = "replays", links: Links = _NO_LINKS) -> str:
    """The report as one HTML page.

    Args:
      summary: the summary of the run.
      replays: the folder of the replay files, as the printed commands name it.
      links: what it leads to.

    """
    header = summary.header
    style, script = template_text("style.css"), template_text("report.js")
    face = FACES[summary.verdict]
    backend = header["backend"]
    causes = _causes(summary.failures)
    clauses = [_clause(clause, causes, links) for clause in summary.clauses]
    page: str = template("report.html.j2").render(
        summary=summary,
        style=style,
        script=script,
        policy=content_policy(style, script),
        certified=summary.verdict in CERTIFIED,
        backend={key: shortened(backend[key], 120) for key in ("name", "version")},
        face={"style": face[0], "glyph": face[1]},
        reasons=[printable(text) for text in (*summary.reasons, *origin_of_cases(summary))],
        facts=_facts(summary),
        limits=_LIMITS,
        totals=[("planned", summary.planned), *summary.counts.items()],
        legend=[(kind, words) for kind, words, _ in _KINDS],
        subjects=[_subject(subject) for subject in summary.subjects],
        coverage=coverage_view(summary.coverage),
        links=links,
        wrong=_groups(summary, replays, links, answered=True),
        declined=_groups(summary, replays, links, answered=False),
        tables=_tables(clauses, scope_of(summary.profile).profile),
        subject_names=sorted({clause["subject"] for clause in clauses}),
        result_names=CLAUSE_RESULTS,
        waivers=[_clean(dataclasses.asdict(waiver)) for waiver in summary.waivers],
        events=[_event(event) for event in summary.events[:_EVENTS]],
        events_hidden=max(0, len(summary.events) - _EVENTS),
        details=_details(header),
    )
    return page


@functools.cache
def _environment() -> Any:
    import jinja2  # noqa: PLC0415 - needed only when a page is rendered

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["coded"] = coded
    return environment


def template(name: str) -> Any:
    """A template of ours, with autoescape on and undefined names refused."""
    return _environment().get_template(name)


@functools.cache
def template_text(name: str) -> Any:
    """A style sheet or script of ours, marked safe: it is no data."""
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    return Markup((_TEMPLATES / name).read_text(encoding="utf-8"))  # noqa: S704 - our own file


def content_policy(style: str, script: str = "") -> str:
    """The Content-Security-Policy that admits this style and this script, and nothing else."""
    policy = f"default-src 'none'; style-src '{_source_hash(style)}'"
    return policy + (f"; script-src '{_source_hash(script)}'" if script else "")


def _source_hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _facts(summary: Summary) -> list[tuple[str, str]]:
    header = summary.header
    return [
        ("Profile", _scope(summary.profile)),
        ("Spec", f"{header['spec']['version']} ({header['spec']['digest'][:12]}…)"),
        ("Date", _date(header.get("started"))),
        ("Backend", shortened(header["backend"]["spec"], 120)),
        ("Required clauses", _held(summary.required)),
        ("Cases", f"{summary.counts['pass']:,} of {summary.planned:,} passed"),
        ("Plan", f"{header['plan']['hash'][:12]}…, seed {header['plan']['seed']}"),
        ("Run", _run(header)),
    ]


def _scope(name: str) -> str:
    """The profile, or the part of one and what it is."""
    scope = scope_of(name)
    return name if name == scope.profile else f"{name}: {scope.part.summary}"


def _held(required: Mapping[str, int]) -> str:
    """How many clauses hold; those that hold in part are named beside them, and do not count."""
    hold = f"{required['holds'] - required['in part']} of {required['total']} hold"
    return f"{hold}, {required['in part']} in part" if required["in part"] else hold


def _date(started: str | None) -> str:
    return shortened(started or "not recorded", 40).replace("T", " ").replace("+00:00", " UTC")


def _subject(subject: SubjectSummary) -> dict[str, Any]:
    rest = _rest(subject.counts) if subject.planned else "no case tests it"
    passed = subject.counts.get("pass", 0)
    return {
        "name": subject.subject,
        "planned": subject.planned,
        "passed": passed,
        "rest": rest,
        "label": f"{passed} of {subject.planned} passed{', ' if rest else ''}{rest}",
        "segments": list(_segments(subject)),
    }


def _segments(subject: SubjectSummary) -> Iterator[dict[str, Any]]:
    """The segments of a subject's bar, in thousandths of its planned cases."""
    done = 0
    for kind, _, results in _KINDS:
        count = sum(subject.counts.get(result, 0) for result in results)
        if count:
            x = round(1000 * done / subject.planned, 2)
            done += count
            yield {"kind": kind, "x": x, "width": round(1000 * done / subject.planned - x, 2)}


def _rest(counts: Mapping[str, int]) -> str:
    """The results other than pass: `2 fail, 1 missing`."""
    return ", ".join(f"{count:,} {result}" for result, count in counts.items() if result != "pass")


def _causes(groups: Sequence[FailureGroup]) -> dict[str, list[dict[str, str]]]:
    """For each clause the first causes that concern it, to be linked."""
    causes: dict[str, list[dict[str, str]]] = {}
    for group in groups:
        title = shortened(f"{group.result}: {group.title}", 120)
        for clause in group.clauses:
            causes.setdefault(clause, []).append({"signature": group.signature, "title": title})
    return {clause: members[:_CAUSES] for clause, members in causes.items()}


def _clause(
    clause: ClauseSummary, causes: Mapping[str, list[dict[str, str]]], links: Links
) -> dict[str, Any]:
    style, mark = ("open", "~") if clause.in_part else _MARKS[clause.result]
    form = clause.to_json() | {"style": style, "mark": mark, "words": clause.words}
    rest = _rest(clause.counts)
    shown = "" if clause.result == "not applicable here" else rest
    if clause.in_part:
        shown = f"does not count, for {rest}"
    if not clause.tests:
        shown = "no case tests it"
    return _clean(form) | {
        "tests": clause.tests,
        "rest": shown,
        "statement": coded(clause.statement),
        "causes": causes.get(clause.id, []),
        "finding": links.findings.get(clause.id, ""),
    }


def coded(text: object) -> Any:
    """The printable text, escaped, with what stands between backticks as code."""
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    shown = printable(text)
    parts = shown.split("`")
    if len(parts) % 2 == 0:
        return shown
    code = Markup("<code>{}</code>")
    return Markup("").join(code.format(p) if i % 2 else p for i, p in enumerate(parts))


def _tables(clauses: list[dict[str, Any]], profile: str) -> list[dict[str, Any]]:
    absent = [c for c in clauses if c["required"] and c["result"] == "not applicable here"]
    undeclared = [c for c in clauses if c["required"] and c["result"] == "not declared"]
    required = [c for c in clauses if c["required"] and c not in (*absent, *undeclared)]
    optional = [c for c in clauses if not c["required"] and c["profile"] == profile]
    others = [c for c in clauses if c["profile"] != profile]
    return [
        {
            "title": "Required",
            "caption": "The verdict rests on these.",
            "clauses": required,
        },
        {
            "title": "Not applicable here",
            "caption": "Required, but excluded by a fact that the host observed on this machine.",
            "clauses": absent,
        },
        {
            "title": "Not declared",
            "caption": "Required of backends that declare the operations or capabilities.",
            "clauses": undeclared,
        },
        {
            "title": "Optional",
            "caption": "SHOULD and MAY: listed, never counted.",
            "clauses": optional,
        },
        {
            "title": "Of other profiles",
            "caption": "Tested by the way; no verdict rests on them.",
            "clauses": others,
        },
    ]


def _groups(summary: Summary, replays: str, links: Links, *, answered: bool) -> dict[str, Any]:
    """The groups that were answered wrongly, or those that were not answered, in their order."""
    groups = [group for group in summary.failures if group.answered == answered]
    backend = str(summary.header["backend"]["spec"])
    return {
        "groups": [_group(group, backend, replays, links) for group in groups],
        "cases": number(sum(len(group.cases) for group in groups), "case"),
        "causes": number(len(groups), "cause"),
    }


def _group(group: FailureGroup, backend: str, replays: str, links: Links) -> dict[str, Any]:
    return {
        "result": group.result,
        "signature": group.signature,
        "title": shortened(group.title.removeprefix(f"{group.result}: "), 400),
        "clauses": group.clauses,
        "unblocks": group.unblocks,
        "cases": [printable(case) for case in group.cases],
        "step": printable(group.step or ""),
        "answers": list(answer_rows(group.want, group.got, group.reason)),
        "program": links.programs.get(group.cases[0], ""),
        "findings": [
            (word, links.findings[word])
            for word in (group.operation, *group.clauses)
            if word in links.findings
        ],
        "command": printable(
            replay_command(group.cases[0], group.result, backend, replays), keep=""
        ),
    }


def _event(event: Mapping[str, Any]) -> dict[str, str]:
    return {
        "name": shortened(event["event"], 60),
        "detail": shortened(event.get("detail", ""), 300),
        "seconds": f"{event['seconds']:.2f}" if "seconds" in event else "",
    }


def _run(header: Mapping[str, Any]) -> str:
    if header["mode"] != "workers":
        return "in process"
    workers = header.get("workers", 1)
    return "in a worker process" if workers == 1 else f"in {workers} worker processes at a time"


def _details(header: Mapping[str, Any]) -> list[dict[str, Any]]:
    backend = header["backend"]
    offered = {
        "capabilities": ", ".join(map(str, backend["capabilities"])) or "none declared",
        "devices": ", ".join(map(str, backend.get("devices", ()))) or "none named",
        **_mapping(backend.get("details")),
    }
    environment = {key: flat(value) for key, value in header["environment"].items()}
    return [
        {"id": "environment", "title": "Environment", "rows": _rows(environment)},
        {"id": "capabilities", "title": "Capabilities declared", "rows": _rows(offered)},
    ]


def _mapping(value: Any) -> dict[str, str]:
    return {str(k): flat(v) for k, v in value.items()} if isinstance(value, Mapping) else {}


def flat(value: Any) -> str:
    """A value of the environment in words: one level of names or items, the rest as a value."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {value_text(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(value_text(item) for item in value) or "none"
    return str(value)


def _rows(table: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(shortened(name, 60), shortened(value, 2000)) for name, value in table.items()]


def _clean(form: Mapping[str, Any]) -> dict[str, Any]:
    """A flat JSON form whose strings, and lists of strings, are printable."""
    return {
        key: [printable(item) for item in value]
        if isinstance(value, list)
        else printable(value)
        if isinstance(value, str)
        else value
        for key, value in form.items()
    }
