"""Measure costs at growing sizes, and fit how they grow: LINEAR or SUPERLINEAR."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sessrun.cli.failure import UserError
from sessrun.cli.measured_backends import check_backends

if TYPE_CHECKING:
    from rich.console import Console

    from sessrun.conformance.benchmarks.costs import Cost

SUMMARY = "measure costs at growing sizes: LINEAR or SUPERLINEAR"
#: The largest size that may be asked for, and the fewest sizes that can be fitted.
_LARGEST: Final = 2**28
_FEWEST: Final = 3


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("backends", nargs="+", help="adapters with a namespace")
    parser.add_argument("--cost", action="append", default=[], help="only this cost; repeatable")
    parser.add_argument(
        "--sizes", type=int, nargs="+", metavar="N", help="in place of each cost's own sizes"
    )
    parser.add_argument(
        "--processes", type=int, default=3, help="of each backend; the least time of all counts"
    )
    parser.add_argument(
        "--budget", type=float, default=60.0, help="seconds for a cost in a process, about"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the order of the costs")
    parser.add_argument("--device", default="", help="where graphs are placed, such as /cpu:0")
    parser.add_argument("--output", type=Path, default=Path("out/growth"), help="a folder")


def run(args: argparse.Namespace) -> int:
    """Measure; 1 if a cost grows faster than it should, or a result is wrong."""
    from rich.console import Console

    from sessrun.reports.growth_fit import exponent_of
    from sessrun.reports.growth_view import growth_html, print_growth, read_growth
    from sessrun.spec.writing import write_text

    form = _measured(args, _costs(args), Console(stderr=True))
    args.output.mkdir(parents=True, exist_ok=True)
    path, page = args.output / "growth.json", args.output / "growth.html"
    write_text(path, json.dumps(form) + "\n")
    measured = read_growth(path)
    write_text(page, growth_html(measured))
    print_growth(measured, Console())
    print(f"{path}\n{page}")
    verdicts = {exponent_of(entry).verdict for entry in measured["costs"]}
    wrong = not all(entry["correct"] for entry in measured["costs"])
    return 1 if wrong or verdicts & {"SUPERLINEAR", "GROWS"} else 0


def _costs(args: argparse.Namespace) -> list[Cost]:
    """The costs to measure, with their sizes.

    Raises:
      UserError: arguments that mean nothing.

    """
    from sessrun.conformance.benchmarks.graph_costs import COSTS

    for name in args.cost:
        if name not in COSTS:
            raise UserError(f"no cost is called {name!r}; there are {', '.join(COSTS)}")
    sizes = tuple(args.sizes or ())
    if args.sizes is not None:
        if not all(0 < size <= _LARGEST for size in sizes):
            raise UserError(f"--sizes must be from 1 to {_LARGEST:,}")
        if sizes != tuple(sorted(set(sizes))) or len(sizes) < _FEWEST:
            raise UserError(f"--sizes must ascend, and be {_FEWEST} at least")
    if args.processes < 1:
        raise UserError("--processes must be at least 1")
    if not 0 < args.budget < math.inf:
        raise UserError("--budget must be more than 0 seconds, and finite")
    check_backends(args.backends, args.device)
    costs = [COSTS[name] for name in dict.fromkeys(args.cost)] or list(COSTS.values())
    return [dataclasses.replace(cost, sizes=sizes or cost.sizes) for cost in costs]


def _measured(args: argparse.Namespace, costs: Sequence[Cost], console: Console) -> dict[str, Any]:
    """The run, with a bar that shows how far it is.

    Raises:
      UserError: no cost could be measured.

    """
    from rich.progress import Progress

    from sessrun import __version__
    from sessrun.conformance.benchmarks.growth import measure_growth
    from sessrun.conformance.benchmarks.processes import Side
    from sessrun.conformance.facts import environment

    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    with Progress(transient=True, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("costs", total=None)
        grown, versions, left_out = measure_growth(
            [Side(name, name) for name in args.backends],
            costs,
            processes=args.processes,
            budget=args.budget,
            seed=args.seed,
            device=args.device,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    if not grown:
        raise UserError(f"no cost can be measured: {left_out[0]['case']}: {left_out[0]['reason']}")
    form = {
        "growth": 1,
        "sessrun": __version__,
        "started": started,
        "fingerprint": environment() | {"device": args.device or "default", "backends": versions},
        "seed": args.seed,
        "processes": args.processes,
        "costs": [entry.to_json() for entry in grown],
    }
    return form | ({"left_out": left_out} if left_out else {})
