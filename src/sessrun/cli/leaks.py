"""Follow the resident memory of loops of many steps, and say whether it grows."""

from __future__ import annotations

import argparse
import datetime
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sessrun.cli.failure import UserError
from sessrun.cli.measured_backends import check_backends

if TYPE_CHECKING:
    from rich.console import Console

SUMMARY = "follow the memory of long loops: FLAT or GROWS"
#: How many times the steps that were asked for are made at most, until a verdict is known.
_MOST: Final = 4


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("backends", nargs="+", help="adapters with a namespace")
    parser.add_argument("--loop", action="append", default=[], help="only this loop; repeatable")
    parser.add_argument(
        "--steps", type=int, default=10_000, help="of each loop; up to four times as many if needed"
    )
    parser.add_argument("--device", default="", help="where graphs are placed, such as /cpu:0")
    parser.add_argument("--output", type=Path, default=Path("out/leaks"), help="a folder")


def run(args: argparse.Namespace) -> int:
    """Follow each loop on each backend; 1 if the memory of one grows or a result is wrong."""
    from rich.console import Console

    from sessrun.reports.leak_verdicts import trend_of
    from sessrun.reports.leaks_view import leaks_html, print_leaks, read_leaks
    from sessrun.spec.writing import write_text

    loops = _loops(args)
    form = _measured(args, loops, Console(stderr=True))
    args.output.mkdir(parents=True, exist_ok=True)
    path, page = args.output / "leaks.json", args.output / "leaks.html"
    write_text(path, json.dumps(form) + "\n")
    measured = read_leaks(path)
    write_text(page, leaks_html(measured))
    print_leaks(measured, Console())
    print(f"{path}\n{page}")
    verdicts = [trend_of(course).verdict for course in measured["courses"]]
    wrong = not all(course["correct"] for course in measured["courses"])
    return 1 if wrong or "GROWS" in verdicts else 0


def _loops(args: argparse.Namespace) -> list[str]:
    """The names of the loops to follow.

    Raises:
      UserError: arguments that mean nothing.

    """
    from sessrun.conformance.benchmarks.leaks import FEWEST_STEPS
    from sessrun.conformance.benchmarks.loops import LOOPS

    if args.steps < FEWEST_STEPS:
        raise UserError(f"--steps must be at least {FEWEST_STEPS}")
    for name in args.loop:
        if name not in LOOPS:
            raise UserError(f"no loop is called {name!r}; there are {', '.join(LOOPS)}")
    check_backends(args.backends, args.device)
    return list(dict.fromkeys(args.loop)) or list(LOOPS)


def _measured(args: argparse.Namespace, loops: Sequence[str], console: Console) -> dict[str, Any]:
    """The run, with a bar that shows how far it is."""
    from rich.progress import Progress, TaskID

    from sessrun import __version__
    from sessrun.conformance.benchmarks.leaks import follow
    from sessrun.conformance.benchmarks.loops import LOOPS
    from sessrun.conformance.benchmarks.processes import Side
    from sessrun.conformance.facts import environment
    from sessrun.reports.leak_verdicts import is_decided

    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    courses = []

    def shown(task: TaskID) -> Callable[[int, int], None]:
        return lambda done, total: bar.update(task, completed=done, total=total)

    with Progress(transient=True, console=console, disable=not console.is_terminal) as bar:
        for loop in loops:
            for backend in args.backends:
                task = bar.add_task(f"{loop}, {backend}", total=args.steps)
                course = follow(
                    Side(backend, backend),
                    loop,
                    is_decided,
                    steps=args.steps,
                    most=_MOST * args.steps,
                    device=args.device,
                    progress=shown(task),
                )
                courses.append(course.to_json() | {"about": LOOPS[loop].summary})
    return {
        "leaks": 1,
        "sessrun": __version__,
        "started": started,
        "fingerprint": environment(),
        "courses": courses,
    }
