"""Examine the suite: run it on every faulty backend and print which clause caught which."""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sessrun.cli import selfcheck_coverage, selfcheck_gpu, selfcheck_mutants, selfcheck_verdicts
from sessrun.cli.failure import UserError

if TYPE_CHECKING:
    from sessrun.conformance.faulty.framework import Fault
    from sessrun.conformance.selfcheck.faults import FaultReport
    from sessrun.spec.cases.model import Case

SUMMARY = "run the suite on the faulty backends it must catch"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("faults", nargs="*", help="names of faults (default: all)")
    parser.add_argument(
        "--profile", help="only faults and cases of this profile (default: each fault's own)"
    )
    parser.add_argument("--base", default="reference", help="the conforming backend underneath")
    parser.add_argument("--generated", type=int, default=5, help="generated cases per property")
    parser.add_argument("--jobs", type=int, default=2, help="faults examined at a time")
    parser.add_argument("--slice", type=int, metavar="N", help="only N faults, drawn by --seed")
    parser.add_argument(
        "--own",
        action="store_true",
        help="only the cases of each fault's own clause: whether it is still caught, quickly",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default: 1)")
    parser.add_argument("--list", action="store_true", help="list the faults and stop")
    selfcheck_coverage.configure(parser)
    selfcheck_mutants.configure(parser)
    selfcheck_gpu.configure(parser)
    selfcheck_verdicts.configure(parser)


def run(args: argparse.Namespace) -> int:
    """Examine; 1 if a fault escaped or blurred more than three other clauses."""
    from sessrun.adapters.process.host import spawn
    from sessrun.conformance.selfcheck import faults as selfcheck

    if args.jobs < 1:
        raise UserError("--jobs must be at least 1")
    if args.coverage:
        return selfcheck_coverage.run(args)
    if args.mutants is not None:
        return selfcheck_mutants.run(args)
    if args.gpu_mistakes:
        return selfcheck_gpu.run(args)
    if args.verdicts is not None:
        return selfcheck_verdicts.run(args)
    chosen = _chosen(args)
    if args.list:
        for fault in chosen:
            print(f"{fault.clause:15} {fault.name:45} {fault.summary}")
        return 0
    if args.base != "reference":
        spawn(args.base).shutdown()  # or every fault would say that it does not start
    bad = cases = 0
    print(f"{'':9}{'breaks':14} {'fault':46} {'caught by':46} {'others':7} seconds")
    reports = selfcheck.examine_all(chosen, _cases_of(args), args.base, args.jobs)
    for number, report in enumerate(reports, 1):
        bad += not report.good
        cases += report.cases
        print(f"{f'{number}/{len(chosen)}':9}{_line(report)}")
        sys.stdout.flush()
    print(f"{len(chosen) - bad} of {len(chosen)} faults caught and pointed at; {cases} cases ran")
    return 1 if bad else 0


def _chosen(args: argparse.Namespace) -> Sequence[Fault]:
    from sessrun.conformance.faulty.framework import load_all
    from sessrun.conformance.selfcheck import faults as selfcheck
    from sessrun.spec.loader import load_clauses, load_profiles

    faults = load_all()
    unknown = [name for name in args.faults if name not in faults]
    if unknown:
        raise UserError(f"no fault is called {unknown[0]!r}; --list lists them")
    if args.profile is not None and args.profile not in load_profiles():
        raise UserError(
            f"no profile is called {args.profile!r}; there are {', '.join(load_profiles())}"
        )
    chosen = [faults[name] for name in args.faults] or list(faults.values())
    if args.profile is not None and not args.faults:
        known = load_clauses()
        clauses = {id_ for id_, clause in known.items() if clause.profile == args.profile}
        chosen = [fault for fault in chosen if fault.clause in clauses]
    if args.slice is not None:
        if args.slice < 1:
            raise UserError("--slice must be at least 1")
        chosen = selfcheck.draw(chosen, args.slice, args.seed)
    return chosen


def _cases_of(args: argparse.Namespace) -> Callable[[Fault], Sequence[Case]]:
    from sessrun.conformance.plan import build_plan
    from sessrun.conformance.selfcheck import faults as selfcheck
    from sessrun.spec.loader import load_clauses

    @functools.cache
    def plan(profile: str) -> Sequence[Case]:
        return build_plan(profile, generated=args.generated).cases

    def cases_of(fault: Fault) -> Sequence[Case]:
        clause = load_clauses().get(fault.clause)
        cases = plan(args.profile or (clause.profile if clause else "core"))
        return selfcheck.of_its_own(fault, cases) if args.own else cases

    return cases_of


def _line(report: FaultReport) -> str:
    mark = f"  <-- {report.complaint}" if report.complaint else ""
    if report.skipped:
        mark += "  (skipped on this machine)"
    return (
        f"{report.fault.clause:14} {report.fault.name:46} {report.caught_by or '-':46} "
        f"{len(report.others):<7} {report.seconds:6.1f}{mark}"
    )
