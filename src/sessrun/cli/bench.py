"""Time jobs on several backends, interleaved in one run, checking what is timed."""

from __future__ import annotations

import argparse
import json
import math
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sessrun.cli.failure import UserError
from sessrun.cli.measured_backends import check_backends

if TYPE_CHECKING:
    from rich.console import Console

    from sessrun.conformance.benchmarks.blocks import Blocks
    from sessrun.conformance.benchmarks.jobs import Job
    from sessrun.conformance.benchmarks.processes import Side

SUMMARY = "time backends side by side in one interleaved run"
#: Rounds of a block that is one of many: as many as take about as long as the processes' start.
BLOCK_ROUNDS: Final = 50
#: Samples per job and backend, and the processes that share them, where nothing is decided.
ROUNDS: Final = 40
PROCESSES: Final = 4


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("backends", nargs="+", help="adapters with a namespace; peers: torch, jax")
    parser.add_argument("--job", action="append", default=[], help="only this job; repeatable")
    parser.add_argument("--rounds", type=int, help=f"samples per job and backend ({ROUNDS})")
    parser.add_argument(
        "--processes",
        type=int,
        help=f"processes of each backend that share the rounds ({PROCESSES})",
    )
    parser.add_argument(
        "--decide",
        action="store_true",
        help="measure two backends until each job is FASTER, SLOWER or SAME",
    )
    parser.add_argument(
        "--against",
        metavar="REV",
        help="decide whether the backend is slower than at this revision of the repository here",
    )
    parser.add_argument(
        "--build", default="", help="with --against: run in both trees, $SITE is imported first"
    )
    parser.add_argument(
        "--budget", type=float, default=60.0, help="with --decide, --against: seconds for each job"
    )
    parser.add_argument(
        "--no-memory", action="store_true", help="leave out the memory of each job (times alone)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the order in each round")
    parser.add_argument("--device", default="", help="where graphs are placed, such as /gpu:0")
    parser.add_argument("--output", type=Path, default=Path("out/bench"), help="a folder")
    parser.add_argument(
        "--pytest-benchmark", type=Path, metavar="FILE", help="write pytest-benchmark's JSON too"
    )


def run(args: argparse.Namespace) -> int:
    """Measure; 1 if a backend computed something wrong, or was to be decided and is SLOWER.

    An interrupted run keeps the blocks that came to their end, and ends with 130.
    """
    from rich.console import Console

    from sessrun.conformance.benchmarks.selection import select
    from sessrun.reports.bench_html import bench_html
    from sessrun.reports.bench_terminal import print_bench, print_comparison
    from sessrun.reports.comparison import compare_backends, read_bench
    from sessrun.reports.pytest_benchmark import to_pytest_benchmark
    from sessrun.spec.writing import write_text

    _check(args)
    try:
        jobs = select(args.job)
    except ValueError as error:
        raise UserError(str(error)) from error
    args.output.mkdir(parents=True, exist_ok=True)
    with _ended_like_interrupted(), _sides(args) as sides:
        form, interrupted = _measured(args, sides, jobs, Console(stderr=True))
    path, page = args.output / "bench.json", args.output / "bench.html"
    write_text(path, json.dumps(form, indent=1) + "\n")
    measured = read_bench(path)
    comparisons = []
    if _decides(args):
        comparisons.append(compare_backends(measured, *(side.name for side in sides)))
        form = comparisons[0].to_json()
        write_text(args.output / "comparison.json", json.dumps(form, indent=1) + "\n")
    write_text(page, bench_html(measured, comparisons))
    if args.pytest_benchmark:
        form = to_pytest_benchmark(measured)
        write_text(args.pytest_benchmark, json.dumps(form, indent=1) + "\n")
    print_bench(measured, Console())
    for comparison in comparisons:
        print_comparison(comparison, Console())
    print(f"{path}\n{page}")
    if interrupted:
        print("sessrun bench: interrupted; what was measured is kept", file=sys.stderr)
        return 130
    slower = any(row.verdict == "SLOWER" for item in comparisons for row in item.rows)
    return 1 if slower or not all(entry["correct"] for entry in measured["series"]) else 0


def _check(args: argparse.Namespace) -> None:
    """Refuse what does not go together.

    Raises:
      UserError: why.

    """
    for name in ("rounds", "processes"):
        given = getattr(args, name)
        if given is not None and given < 1:
            raise UserError(f"--{name} must be at least 1")
        if given is not None and _decides(args):
            raise UserError(f"--decide and --against measure until they know: leave out --{name}")
    if not 0 < args.budget < math.inf:
        raise UserError("--budget must be more than 0 seconds, and finite")
    check_backends(args.backends, args.device)
    _check_backends(args)


def _check_backends(args: argparse.Namespace) -> None:
    """Refuse backends that are not those which the other options need; UserError says why."""
    if args.against is not None and len(args.backends) != 1:
        raise UserError("--against compares one backend with itself at another revision")
    if args.build and args.against is None:
        raise UserError("--build is for --against")
    if args.decide and args.against is None and len(args.backends) != 2:
        raise UserError("--decide compares two backends: OLD NEW")
    if _decides(args) and _in_this_process(args):
        raise UserError("--decide and --against measure on a CPU; peers and GPUs have rounds")


def _decides(args: argparse.Namespace) -> bool:
    return args.decide or args.against is not None


def _in_this_process(args: argparse.Namespace) -> bool:
    """Whether all is measured in this process: a GPU has its events, and peers no adapter."""
    from sessrun.adapters.peer import PEERS
    from sessrun.conformance.facts import gpus
    from sessrun.spec import devices

    if devices.parse(args.device).kind == "GPU" or any(name in PEERS for name in args.backends):
        return True
    simulated = any("simulated-gpu" in name for name in args.backends)
    return not args.device and (simulated or bool(gpus()))


@contextmanager
def _ended_like_interrupted() -> Iterator[None]:
    """What is asked to end (SIGTERM, as a CI does) ends its processes and removes its trees."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _sides(args: argparse.Namespace) -> Iterator[tuple[Side, ...]]:
    """The sides that are measured in processes of their own."""
    from sessrun.conformance.benchmarks.processes import Side
    from sessrun.conformance.benchmarks.trees import sides_of_trees

    if args.against is not None:
        with sides_of_trees(args.backends[0], args.against, args.build) as sides:
            yield sides
    else:
        yield tuple(Side(name, name) for name in args.backends)


def _measured(
    args: argparse.Namespace, sides: tuple[Side, ...], jobs: tuple[Job, ...], console: Console
) -> tuple[dict[str, Any], bool]:
    """The run, with a bar that shows how far it is, and whether it was interrupted."""
    from rich.progress import Progress

    from sessrun.conformance.benchmarks import deciding
    from sessrun.conformance.benchmarks.job_memory import measure_memory
    from sessrun.conformance.benchmarks.measure import measure
    from sessrun.conformance.benchmarks.side_by_side import measure_in_processes

    rounds = args.rounds or ROUNDS
    with Progress(transient=True, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("rounds", total=rounds)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        if _in_this_process(args):
            form = measure(
                args.backends,
                jobs,
                rounds=rounds,
                seed=args.seed,
                device=args.device,
                progress=show,
            )
            return form, False

        def decided(block: int, done: int, total: int) -> None:
            bar.update(task, description=f"block {block}, decided", completed=done, total=total)

        count = min(args.processes or PROCESSES, rounds)
        interrupted = False

        def measured(blocks: Blocks) -> None:
            nonlocal interrupted
            try:
                if _decides(args):
                    deciding.until_decided(blocks, known, budget=args.budget, progress=decided)
                else:
                    deciding.measured_in_blocks(blocks, count, show)
                    if not args.no_memory:
                        bar.update(task, description="memory of jobs")
                        measure_memory(blocks, args.seed, show)
            except KeyboardInterrupt:
                if not any(batches.blocks for batches in blocks.batches.values()):
                    raise
                interrupted = True

        form = measure_in_processes(
            sides,
            jobs,
            measured,
            rounds=BLOCK_ROUNDS if _decides(args) else -(-rounds // count),
            seed=args.seed,
            device=args.device,
        )
        return form, interrupted


def known(old: Mapping[str, Any], new: Mapping[str, Any], rounds: int, jobs: int) -> bool:
    """Whether a job's blocks are enough for a verdict, or more would not help."""
    from sessrun.reports.block_verdicts import MOST, decide_series

    return old["blocks"] >= MOST or decide_series(old, new, rounds, jobs).verdict != "UNDECIDED"
