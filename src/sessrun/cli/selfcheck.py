"""Examine the suite: run it on every faulty backend and print which clause caught which."""

from __future__ import annotations

import argparse
import sys

from sessrun.cli.failure import UserError

SUMMARY = "run the suite on the faulty backends it must catch"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("faults", nargs="*", help="names of faults (default: all)")
    parser.add_argument("--profile", default="core", help="the profile whose cases are run")
    parser.add_argument("--base", default="reference", help="the conforming backend underneath")
    parser.add_argument("--generated", type=int, default=5, help="generated cases per property")
    parser.add_argument("--jobs", type=int, default=2, help="faults examined at a time")
    parser.add_argument("--list", action="store_true", help="list the faults and stop")


def run(args: argparse.Namespace) -> int:
    """Examine; 1 if a fault escaped or blurred more than three other clauses."""
    from sessrun.conformance import selfcheck
    from sessrun.conformance.faulty.framework import load_all
    from sessrun.conformance.plan import build_plan

    faults = load_all()
    unknown = [name for name in args.faults if name not in faults]
    if unknown:
        raise UserError(f"no fault is called {unknown[0]!r}; --list lists them")
    chosen = [faults[name] for name in args.faults] or list(faults.values())
    if args.list:
        for fault in chosen:
            print(f"{fault.clause:15} {fault.name:45} {fault.summary}")
        return 0
    cases = build_plan(args.profile, generated=args.generated).cases
    bad = 0
    print(f"{'breaks':14} {'fault':46} {'caught by':46} {'others':7} seconds")
    for report in selfcheck.examine_all(chosen, cases, args.base, args.jobs):
        mark = "" if report.good else "  <-- " + _complaint(report)
        bad += not report.good
        caught = report.caught_by or "-"
        print(
            f"{report.fault.clause:14} {report.fault.name:46} {caught:46} "
            f"{len(report.others):<7} {report.seconds:6.1f}{mark}"
        )
        sys.stdout.flush()
    print(f"{len(chosen) - bad} of {len(chosen)} faults caught and pointed at; {len(cases)} cases")
    return 1 if bad else 0


def _complaint(report: object) -> str:
    caught, others = getattr(report, "caught_by", None), getattr(report, "others", ())
    if caught is None:
        also = f"; fails {', '.join(others[:8])}" if others else ""
        return "not caught by its own clause" + also
    return f"blurs {', '.join(others)}"
