"""Realistic run records made up from a seed: clauses, cases, observations, every kind of result."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sessrun.reports.plan import PlanFacts, PlannedCase
from sessrun.spec.cases.model import Case
from sessrun.spec.cases.values import describe
from sessrun.spec.loader import Clause
from sessrun.spec.records import SIMULATED, TRIED_AGAIN, RecordWriter, RunRecord, read_record

SPEC_DIGEST = "5" * 64
SUITE = "6" * 64
SENTENCES = {
    "FEED": "A value fed to a placeholder is converted to the dtype of the placeholder.",
    "FETCH": "A fetched tensor comes back with the dtype and shape that the graph computes.",
    "RUN": "An operation that no fetch needs is not executed, and has no effect on any variable.",
    "SESSION": "A run on a closed session fails, and leaves the variables of other sessions alone.",
    "ERRORS": "A kernel that fails names its node, and the run reports the code of the failure.",
    "PLACEMENT": "An operation placed on a device that does not exist fails when it is run.",
}
REASONS = {
    "FEED": ("values[0]: want dtype int32, got float32", "values[0]: want 44, got 300"),
    "FETCH": ("values[0]: want shape [2, 3], got [3, 2]",),
    "RUN": ("values[1]: 3 of 4 elements differ, the largest by 0.25",),
    "SESSION": ("it succeeded, but must fail with code 12",),
    "ERRORS": ("it failed with code 13, not 3", "it named node 'a', not div"),
    "PLACEMENT": ("it succeeded, but must fail with code 3",),
}

DETAILS = {
    "skipped": "not here: gpu",
    "timeout": "no answer to request 17 within 30 s; the worker was killed",
    "crash": "the worker ended with signal 11 (SIGSEGV) in request 18",
    "missing": "backend unresponsive",
    "error": "an answer without an id: <script>alert('x')</script>\x1b[31m",
    "infra_error": "the oracle: the worker ended with exit status 1",
}


@dataclass(frozen=True)
class SyntheticRun:
    """A record on disk, and everything it is judged by."""

    path: Path
    record: RunRecord
    plan: PlanFacts
    clauses: Mapping[str, Clause]
    cases: Mapping[str, Case]


def clauses(profile: str = "core", per_subject: int = 5) -> dict[str, Clause]:
    made = {}
    for subject, sentence in SENTENCES.items():
        for index in range(1, per_subject + 1):
            id_ = f"{subject}-{index:03}"
            level = "SHOULD" if index == 4 else "MAY" if index == 5 else "MUST"
            condition = "gpu" if id_ == "PLACEMENT-003" else None
            made[id_] = Clause(
                id_, level, sentence, "engine", profile, ("002 Session.run",), "0.1", condition
            )
    made["STATE-001"] = Clause(
        "STATE-001",
        "MUST",
        "A variable keeps its value between two runs of a session.",
        "engine",
        "state",
        ("002 Session.run",),
        "0.1",
    )
    return made


def engine_case(id_: str, clause_ids: tuple[str, ...], value: int) -> Case:
    want = describe(np.asarray([value, value + 1], dtype=np.int32))
    return Case(
        id=id_,
        title="A constant is fetched.",
        surface="engine",
        clauses=clause_ids,
        steps=(
            {"do": "open", "session": "s", "graph": "g"},
            {"do": "run", "session": "s", "fetches": ["c:0"], "expect": {"values": [want]}},
        ),
        graphs={"g": {"node": [{"name": "c", "op": "Const"}], "versions": {"producer": 1882}}},
        needs=("gpu",) if "PLACEMENT-003" in clause_ids else (),
    )


def build_cases(table: Mapping[str, Clause], generated: int) -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for number, id_ in enumerate(table):
        subject = id_.rpartition("-")[0].lower()
        extra = ("STATE-001",) if id_ == "RUN-001" else ()
        for slug in ("plain", "nested", "empty"):
            case = f"{subject}/{id_.lower()}-{slug}"
            cases[case] = engine_case(case, (id_, *extra), number)
    for subject in SENTENCES:
        ids = tuple(id_ for id_ in table if id_.startswith(subject))[:2]
        for index in range(generated):
            case = f"{subject.lower()}_round_trip:7:{index}"
            cases[case] = engine_case(case, ids, index)
    return cases


def observations(case: Case, value: int | None = None) -> list[dict[str, Any]]:
    want = case.steps[1]["expect"]["values"][0]
    got = want if value is None else describe(np.asarray([value, value], dtype=np.int32))
    return [
        {"step": "0", "outcome": "opened"},
        {"step": "1", "outcome": "values", "values": [got]},
    ]


def result_line(case: Case, result: str, rng: random.Random, observed: bool) -> dict[str, Any]:
    line: dict[str, Any] = {
        "kind": "result",
        "id": case.id,
        "hash": case.hash,
        "clauses": list(case.clauses),
        "result": result,
        "seconds": round(rng.uniform(0.0005, 0.02), 6),
    }
    subject = case.clauses[0].rpartition("-")[0]
    match result:
        case "pass":
            if observed:
                line["observations"] = observations(case)
        case "fail" | "flaky":
            reason = rng.choice(REASONS.get(subject, ("values[0]: want 1, got 2",)))
            want = case.steps[1]["expect"]
            seen = observations(case, -1)
            line["finding"] = {
                "step": "1",
                "reason": reason,
                "want": want,
                "got": {"values": seen[1]["values"]},
            }
            line["observations"] = seen
            line["attempts"] = 2
        case "unsupported":
            line["finding"] = {"step": "0", "reason": "unsupported: partial_runs no setup here"}
        case _:
            line["detail"] = DETAILS[result]
    return line


def events_before(line: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the runner tells before it writes such a line."""
    if line["result"] == "missing":
        return [{"kind": "event", "event": "unresponsive", "detail": "the probe failed too"}]
    reasons = [line["detail"]] if line["result"] in {"timeout", "crash"} else []
    reasons += [TRIED_AGAIN] if "attempts" in line else []
    return [
        {"kind": "event", "event": "restart", "detail": reason, "seconds": 0.41}
        for reason in reasons
    ]


def header(plan: PlanFacts, backend: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {
        "kind": "header",
        "record": 1,
        "sessrun": "0.1.0",
        "spec": {"version": "0.1", "digest": SPEC_DIGEST},
        "suite": SUITE,
        "plan": plan.header,
        "seed": {"value": plan.seed, "how": "given"},
        "backend": dict(
            backend
            or {
                "spec": "tensorflow",
                "name": "TensorFlow",
                "version": "2.21.0",
                "capabilities": ["api", "callables", "devices", "partial_runs", "state"],
                "devices": ["/job:localhost/replica:0/task:0/device:CPU:0"],
                "details": {"build": "manylinux, AVX2", "tf_keras": "2.21.0"},
            }
        ),
        "environment": {
            "system": "Linux 6.1.0 x86_64",
            "processor": "AMD EPYC 7B13",
            "cpus": 2,
            "python": "3.11.7",
            "packages": {"numpy": "2.4.6", "protobuf": "6.31.1"},
            "gpus": [],
        },
        "started": "2026-11-21T03:12:46+00:00",
        "mode": "workers",
    }


def plan_of(cases: Mapping[str, Case], profile: str = "core", generated: int = 20) -> PlanFacts:
    planned = tuple(PlannedCase(case.id, case.hash, case.clauses) for case in cases.values())
    return PlanFacts(profile, 7, generated, planned)


def on_a_simulated_gpu(line: dict[str, Any]) -> None:
    """A change of a run's lines: its backend has a simulated GPU."""
    if line["kind"] == "header":
        line["backend"]["details"] = {"gpu": SIMULATED}
        line["environment"]["gpus"] = [SIMULATED]


def passing(case: Case) -> str | None:
    """Every case passes, but for those that need a GPU."""
    return "skipped" if "gpu" in case.needs else "pass"


def mixed(seed: int = 1) -> Callable[[Case], str | None]:
    """Some of every kind but infra_error; about nine in ten pass."""
    rng = random.Random(seed)
    kinds = ("fail", "fail", "fail", "unsupported", "timeout", "crash", "error", "flaky", "missing")

    def choose(case: Case) -> str | None:
        if "gpu" in case.needs:
            return "skipped"
        if case.clauses[0] in {"FEED-001", "SESSION-002"} and rng.random() < 0.5:
            return "fail"
        if rng.random() < 0.01:
            return None
        return rng.choice(kinds) if rng.random() < 0.08 else "pass"

    return choose


def make_run(
    path: Path,
    choose: Callable[[Case], str | None] = passing,
    *,
    generated: int = 20,
    profile: str = "core",
    per_subject: int = 5,
    change: Callable[[dict[str, Any]], None] | None = None,
) -> SyntheticRun:
    """Write a record whose results `choose` decides; None leaves a case unanswered."""
    table = clauses(profile, per_subject)
    cases = build_cases(table, generated)
    plan = plan_of(cases, profile, generated)
    rng = random.Random(generated)
    lines = [header(plan)]
    for number, case in enumerate(cases.values()):
        result = choose(case)
        if result is None:
            continue
        line = result_line(case, result, rng, observed=number % 3 == 0)
        lines += events_before(line)
        lines.append(line)
        if result == "missing":  # given up, cut, and gone on with
            lines.append({"kind": "event", "event": "resumed", "detail": f"{number + 1} done"})
    count = sum(line["kind"] == "result" for line in lines)
    lines.append({"kind": "footer", "cases": count, "seconds": 12.5})
    with RecordWriter(path) as writer:
        for line in lines:
            if change is not None:
                change(line)
            writer.write(line)
    return SyntheticRun(path, read_record(path), plan, table, cases)
