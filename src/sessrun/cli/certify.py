"""Certify a backend against a profile: every case, in worker processes, into a package.

Refuses filters and quick modes: what a certificate says is what the whole plan showed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sessrun.cli.failure import UserError
from sessrun.cli.simulated_gpu import add_simulated_gpu, with_simulated_gpu
from sessrun.cli.workers import add_workers, worker_count
from sessrun.spec.seeds import Seed

if TYPE_CHECKING:
    from rich.console import Console

    from sessrun.conformance.expectations import Expectation
    from sessrun.reports.summary import Waiver
    from sessrun.spec.records import RunRecord

#: What of the minutes the cases may take; the rest is for shrinking failures, and the reports.
_FOR_CASES: Final = 0.85

SUMMARY = "run a whole profile on a backend and write a certification package"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "backend", help="an adapter's name, package.module:factory[#argument], or exec:COMMAND"
    )
    add_simulated_gpu(parser)
    parser.add_argument("--profile", default="core", help="the profile (default: core)")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="where to write everything")
    parser.add_argument(
        "--minutes",
        type=int,
        default=10,
        metavar="N",
        help="give the backend up when the whole run has taken so long (default: 10)",
    )
    seeds = parser.add_mutually_exclusive_group()
    seeds.add_argument(
        "--seed", type=int, metavar="N", help="of the drawn cases (default: drawn anew)"
    )
    seeds.add_argument(
        "--challenge",
        metavar="TEXT",
        help="derive the seed from a certifier's text, which makes the drawn cases unforeseeable",
    )
    parser.add_argument(
        "--sign",
        type=Path,
        metavar="KEY",
        help="sign the package with this OpenSSH key; one with a passphrase through ssh-agent",
    )
    add_workers(parser)
    parser.add_argument("--resume", action="store_true", help="continue a run that was cut")
    parser.add_argument(
        "--expectations", type=Path, metavar="FILE", help="known failures; waivers among them"
    )


def run(args: argparse.Namespace) -> int:
    """Certify; 0 if CERTIFIED or SIMULATED (or nothing was unexpected), 1 if not."""
    from rich.console import Console

    from sessrun.cli.running import (
        execute_with_progress,
        plan_facts,
        replay_of,
        started,
        write_views,
    )
    from sessrun.cli.shrinking import shrink_failures
    from sessrun.conformance.expectations import load_expectations
    from sessrun.conformance.patience import Patience
    from sessrun.conformance.plan import build_plan
    from sessrun.reports.package import write_package
    from sessrun.reports.signature import sign
    from sessrun.reports.summary import CERTIFIED
    from sessrun.reports.terminal import print_summary
    from sessrun.spec.loader import load_clauses

    if args.minutes < 1:
        raise UserError("--minutes is 1 or more")
    if args.sign is not None:
        sign(b"a key that does not sign is told before the run", args.sign)
    expected = load_expectations(args.expectations) if args.expectations else ()
    waivers = _waivers(expected)
    backend = with_simulated_gpu(args.backend, args.simulated_gpu)
    folder = args.output or Path("out") / f"certify-{_slug(backend)}-{args.profile}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "record.jsonl"
    patience = Patience(whole=60 * args.minutes * _FOR_CASES)
    with started(backend, patience=patience) as runner:
        plan = build_plan(args.profile, _seed(args, path))
        workers = worker_count(args.workers, runner, len(plan.cases))
        _refuse_without_gpus(plan.profile, runner.describe().devices, args.backend)
        record = execute_with_progress(plan, runner, path, resume=args.resume, workers=workers)
    facts = plan_facts(plan)
    summary = write_views(folder, plan, facts, record, waivers)
    package = folder / "package.zip"
    write_package(
        package,
        path,
        facts,
        load_clauses(),
        waivers=waivers,
        replay_of=replay_of(plan, backend),
        sign=None if args.sign is None else lambda manifest: sign(manifest, args.sign),
    )
    console = Console()
    print_summary(summary, console, replays=str(folder / "replays"))
    for sentence in shrink_failures(folder, plan, summary, backend):
        console.print(sentence, soft_wrap=True, markup=False)
    console.print(f"report:  {folder / 'report.html'}\npackage: {package}", soft_wrap=True)
    if args.expectations:
        return _reviewed(record, expected, console)
    return 0 if summary.verdict in {*CERTIFIED, "SIMULATED"} else 1


def _reviewed(record: RunRecord, expected: Sequence[Expectation], console: Console) -> int:
    """Print what was not expected; the exit status."""
    import datetime

    from sessrun.conformance.expectations import review

    seen = review(record, expected, datetime.datetime.now(datetime.UTC).date())
    for sentence in (*(f"unexpected: {id_}" for id_ in seen.unexpected), *seen.complaints):
        console.print(sentence, soft_wrap=True, markup=False)
    return 0 if seen.clean else 1


def _refuse_without_gpus(profile: str, devices: Sequence[str], backend: str) -> None:
    """Say at once that a profile whose every clause is of GPUs needs one."""
    from sessrun.spec.cases.facts import OF_GPUS
    from sessrun.spec.loader import load_clauses
    from sessrun.spec.scopes import scope_of

    asked = filter(scope_of(profile).includes_clause, load_clauses().values())
    if {clause.condition for clause in asked} <= OF_GPUS and not any("GPU" in d for d in devices):
        raise UserError(
            f"the profile {profile!r} is about GPUs, and a new session of {backend!r} lists none: "
            "nothing was asked, and there is no certificate"
        )


def _waivers(expected: Sequence[Expectation]) -> list[Waiver]:
    """The waivers among what is expected to fail."""
    from sessrun.reports.summary import Waiver

    return [
        Waiver(e.clause, e.why, e.bug, e.expires.isoformat() if e.expires else None)
        for e in expected
        if e.waiver and e.clause
    ]


def _seed(args: argparse.Namespace, record: Path) -> Seed:
    """The seed that is asked for, that of the record which is resumed, or a new one."""
    from sessrun.spec.records import read_record
    from sessrun.spec.schema import SpecError

    wanted = None
    if args.challenge is not None:
        wanted = Seed.of_challenge(args.challenge)
    elif args.seed is not None:
        wanted = Seed(args.seed)
    if args.resume and record.exists():
        try:
            begun = Seed.from_json(read_record(record).header["seed"])
        except SpecError:  # cut within its header, or no record: `execute` raises the error
            return wanted or Seed.drawn()
        if wanted not in {None, begun}:
            raise UserError(
                f"{record} has the seed {begun.value} ({begun.how}), which --resume keeps: "
                "leave out --seed and --challenge, or start anew without --resume"
            )
        return begun
    return wanted or Seed.drawn()


def _slug(backend: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in backend).strip("-")[:60] or "backend"
