"""`sessrun selfcheck --gpu-mistakes`: mistakes that only a GPU shows, on simulated GPUs."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from sessrun.cli.failure import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessrun.conformance.selfcheck.gpu_mistakes.mistakes import Mistake
    from sessrun.conformance.selfcheck.gpu_mistakes.signs import Sign


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of mistakes that only a GPU shows."""
    parser.add_argument_group("mistakes that only a GPU shows").add_argument(
        "--gpu-mistakes",
        action="store_true",
        help="plant them in the reference (all, those named or a --slice): do simulated GPUs show "
        "them?",
    )


def run(args: argparse.Namespace) -> int:
    """Plant each and print how it shows; 1 if one does not, or if anything shows without one."""
    from sessrun.conformance.selfcheck.gpu_mistakes.planted import examine

    chosen = _chosen(args)
    if args.list:
        for mistake in chosen:
            print(f"{mistake.name:42} {mistake.shown_by:10} {mistake.kind}")
        return 0
    unplanted = examine(None, list(dict.fromkeys(mistake.session for mistake in chosen)))
    bad = 0
    for session, signs in unplanted.items():
        for kind, text in signs:
            bad += 1
            print(f"<-- {session} without a mistake: {kind}: {text}")
    with ThreadPoolExecutor(args.jobs) as pool:
        for number, (line, is_bad) in enumerate(pool.map(_examined, chosen), 1):
            bad += is_bad
            print(f"{f'{number}/{len(chosen)}':9}{line}")
            sys.stdout.flush()
    print(f"{len(chosen)} mistakes planted; {bad or 'no'} complaint{'' if bad == 1 else 's'}")
    return 1 if bad else 0


def _chosen(args: argparse.Namespace) -> Sequence[Mistake]:
    from sessrun.conformance.selfcheck.faults import draw
    from sessrun.conformance.selfcheck.gpu_mistakes.mistakes import load_mistakes

    mistakes = load_mistakes()
    unknown = [name for name in args.faults if name not in mistakes]
    if unknown:
        raise UserError(f"no mistake is called {unknown[0]!r}; --gpu-mistakes --list lists them")
    chosen = [mistakes[name] for name in args.faults] or list(mistakes.values())
    if args.slice is not None:
        if args.slice < 1:
            raise UserError("--slice must be at least 1")
        chosen = draw(chosen, args.slice, args.seed)
    return chosen


def _examined(mistake: Mistake) -> tuple[str, bool]:
    """How a mistake shows, in a line, and whether that is not as it should."""
    from sessrun.conformance.selfcheck.gpu_mistakes.mistakes import StaleMistakeError
    from sessrun.conformance.selfcheck.gpu_mistakes.planted import complaint, examine

    signs: Sequence[Sign] = ()
    try:
        signs = examine(mistake, [mistake.session])[mistake.session]
        wrong = complaint(mistake, signs)
    except (RuntimeError, StaleMistakeError) as error:
        wrong = str(error)
    first = next((text for kind, text in signs if kind == mistake.shown_by), "")
    shown = f"{mistake.shown_by}: {first}" if first else ""
    return f"{mistake.name:42} {shown}{f'  <-- {wrong}' if wrong else ''}", bool(wrong)
