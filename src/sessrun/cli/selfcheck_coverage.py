"""`sessrun selfcheck --coverage`: what of the reference the plans of the profiles enter."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sessrun.cli.failure import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessrun.conformance.selfcheck.coverage import Function

#: Threads may meet in one order or another: by so many percent points a share may vary.
_TOLERANCE: Final = 0.3


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of coverage."""
    group = parser.add_argument_group("coverage")
    group.add_argument(
        "--coverage",
        action="store_true",
        help="run the plans on the reference under coverage: which functions they enter",
    )
    group.add_argument("--page", type=Path, metavar="FILE", help="write the page (Markdown)")
    group.add_argument("--json", type=Path, metavar="FILE", help="write every function as JSON")
    group.add_argument(
        "--floor", action="store_true", help="1 if an area is below its floor, for CI"
    )


def run(args: argparse.Namespace) -> int:
    """Measure, print a line for each area, write what was asked for."""
    from sessrun.conformance.selfcheck import coverage
    from sessrun.conformance.selfcheck.coverage_page import coverage_json, coverage_page
    from sessrun.spec.loader import load_profiles
    from sessrun.spec.writing import write_text

    floor = coverage.load_floor() if args.floor else {}
    profiles = [args.profile] if args.profile else _with_cases()
    if args.profile is not None and args.profile not in load_profiles():
        raise UserError(f"no profile is called {args.profile!r}")
    seed, count = floor.get("seed", args.seed), floor.get("count", args.generated)
    try:
        if args.page or args.json:
            functions = coverage.measure(profiles, seed, count, args.jobs, _tell)
        else:  # the printed lines are of all profiles together
            functions = coverage.measure_together(profiles, seed, count, args.jobs, _tell)
    except coverage.CoverageError as error:
        raise UserError(str(error)) from error
    unasked = coverage.load_unasked()
    required = [f for f in functions if not any(entry.has(f) for entry in unasked)]
    shares = {area.name: coverage.share(area.functions) for area in coverage.areas(required)}
    for name, share in shares.items():
        print(
            f"{name:28} {share.entered:6,} of {share.functions:6,} functions entered "
            f"({share.of_functions:5.1f} %)   {share.taken:6,} of {share.branches:6,} branches "
            f"taken ({share.of_branches:5.1f} %)"
        )
    if args.page is not None:
        page = coverage_page(functions, profiles, unasked, seed, count)
        write_text(args.page, page)
    if args.json is not None:
        write_text(args.json, coverage_json(functions))
    below = [
        f"{name}: {what} {seen:.1f} %, the floor is {least} %"
        for name, least_of in floor.get("areas", {}).items()
        for what, seen, least in (
            ("functions entered", shares[name].of_functions, least_of["functions"]),
            ("branches taken", shares[name].of_branches, least_of["branches"]),
        )
        if seen < least - _TOLERANCE
    ]
    for sentence in (*below, *_needless(functions)):
        print(f"<-- {sentence}")
    return 1 if below else 0


def _with_cases() -> list[str]:
    """The profiles that have cases."""
    from sessrun.spec.loader import load_clauses, load_profiles

    used = {clause.profile for clause in load_clauses().values()}
    return [name for name in load_profiles() if name in used]


def _needless(functions: Sequence[Function]) -> list[str]:
    """Reasons that name no function of the reference."""
    from sessrun.conformance.selfcheck import coverage

    return [
        f"unasked.toml: {pattern!r} names no function"
        for entry in coverage.load_unasked()
        for pattern in entry.functions
        if not any(coverage.Unasked("", (pattern,)).has(function) for function in functions)
    ]


def _tell(profile: str) -> None:
    print(f"covered {profile}", file=sys.stderr, flush=True)
