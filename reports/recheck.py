"""The single checks of the verifier: each returns what it found against a package, in sentences."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sessrun.reports.failures import Answer, replay_name
from sessrun.reports.json_forms import json_bytes
from sessrun.reports.losses import event_faults
from sessrun.reports.package import (
    SIGNATURE,
    Package,
    ReplayOf,
    derived_files,
    manifest_of,
)
from sessrun.reports.plan import PlanFacts
from sessrun.reports.printable import shortened
from sessrun.reports.summary import Summary
from sessrun.reports.verdicts import absent_facts, answers_of, summarize
from sessrun.spec.cases.model import Case
from sessrun.spec.loader import Clause
from sessrun.spec.records import SIMULATED, RunRecord, is_simulated

__all__ = [
    "Derived",
    "derive",
    "file_faults",
    "first_faults",
    "plan_faults",
    "record_faults",
    "replay_faults",
    "summary_faults",
    "view_faults",
]

#: How many faults of one kind are shown one by one.
_SHOWN: Final = 10
#: What is compared first, since a reader looks there first.
_FIRST: Final = frozenset({"totals", "required"})


@dataclass(frozen=True, slots=True)
class Derived:
    """What record, plan and waivers give by the installed rules."""

    summary: Summary
    answers: tuple[Answer, ...]
    files: Mapping[str, bytes]


def derive(package: Package, plan: PlanFacts, clauses: Mapping[str, Clause]) -> Derived:
    """Compute summary and views again from the package's record and waivers."""
    summary = summarize(package.record, plan, clauses, plan.profile, package.waivers)
    answers = answers_of(package.record, plan)
    return Derived(summary, answers, derived_files(summary, answers))


def file_faults(package: Package) -> tuple[str, ...]:
    """Files that are not the ones of the manifest, and files that it does not name."""
    named = package.manifest["files"]
    present = {name for name in package.files if name not in {"manifest.json", SIGNATURE}}
    faults = []
    if package.manifest["signature"] is not None and package.signature is None:
        faults.append("The manifest says that it is signed, and its signature is not there.")
    if package.manifest["signature"] is None and package.signature is not None:
        faults.append("It has a signature of which the manifest says nothing.")
    faults += [
        f"{name} is in the manifest, but not in the package." for name in named.keys() - present
    ]
    faults += [
        f"{name} is in the package, but not in the manifest." for name in present - named.keys()
    ]
    for name in sorted(present & named.keys()):
        raw = package.files[name]
        if hashlib.sha256(raw).hexdigest() != named[name]["sha256"]:
            faults.append(f"{name} was changed: its SHA-256 is not the manifest's.")
        elif len(raw) != named[name]["bytes"]:
            faults.append(f"{name} has {len(raw):,} bytes, not the manifest's.")
    return first_faults(sorted(faults))


def plan_faults(package: Package, plan: PlanFacts) -> tuple[str, ...]:
    """Where the package's plan, or the record's facts about it, differ from the plan built now."""
    theirs = {case.id: case for case in package.plan.cases}
    ours = {case.id: case for case in plan.cases}
    faults = [f"Case {id_} was dropped from the plan." for id_ in ours if id_ not in theirs]
    faults += [
        f"Case {shortened(id_, 120)} was added to the plan." for id_ in theirs if id_ not in ours
    ]
    for id_, case in ours.items():
        if id_ in theirs and theirs[id_].hash != case.hash:
            faults.append(f"Case {id_} has another content in the plan than the spec's.")
        elif id_ in theirs and theirs[id_].clauses != case.clauses:
            faults.append(f"Case {id_} tests other clauses in the plan than the spec's.")
    if not faults and package.plan.cases != plan.cases:
        faults.append("The plan's cases are in another order, or there twice.")
    for name in ("profile", "seed", "generated"):
        if getattr(package.plan, name) != getattr(plan, name):
            faults.append(
                f"The plan's {name} is {shortened(getattr(package.plan, name), 60)}; "
                f"a certification has {getattr(plan, name)}."
            )
    header = package.record.header["plan"]
    faults += [
        f"The record was made with another plan: its {name} is {shortened(header[name], 80)}, "
        f"the spec's {value}."
        for name, value in plan.header.items()
        if header[name] != value
    ]
    return first_faults(faults)


def record_faults(
    record: RunRecord, plan: PlanFacts, case_of: Callable[[str], Case] | None
) -> tuple[str, ...]:
    """Where the record does not answer the plan: cases, contents, clauses, order, skips."""
    faults = [] if record.complete else ["The record has no end: the run was cut."]
    planned = {case.id: case for case in plan.cases}
    faults += [
        f"Case {id_} was planned, and has no line in the record."
        for id_ in planned
        if id_ not in record.results
    ]
    for id_, line in record.results.items():
        case = planned.get(id_)
        if case is None:
            faults.append(f"Case {shortened(id_, 120)} is in the record, but was never planned.")
        elif line["hash"] != case.hash:
            faults.append(f"Case {id_} has another content in the record than the spec's.")
        elif tuple(line["clauses"]) != case.clauses:
            faults.append(f"Case {id_} names other clauses in the record than the spec's.")
        elif line["result"] == "skipped":
            faults += _skip_faults(record, line, case_of)
    if record.answered not in {None, len(record.results)}:
        faults.append(
            f"The record ends by counting {record.answered} cases answered; "
            f"it holds {len(record.results)}."
        )
    if not faults and list(record.results) != list(planned):
        faults.append("The cases of the record are in another order than the plan's.")
    faults += event_faults(record)
    simulated = SIMULATED in str(record.header["environment"].get("gpus"))
    if simulated != is_simulated(record.header["backend"].get("details", {})):
        faults.append("Backend and machine disagree on whether the GPU was simulated.")
    return first_faults(faults)


def _skip_faults(
    record: RunRecord, line: Mapping[str, Any], case_of: Callable[[str], Case] | None
) -> Iterator[str]:
    absent = absent_facts(line, record.header["environment"])
    needs = absent if case_of is None else frozenset(case_of(line["id"]).needs)
    if not absent or not absent <= needs:
        yield f"Case {line['id']} is recorded as skipped, but no fact of the machine excludes it."


def summary_faults(package: Package, summary: Summary) -> tuple[str, ...]:
    """Numbers and words of `summary.json` that the record does not give; and the verdict."""
    faults = [
        f"summary.json: {path} is {theirs}; the record gives {ours}."
        for path, theirs, ours in _differences(package.summary, summary.to_json(), "")
    ]
    for name, claimed in (
        ("summary.json", package.summary["verdict"]),
        ("The manifest", package.manifest["verdict"]),
    ):
        if claimed != summary.verdict:
            faults.insert(
                0, f"{name} says {claimed}; the verdict that the record gives is {summary.verdict}."
            )
    return first_faults(faults)


def _differences(theirs: Any, ours: Any, path: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted({*theirs, *ours}, key=lambda name: (name not in _FIRST, name)):
            yield from _differences(theirs.get(key), ours.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for index, (mine, other) in enumerate(zip(theirs, ours, strict=True)):
            label = mine["id"] if isinstance(mine, dict) and "id" in mine else index
            yield from _differences(mine, other, f"{path}[{label}]")
    elif theirs != ours or type(theirs) is not type(ours):
        yield shortened(path, 120), shortened(repr(theirs), 120), shortened(repr(ours), 120)


def view_faults(package: Package, anew: Derived) -> tuple[str, ...]:
    """Derived files, and the manifest, that are not what the record gives."""
    faults = [
        f"{name} is not what the record gives."
        for name, raw in anew.files.items()
        if package.files[name] != raw
    ]
    signed = package.manifest["signature"] is not None
    manifest = manifest_of(package.files, anew.summary, signed=signed)
    faults += [
        f"manifest.json: {path} is {theirs}; the record gives {ours}."
        for path, theirs, ours in _differences(package.manifest, manifest, "")
    ]
    return first_faults(faults)


def replay_faults(package: Package, anew: Derived, replay_of: ReplayOf | None) -> tuple[str, ...]:
    """Replays that are not of a case that went wrong, or not what the record gives."""
    wrong = {replay_name(answer.case.id): answer for answer in anew.answers if answer.replayable}
    faults = []
    for name, form in package.replays.items():
        answer = wrong.get(name)
        if answer is None or answer.line is None:
            faults.append(f"replays/{name} is of no case that went wrong.")
        elif Case.from_json(form["case"], name).hash != answer.case.hash:
            faults.append(f"replays/{name} holds another case than the plan.")
        elif replay_of is not None:
            expected = json_bytes(replay_of(answer.case.id, answer.line))
            if package.files[f"replays/{name}"] != expected:
                faults.append(f"replays/{name} is not the replay of its case.")
    if replay_of is not None:
        faults += [f"replays/{name} is missing." for name in wrong if name not in package.replays]
    return first_faults(faults)


def first_faults(faults: Iterable[str]) -> tuple[str, ...]:
    """The faults of one kind: the first ones, and how many more there are."""
    listed = tuple(faults)
    hidden = len(listed) - _SHOWN
    return listed if hidden <= 0 else (*listed[:_SHOWN], f"And {hidden:,} more of the kind.")
