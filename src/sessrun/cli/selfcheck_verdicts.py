"""`sessrun selfcheck --verdicts`: how often `bench --decide` is right, simulated and planted."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sessrun.cli.failure import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessrun.reports.comparison import Comparison
    from sessrun.reports.verdict_rates import Rate

#: What is measured: jobs whose runs take 4 µs to 0.4 ms, so that the share planted in a run is that
#: of a call, and whose checks are quick. Each is a comparison.
_JOBS: Final = (
    "fetch-list-100",
    "fetch-list-300",
    "fetch-list-1000",
    "fetch-dict-100",
    "fetch-dict-300",
    "chain-fed-300",
    "chain-fed-1000",
    "variables-100",
    "matmul-256",
    "queue-256",
)
_SLOWED: Final = "sessrun.adapters.fakes.slowed:backend"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of error rates."""
    group = parser.add_argument_group("error rates of benchmark verdicts")
    group.add_argument(
        "--verdicts",
        type=int,
        metavar="N",
        help="simulate N comparisons of each kind (0: none), then measure planted slowdowns",
    )
    group.add_argument(
        "--planted",
        type=float,
        action="append",
        default=[],
        metavar="PERCENT",
        help="a run of ten jobs with this slowdown planted; repeatable",
    )
    group.add_argument("--budget", type=float, default=60.0, help="seconds for each job planted")
    group.add_argument("--verdicts-output", type=Path, default=Path("out/verdicts"))


def run(args: argparse.Namespace) -> int:
    """Simulate and plant; 1 if more than 1 in 100 comparisons of equal code tell a difference."""
    from rich.console import Console

    from sessrun.reports.verdict_rates import planted_rates, simulated_rates
    from sessrun.spec.writing import write_text

    if args.verdicts < 0 or any(percent < 0 for percent in args.planted):
        raise UserError("--verdicts and --planted are not negative")
    console = Console()
    args.verdicts_output.mkdir(parents=True, exist_ok=True)
    simulated = []
    for rate in simulated_rates(args.verdicts, args.seed) if args.verdicts else ():
        simulated.append(rate)
        console.print(_line(rate))
    planted: dict[float, list[Comparison]] = {}
    for number, percent in enumerate(args.planted):
        run_ = _planted(percent, args, args.seed + number)
        planted.setdefault(percent / 100, []).append(run_)
        console.print(f"planted {percent:g} %: {run_.counts}")
    rates = planted_rates(planted)
    for rate in rates:
        console.print(_line(rate))
    form = {
        "seed": args.seed,
        "jobs": list(_JOBS),
        "budget": args.budget,
        "simulated": [rate.to_json() for rate in simulated],
        "planted": [rate.to_json() for rate in rates],
    }
    path = args.verdicts_output / "verdicts.json"
    write_text(path, json.dumps(form, indent=1) + "\n")
    print(path)
    return 1 if _too_often([*simulated, *rates]) else 0


def _planted(percent: float, args: argparse.Namespace, seed: int) -> Comparison:
    """One run of the jobs on the reference and on the slowed one, until decided."""
    from sessrun.cli.bench import BLOCK_ROUNDS, known
    from sessrun.conformance.benchmarks.deciding import until_decided
    from sessrun.conformance.benchmarks.processes import Side
    from sessrun.conformance.benchmarks.selection import select
    from sessrun.conformance.benchmarks.side_by_side import measure_in_processes
    from sessrun.reports.comparison import compare_backends

    sides = Side("old", f"{_SLOWED}#0"), Side("new", f"{_SLOWED}#{percent:g}")
    form = measure_in_processes(
        sides,
        select(_JOBS),
        lambda blocks: until_decided(blocks, known, budget=args.budget),
        rounds=BLOCK_ROUNDS,
        seed=seed,
    )
    return compare_backends(form, "old", "new")


def _too_often(rates: Sequence[Rate]) -> bool:
    equal = [rate for rate in rates if not rate.slowdown]
    count = sum(sum(rate.verdicts.values()) for rate in equal)
    return sum(rate.wrong for rate in equal) > 0.01 * count


def _line(rate: Rate) -> str:
    what = "planted" if rate.noise is None else f"simulated, noise {rate.noise:.0%}"
    verdicts = ", ".join(f"{count} {kind}" for kind, count in sorted(rate.verdicts.items()))
    return f"{what}, {rate.slowdown:.0%} slower: {verdicts}"
