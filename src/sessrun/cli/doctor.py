"""Ask an adapter some thirty questions in ten seconds: what works, what is wrong, what to do.

The exit status is 0 if nothing is wrong, 1 if something is, 2 if the backend does not start.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from sessrun.cli.simulated_gpu import add_simulated_gpu, with_simulated_gpu

if TYPE_CHECKING:
    from rich.console import Console

    from sessrun.conformance.doctor import Answer
    from sessrun.conformance.doctor.question import Verdict

SUMMARY = "ask an adapter that is being written what works, and what to do about the rest"

_COLOURS: Final[Mapping[Verdict, str]] = {
    "ok": "green",
    "wrong": "bold red",
    "not offered": "yellow",
    "not asked": "dim",
}
#: How many characters of an observation are printed.
_SEEN: Final = 400
#: How wide a verdict and a question's name are shown.
_VERDICT: Final = 11
_NAME: Final = 17


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("backend", help="as for certify")
    add_simulated_gpu(parser)
    parser.add_argument(
        "--deadline", type=float, default=5.0, metavar="SECONDS", help="of a call (default: 5)"
    )
    parser.add_argument("--json", action="store_true", help="print the answers as JSON, at the end")


def run(args: argparse.Namespace) -> int:
    """Ask; 0 if nothing is wrong, 1 if something is."""
    from rich.console import Console

    from sessrun.cli.failure import UserError
    from sessrun.conformance.doctor import examine

    if not args.deadline > 0:
        raise UserError("--deadline is a number of seconds above 0")
    backend = with_simulated_gpu(args.backend, args.simulated_gpu)
    console = Console(highlight=False)
    examination = examine(
        backend, args.deadline, None if args.json else lambda answer: _print(console, answer)
    )
    if args.json:
        print(json.dumps(examination.to_json(), indent=1))
    else:
        counts = Counter(answer.verdict for answer in examination.answers)
        summary = ", ".join(f"{counts[name]} {name}" for name in _COLOURS if counts[name])
        seconds = sum(answer.seconds for answer in examination.answers)
        console.print(f"\n{len(examination.answers)} questions in {seconds:.1f} s: {summary}")
    return 1 if examination.wrong else 0


def _print(console: Console, answer: Answer) -> None:
    """A line of an answer; below it what was seen, and what to do, where it is not good."""
    from rich.text import Text

    from sessrun.reports.printable import shortened

    good = answer.verdict == "ok"
    seen = shortened(" ".join(answer.detail.split()), _SEEN)
    line = Text.assemble(
        (f"{answer.verdict:{_VERDICT}} ", _COLOURS[answer.verdict]),
        f"{answer.name:{_NAME}} {answer.asks}",
        (f" {seen}" if good and seen else "", "dim"),
    )
    console.print(line, soft_wrap=True)
    if good:
        return
    advice = answer.advice and f"{answer.advice} [{answer.section}]"
    for text in filter(None, (seen, advice)):
        console.print(Text(f"{'':{_VERDICT + 1}}{text}"), soft_wrap=True)
