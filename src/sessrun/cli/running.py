"""What `certify` and `run` share: executing a plan with progress, and writing the views."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from sessrun.spec.records import QUIET

if TYPE_CHECKING:
    from sessrun.conformance.patience import Patience
    from sessrun.conformance.plan import Plan
    from sessrun.conformance.runner import Runner
    from sessrun.reports.plan import PlanFacts
    from sessrun.reports.summary import Summary
    from sessrun.spec.records import RunRecord

__all__ = ["execute_with_progress", "plan_facts", "replay_of", "started", "write_views"]


#: How often a run prints its progress where there is no bar, in seconds.
_TELL_S: Final = 30.0
#: What is computed from a record and lies beside it.
_VIEWS: Final = ("report.html", "junit.xml", "badge.svg", "results.json", "package.zip")


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


@contextlib.contextmanager
def started(
    backend: str, *, in_process: bool = False, patience: Patience | None = None
) -> Iterator[Runner]:
    """The backend, started before a plan is built, so that one that cannot start is told at once.

    Raises:
      AdapterError: the backend does not start.

    """
    from sessrun.conformance.patience import Patience
    from sessrun.conformance.runner import Runner

    runner = Runner(backend, in_process=in_process, patience=patience or Patience())
    try:
        runner.describe()
        yield runner
    finally:
        runner.shutdown()


def execute_with_progress(
    plan: Plan, runner: Runner, record: Path, *, resume: bool, workers: int
) -> RunRecord:
    """Run the plan into the record; its progress goes to standard error.

    A terminal has a bar, anything else a line every half minute.

    The views of an earlier record are removed first: if this run is cut, they would say of it
    what is not so.

    Raises:
      ResumeError, SpecError: the record that is there cannot be continued.

    """
    from sessrun.conformance.execution import execute

    def forget() -> None:
        for name in _VIEWS:
            (record.parent / name).unlink(missing_ok=True)

    with _progress(f"{runner.spec}: {plan.profile}", len(plan.cases)) as show:
        return execute(
            plan, runner, record, resume=resume, workers=workers, progress=show, begun=forget
        )


@contextlib.contextmanager
def _progress(what: str, planned: int) -> Iterator[Callable[[int, int, Mapping[str, Any]], None]]:
    """The display of progress: called after each case with (done, planned, result line)."""
    console = Console(stderr=True)
    bad = 0
    shown_at = time.monotonic()
    with _bar(console) as bar:
        task = bar.add_task(what, total=planned, bad="")

        def show(done: int, planned: int, line: Mapping[str, Any]) -> None:
            nonlocal bad, shown_at
            bad += line["result"] not in QUIET
            words = f"{bad:,} not passed" if bad else ""
            bar.update(task, completed=done, bad=words)
            if not console.is_terminal and time.monotonic() - shown_at >= _TELL_S:
                shown_at = time.monotonic()
                text = f"{what}: {done:,} of {planned:,} cases{words and f', {words}'}"
                print(text, file=sys.stderr, flush=True)

        yield show


def _bar(console: Console) -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[bad]}", style="red"),
    )
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def write_views(
    folder: Path, plan: Plan, facts: PlanFacts, record: RunRecord, waivers: Any = ()
) -> Summary:
    """Write report.html, results.json, junit.xml, badge.svg and the replays; the summary.

    Args:
      folder: where to.
      plan: the plan of the record.
      facts: the same as `plan_facts` gives it, which takes a while.
      record: the record.
      waivers: the clauses that the certificate does without.

    """
    from sessrun.conformance.replay import write_replay
    from sessrun.reports.badge import badge_svg
    from sessrun.reports.failures import replay_name
    from sessrun.reports.html import report_html
    from sessrun.reports.junit import junit_xml
    from sessrun.reports.printable import utf8
    from sessrun.reports.results import results_json
    from sessrun.reports.verdicts import answers_of, summarize
    from sessrun.spec.loader import load_clauses
    from sessrun.spec.writing import write_bytes, write_text

    summary = summarize(record, facts, load_clauses(), plan.profile, waivers)
    answers = answers_of(record, facts)
    backend = record.header["backend"]["spec"]
    replays = folder / "replays"
    cases = {case.id: case for case in plan.cases}
    write_bytes(folder / "report.html", utf8(report_html(summary, str(replays))))
    write_bytes(folder / "junit.xml", junit_xml(summary, answers))
    write_bytes(folder / "badge.svg", utf8(badge_svg(summary)))
    results = json.dumps(results_json(summary, answers), indent=1, sort_keys=True)
    write_text(folder / "results.json", results + "\n")
    for old in replays.glob("*.json"):
        old.unlink()
    for answer in answers:
        if answer.line is not None and answer.replayable:
            path = replays / replay_name(answer.case.id)
            write_replay(path, cases[answer.case.id], answer.line, backend)
    return summary
