"""Time jobs on several backends, interleaved in one run, checking what is timed."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from sessrun.cli.failure import UserError

SUMMARY = "time backends side by side in one interleaved run"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("backends", nargs="+", help="adapters with a namespace; peers: torch, jax")
    parser.add_argument("--job", action="append", default=[], help="only this job; repeatable")
    parser.add_argument("--rounds", type=int, default=40, help="samples per job and backend")
    parser.add_argument("--seed", type=int, default=1, help="of the order in each round")
    parser.add_argument("--device", default="", help="where graphs are placed, such as /gpu:0")
    parser.add_argument("--output", type=Path, default=Path("out/bench"), help="a folder")


def run(args: argparse.Namespace) -> int:
    """Measure; 1 if a backend computed something wrong."""
    from rich.console import Console
    from rich.progress import Progress

    from sessrun.conformance.benchmarks.measure import measure
    from sessrun.conformance.benchmarks.selection import select
    from sessrun.reports.bench_html import bench_html
    from sessrun.reports.bench_terminal import print_bench
    from sessrun.reports.comparison import read_bench
    from sessrun.spec import devices
    from sessrun.spec.writing import write_text

    try:
        jobs = select(args.job)
    except ValueError as error:
        raise UserError(str(error)) from error
    if args.rounds < 1:
        raise UserError("--rounds must be at least 1")
    try:
        devices.parse(args.device)
    except devices.DeviceNameError as error:
        raise UserError(f"--device: {error}") from error
    args.output.mkdir(parents=True, exist_ok=True)
    console = Console(stderr=True)
    with Progress(transient=True, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("rounds", total=args.rounds)
        form = measure(
            args.backends,
            jobs,
            rounds=args.rounds,
            seed=args.seed,
            device=args.device,
            progress=lambda done, _: bar.update(task, completed=done),
        )
    path = args.output / "bench.json"
    write_text(path, json.dumps(form, indent=1) + "\n")
    measured = read_bench(path)
    write_text(args.output / "bench.html", bench_html(measured))
    print_bench(measured, Console())
    print(f"{path}\n{args.output / 'bench.html'}")
    return 0 if all(series["correct"] for series in form["series"]) else 1
