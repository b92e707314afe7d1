"""Run cases of a profile on a backend: filters, seeds and counts are free; it cannot certify."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from sessrun.cli.failure import UserError
from sessrun.cli.simulated_gpu import add_simulated_gpu, with_simulated_gpu
from sessrun.cli.workers import add_workers, worker_count

if TYPE_CHECKING:
    from sessrun.conformance.plan import Plan

SUMMARY = "run cases of a profile on a backend, freely chosen"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("backend", help="as for certify")
    add_simulated_gpu(parser)
    parser.add_argument("--profile", default="core", help="the profile (default: core)")
    parser.add_argument("--seed", type=int, default=1, help="of the generated cases")
    parser.add_argument("--generated", type=int, default=20, help="generated cases per property")
    parser.add_argument("--only", metavar="TEXT", help="only cases whose id contains this")
    parser.add_argument("--without", metavar="TEXT", help="no cases whose id contains this")
    parser.add_argument("--clause", metavar="ID", help="only cases of this clause")
    parser.add_argument("--record", type=Path, default=Path("out/run/record.jsonl"))
    add_workers(parser)
    parser.add_argument("--resume", action="store_true", help="continue a run that was cut")
    parser.add_argument("--in-process", action="store_true", help="for debuggers")


def run(args: argparse.Namespace) -> int:
    """Run; 0 if every case passed or was skipped."""
    from rich.console import Console

    from sessrun.cli.running import execute_with_progress, plan_facts, started, write_views
    from sessrun.cli.shrinking import shrink_failures
    from sessrun.conformance.plan import build_plan
    from sessrun.reports.terminal import print_summary
    from sessrun.spec.loader import load_clauses
    from sessrun.spec.records import QUIET
    from sessrun.spec.volumes import no_clause

    if args.clause and args.clause not in load_clauses():
        raise UserError(no_clause(args.clause))
    backend = with_simulated_gpu(args.backend, args.simulated_gpu)
    with started(backend, in_process=args.in_process) as runner:
        plan = _chosen(build_plan(args.profile, args.seed, args.generated), args)
        workers = worker_count(args.workers, runner, len(plan.cases))
        args.record.parent.mkdir(parents=True, exist_ok=True)
        record = execute_with_progress(
            plan, runner, args.record, resume=args.resume, workers=workers
        )
    summary = write_views(args.record.parent, plan, plan_facts(plan), record)
    console = Console()
    print_summary(summary, console, replays=str(args.record.parent / "replays"), chosen=True)
    shrunk = [] if args.in_process else shrink_failures(args.record.parent, plan, summary, backend)
    for sentence in shrunk:
        console.print(sentence, soft_wrap=True, markup=False)
    console.print(
        f"record: {args.record}\nreport: {args.record.parent / 'report.html'}", soft_wrap=True
    )
    return 1 if any(line["result"] not in QUIET for line in record.results.values()) else 0


def _chosen(plan: Plan, args: argparse.Namespace) -> Plan:
    """The plan of the cases that were asked for."""
    chosen = tuple(
        case
        for case in plan.cases
        if (not args.only or args.only in case.id)
        and (not args.without or args.without not in case.id)
        and (not args.clause or args.clause in case.clauses)
    )
    if not chosen:
        raise UserError("no case of the profile fits --only, --without and --clause")
    return dataclasses.replace(plan, cases=chosen)
