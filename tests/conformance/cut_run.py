"""Runs of a cut plan, judged by the clauses that the cut still tests."""

import atexit
import dataclasses
import functools
import io
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from sessrun.conformance.execution import execute
from sessrun.conformance.oracle import Oracle
from sessrun.conformance.plan import Plan, build_plan
from sessrun.conformance.runner import Runner
from sessrun.reports.failures import Answer
from sessrun.reports.html import report_html
from sessrun.reports.plan import PlanFacts
from sessrun.reports.results import results_json
from sessrun.reports.summary import Summary
from sessrun.reports.terminal import print_summary
from sessrun.reports.verdicts import answers_of, summarize
from sessrun.spec.cases.model import Case
from sessrun.spec.loader import load_clauses
from sessrun.spec.records import RunRecord

HOSTILE = Path(__file__).parent
#: Where the hostile backends and the package itself are found by a worker.
PATHS = os.pathsep.join([str(HOSTILE), *(p for p in sys.path if p)])


@functools.cache
def cut_plan(every: int = 19) -> Plan:
    """Each `every`-th case of profile core, the generated ones few."""
    plan = build_plan("core", generated=2)
    return dataclasses.replace(plan, cases=plan.cases[::every])


def plan_of(*cases: Case) -> Plan:
    return Plan("core", 1, 0, cases)


@dataclass(frozen=True)
class CutRun:
    """A run: its record, its summary, and what the views say of it."""

    record: RunRecord
    summary: Summary
    terminal: str
    html: str
    results: dict[str, Any]
    answers: tuple[Answer, ...]

    @property
    def kinds(self) -> set[str]:
        return {line["result"] for line in self.record.results.values()}


@functools.cache
def shared_oracle() -> Oracle:
    """The reference in a worker of its own, which answers each case once for all runs here."""
    oracle = Oracle()
    atexit.register(oracle.shutdown)
    return oracle


def run_plan(spec: str, plan: Plan, path: Path, workers: int = 1, **options: Any) -> CutRun:
    """Run a plan in workers and look at it through every view."""
    runner = Runner(spec, **({"ask_oracle": shared_oracle()} | options))
    try:
        record = execute(plan, runner, path, workers=workers)
    finally:
        runner.shutdown()
    facts = PlanFacts.from_json(plan.to_json())
    tested = {id_ for case in plan.cases for id_ in case.clauses}
    clauses = {id_: clause for id_, clause in load_clauses().items() if id_ in tested}
    summary = summarize(record, facts, clauses, plan.profile)
    answers = answers_of(record, facts)
    out = io.StringIO()
    print_summary(summary, Console(file=out, width=200, color_system=None))
    results = json.loads(json.dumps(results_json(summary, answers)))
    html = report_html(summary, "replays")
    return CutRun(record, summary, out.getvalue(), html, results, answers)
