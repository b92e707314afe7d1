"""Compare two benchmark files, or two backends of one: FASTER, SLOWER, SAME or UNDECIDED."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from sessrun.cli.failure import UserError

SUMMARY = "compare two benchmark runs, with effect size and interval"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("old", help="the old bench.json; with --in, the old backend's name")
    parser.add_argument("new", help="the new bench.json; with --in, the new backend's name")
    parser.add_argument("--in", dest="inside", type=Path, help="compare two backends of this file")
    parser.add_argument("--seed", type=int, default=0, help="of the bootstrap")
    parser.add_argument("--output", type=Path, default=Path("out/compare"), help="a folder")


def run(args: argparse.Namespace) -> int:
    """Compare; 1 if anything is SLOWER."""
    from rich.console import Console

    from sessrun.reports import comparison
    from sessrun.reports.bench_html import comparison_html
    from sessrun.reports.bench_terminal import print_comparison
    from sessrun.spec.writing import write_text

    if args.seed < 0:
        raise UserError("--seed is not negative")
    if args.inside is not None:
        run_ = comparison.read_bench(args.inside)
        known = sorted({series["backend"] for series in run_["series"]})
        for name in (args.old, args.new):
            if name not in known:
                raise UserError(f"{args.inside} has no backend {name!r}; it has {', '.join(known)}")
        result = comparison.compare_backends(run_, args.old, args.new, seed=args.seed)
        old = new = run_
    else:
        old, new = (comparison.read_bench(Path(path)) for path in (args.old, args.new))
        names = (str(args.old), str(args.new))
        result = comparison.compare(old, new, names=names, seed=args.seed)
    args.output.mkdir(parents=True, exist_ok=True)
    form = json.dumps(result.to_json(), indent=1)
    write_text(args.output / "comparison.json", form + "\n")
    page = comparison_html(result, old, new)
    write_text(args.output / "comparison.html", page)
    print_comparison(result, Console())
    print(f"{args.output / 'comparison.json'}\n{args.output / 'comparison.html'}")
    return 1 if any(row.verdict == "SLOWER" for row in result.rows) else 0
