"""`sessrun selfcheck --mutants N`: small changes in the reference's source, and who survives."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sessrun.cli.failure import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessrun.conformance.selfcheck.mutation.campaign import Entries, Outcome
    from sessrun.conformance.selfcheck.mutation.functions import SourceFunction


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of mutants."""
    group = parser.add_argument_group("mutants")
    group.add_argument(
        "--mutants",
        type=int,
        metavar="N",
        help="change the source of the reference in N places, drawn by --seed: who survives",
    )
    group.add_argument(
        "--in",
        dest="package",
        metavar="PACKAGE",
        help="only functions below this folder of the reference, such as `kernels`",
    )
    group.add_argument(
        "--entries",
        type=Path,
        default=Path("out/entries.jsonl"),
        metavar="FILE",
        help="which functions the cases enter: recorded if it is not there (default: %(default)s)",
    )
    group.add_argument(
        "--results",
        type=Path,
        metavar="FILE",
        help="write every mutant as a line of JSON; those that are there are not examined again",
    )
    group.add_argument(
        "--summary", type=Path, metavar="FILE", help="write the shares and the survivors as JSON"
    )


def run(args: argparse.Namespace) -> int:
    """Examine the mutants, print the survivors and the shares; always 0: survivors are news."""
    from sessrun.conformance.selfcheck.mutation import campaign
    from sessrun.conformance.selfcheck.mutation.equivalents import load_equivalents
    from sessrun.conformance.selfcheck.mutation.results import Results
    from sessrun.conformance.selfcheck.mutation.sites import MissingLibraryError
    from sessrun.conformance.selfcheck.mutation.summary import summary

    if args.mutants < 1:
        raise UserError("--mutants takes a number of mutants, at least 1")
    functions, equivalents = _functions(args.package), load_equivalents()
    outcomes: list[Outcome] = []
    try:
        left = mutants = list(campaign.draw_mutants(functions, args.mutants, args.seed))
        entries, cases = _entries(args)
        results = Results(args.results, cases) if args.results is not None else None
        if results is not None:
            outcomes, left = results.split(mutants, equivalents)
        asked = campaign.examine_mutants(
            left, entries, equivalents, _SEED, args.generated, args.jobs
        )
        for outcome in asked:
            outcomes.append(outcome)
            if results is not None:
                results.add(outcome)
            if not outcome.killed:
                _print_survivor(outcome)
            if len(outcomes) % 50 == 0:
                killed = sum(o.killed for o in outcomes)
                progress = f"{len(outcomes)} of {len(mutants)}: {killed} killed"
                print(progress, file=sys.stderr, flush=True)
    except (MissingLibraryError, campaign.CampaignError) as error:
        raise UserError(str(error)) from error
    counts = summary(outcomes)
    print(_shares(counts))
    if args.summary is not None:
        drawn = {"mutants": args.mutants, "seed": args.seed, "generated": args.generated}
        args.summary.write_text(json.dumps(drawn | counts, indent=1) + "\n", encoding="utf-8")
    return 0


#: The seed of the cases; --seed is that of the mutants.
_SEED: Final = 2026
#: How many letters of a line of a program are printed; `sessrun replay ID --python` has it all.
_SHOWN: Final = 160


def _functions(package: str | None) -> Sequence[SourceFunction]:
    """The functions of a folder, or all but those that have a reason not to be asked for."""
    from importlib.util import find_spec

    from sessrun.conformance.selfcheck.coverage import load_unasked
    from sessrun.conformance.selfcheck.covered import PACKAGE
    from sessrun.conformance.selfcheck.mutation.functions import functions_of

    spec = find_spec(PACKAGE)
    assert spec is not None and spec.origin is not None  # noqa: PT018 - our own package
    folder = Path(spec.origin).resolve().parent
    if not package:
        unasked = load_unasked()
        return [f for f in functions_of(folder) if not any(entry.has(f) for entry in unasked)]
    chosen = functions_of(folder, f"{package}/")
    if not chosen:
        raise UserError(f"--in: the reference has no folder {package!r} with functions")
    return chosen


def _entries(args: argparse.Namespace) -> tuple[Entries, str]:
    """Which cases enter which functions, and what tells these cases from others."""
    from sessrun.conformance.plan import build_plan
    from sessrun.conformance.selfcheck.mutation.campaign import (
        Entries,
        record_entries,
        subject_of,
    )
    from sessrun.spec.loader import load_clauses

    profiles = (
        [args.profile]
        if args.profile
        else sorted({clause.profile for clause in load_clauses().values()})
    )
    if not args.entries.exists():
        args.entries.parent.mkdir(parents=True, exist_ok=True)
        print("recording which functions each case enters", file=sys.stderr, flush=True)
        record_entries(args.entries, _SEED, args.generated, profiles, args.jobs)
    plans = {name: build_plan(name, _SEED, args.generated) for name in profiles}
    planned = {
        name: {case.id: subject_of(case) for case in plan.cases} for name, plan in plans.items()
    }
    cases = hashlib.sha256("".join(plans[name].hash for name in profiles).encode()).hexdigest()
    return Entries.read(args.entries, planned), cases


def _print_survivor(outcome: Outcome) -> None:
    from sessrun.conformance.plain import python_lines
    from sessrun.conformance.plan import case_of

    mutant = outcome.mutant
    state = f"equivalent: {outcome.equivalent}" if outcome.equivalent else "survives"
    if not outcome.entered_by:
        state = "is entered by no case"
    print(f"\n{mutant.function.id} ({mutant.site.operator}, {mutant.key}) {state}")
    for line in mutant.diff:
        print(f"    {line}")
    if outcome.showing and not outcome.equivalent:
        entered = ", ".join(f"{name} {count}" for name, count in outcome.entered_by.items())
        print(f"    cases that enter it: {entered}; {outcome.ran} ran")
        shows = "gives another answer" if outcome.differs else "enters it, and answers alike"
        print(f"    {outcome.showing} {shows}:")
        for line in python_lines(case_of(outcome.showing)):
            print(f"        {line}" if len(line) <= _SHOWN else f"        {line[:_SHOWN]}...")
    sys.stdout.flush()


def _shares(counts: Mapping[str, Any]) -> str:
    """The summary: all mutants, those of each area, and those of each profile's code."""
    lines = ["", f"{'':28} mutants   killed  equivalent  not entered"]
    for name, share in {"all": counts["all"], **counts["areas"]}.items():
        lines.append(
            f"{name:28} {share['mutants']:7} {share['percent']:7.1f} % {share['equivalent']:10} "
            f"{share['entered_by_no_case']:12}"
        )
    lines.append(f"{'in the code that it enters':28} mutants   killed  by its own cases")
    for name, share in counts["in_the_code_that_a_profile_enters"].items():
        lines.append(
            f"{name:28} {share['mutants']:7} {share['percent']:7.1f} % "
            f"{share['percent_by_its_own_cases']:13.1f} %"
        )
    survivors = Counter(survivor["operator"] for survivor in counts["survivors"])
    lines.append("survivors by operator: " + _counted(survivors))
    return "\n".join(lines)


def _counted(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in Counter(counts).most_common()) or "none"
