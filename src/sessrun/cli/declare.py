"""Measure which operations and dtypes a backend answers: a first declaration for `inference`.

The backend must not decline by a declaration of its own. What it answers wrongly is declared too,
and noted: a declaration says what is computed, and the profile whether it is right.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

SUMMARY = "measure which operations and dtypes a backend answers"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("backend", help="as for certify")
    parser.add_argument("--output", type=Path, help="a TOML file (default: standard output)")
    parser.add_argument("--count", type=int, default=3, help="cases of each cell (default: 3)")
    parser.add_argument("--seed", type=int, default=1, help="of the cases (default: 1)")


def run(args: argparse.Namespace) -> int:
    """Measure; 0 if anything is answered."""
    from rich.console import Console
    from rich.progress import Progress

    from sessrun.cli.running import started
    from sessrun.conformance.declaring import declaration, declaration_toml, measure
    from sessrun.reports.printable import number
    from sessrun.spec.inference import table
    from sessrun.spec.writing import write_text

    console = Console(stderr=True)
    with started(args.backend) as runner, Progress(console=console, transient=True) as bar:
        runner.asks_all = True
        description = runner.describe()
        if description.operations is not None:
            console.print(
                f"{args.backend} declares {number(len(description.operations), 'operation')}: "
                "what it declines for that is not measured. operations=None declares all."
            )
        task = bar.add_task(f"{args.backend}: cells")
        measured = measure(
            runner,
            args.seed,
            args.count,
            lambda done, total: bar.update(task, completed=done, total=total),
        )
    title = f"What {description.name} {description.version} computes, by measurement."
    text = declaration_toml(measured, title)
    if args.output is None:
        sys.stdout.write(text)
    else:
        write_text(args.output, text)
    console.print(
        f"{len(declaration(measured))} of {len(table())} operations, "
        f"{sum(cell.is_offered for cell in measured)} of {len(measured)} cells are answered, "
        f"{sum(bool(cell.wrong) for cell in measured)} of them wrongly in some case"
    )
    return 0 if declaration(measured) else 1
