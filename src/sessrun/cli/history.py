"""Keep benchmark runs by commit and machine in a file, and say where speed changed."""

from __future__ import annotations

import argparse
from pathlib import Path

from sessrun.cli.failure import UserError

SUMMARY = "keep benchmark runs in a file, find where speed changed"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("file", type=Path, help="the history, JSON Lines; --add makes it")
    parser.add_argument("--add", type=Path, metavar="BENCH", help="add this bench.json first")
    parser.add_argument("--commit", help="with --add: what was measured; git's HEAD by default")
    parser.add_argument("--output", type=Path, default=Path("out/history"), help="a folder")


def run(args: argparse.Namespace) -> int:
    """Add a run if one is given, print all changes; 1 if the last change of one made it slower."""
    from rich.console import Console

    from sessrun.reports.bench_terminal import print_changes
    from sessrun.reports.comparison import read_bench
    from sessrun.reports.history import append, changes, entry_of, read_history, series_of
    from sessrun.reports.history_html import history_html
    from sessrun.spec.writing import write_text

    if args.commit and not args.add:
        raise UserError("--commit is for --add")
    if args.add:
        append(args.file, entry_of(read_bench(args.add), args.commit or _head()))
    series = series_of(read_history(args.file))
    changed = [(one, changes(one, len(series))) for one in series]
    args.output.mkdir(parents=True, exist_ok=True)
    page = args.output / "history.html"
    write_text(page, history_html(args.file, changed))
    print_changes(changed, Console())
    print(page)
    return 1 if any(several and several[-1].ratio > 1 for _, several in changed) else 0


def _head() -> str:
    """The commit of the repository here.

    Raises:
      UserError: there is none.

    """
    from sessrun.adapters.errors import AdapterError
    from sessrun.conformance.benchmarks.trees import git

    try:
        return git(Path.cwd(), "rev-parse", "HEAD")[:12]
    except AdapterError as error:
        raise UserError(f"{error}: name the commit with --commit") from error
