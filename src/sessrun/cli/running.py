"""What `certify` and `run` share: executing a plan with progress, and writing the views."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from sessrun.conformance.plan import Plan
    from sessrun.reports.plan import PlanFacts
    from sessrun.reports.summary import Summary
    from sessrun.spec.records import RunRecord

__all__ = ["execute_with_progress", "plan_facts", "replay_of", "write_views"]


def plan_facts(plan: Plan) -> PlanFacts:
    """The suite's plan as the reports see it: as data."""
    from sessrun.reports.plan import PlanFacts

    return PlanFacts.from_json(plan.to_json())


def replay_of(plan: Plan, backend: str) -> Any:
    """The function that makes the replay of a planned case from its line of the record."""
    from sessrun.conformance.replay import replay_form

    cases = {case.id: case for case in plan.cases}

    def make(id_: str, line: Mapping[str, Any]) -> Mapping[str, Any]:
        return replay_form(cases[id_], line, backend)

    return make


def execute_with_progress(
    plan: Plan, backend: str, record: Path, *, resume: bool, in_process: bool = False
) -> RunRecord:
    """Run the plan into the record, with a progress bar on standard error if it is a terminal.

    Raises:
      AdapterError: the backend does not start.
      ResumeError, SpecError: the record that is there cannot be continued.

    """
    from sessrun.conformance.execution import execute
    from sessrun.conformance.runner import Runner

    runner = Runner(backend, in_process=in_process)
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[bad]}", style="red"),
    )
    bad = 0
    try:
        runner.describe()
        quiet = not console.is_terminal
        with Progress(*columns, console=console, transient=True, disable=quiet) as bar:
            task = bar.add_task(f"{backend}: {plan.profile}", total=len(plan.cases), bad="")

            def show(done: int, _planned: int, line: Mapping[str, Any]) -> None:
                nonlocal bad
                bad += line["result"] not in {"pass", "skipped"}
                bar.update(task, completed=done, bad=f"{bad} not passed" if bad else "")

            return execute(plan, runner, record, resume=resume, progress=show)
    finally:
        runner.shutdown()


def write_views(folder: Path, plan: Plan, record: RunRecord, waivers: Any = ()) -> Summary:
    """Write report.html, results.json, junit.xml, badge.svg and the replays; the summary."""
    from sessrun.reports.badge import badge_svg
    from sessrun.reports.failures import replay_name
    from sessrun.reports.html import report_html
    from sessrun.reports.junit import junit_xml
    from sessrun.reports.results import results_json
    from sessrun.reports.verdicts import answers_of, summarize
    from sessrun.spec.loader import load_clauses

    facts = plan_facts(plan)
    summary = summarize(record, facts, load_clauses(), plan.profile, waivers)
    answers = answers_of(record, facts)
    backend = record.header["backend"]["spec"]
    replays = folder / "replays"
    make = replay_of(plan, backend)
    (folder / "report.html").write_text(report_html(summary, str(replays)), encoding="utf-8")
    (folder / "junit.xml").write_bytes(junit_xml(summary, answers))
    (folder / "badge.svg").write_text(badge_svg(summary), encoding="utf-8")
    results = json.dumps(results_json(summary, answers), indent=1, sort_keys=True)
    (folder / "results.json").write_text(results + "\n", encoding="utf-8")
    for old in replays.glob("*.json"):
        old.unlink()
    for answer in answers:
        if answer.line is not None and answer.result not in {"pass", "skipped"}:
            replays.mkdir(exist_ok=True)
            text = json.dumps(make(answer.case.id, answer.line), indent=1, ensure_ascii=False)
            path = replays / replay_name(answer.case.id)
            path.write_text(text + "\n", encoding="utf-8")
    return summary
