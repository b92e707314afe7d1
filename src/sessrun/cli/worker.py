"""Write the worker as one file, which a Python without sessrun runs beside an engine."""

from __future__ import annotations

import argparse
from pathlib import Path

SUMMARY = "write the worker as one file, for an environment of its own"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--output", type=Path, default=Path("sessrun-worker.pyz"), help="the file to write"
    )


def run(args: argparse.Namespace) -> int:
    """Write it; 0."""
    from sessrun.adapters.process.archive import write_archive

    print(f"{write_archive(args.output)}: run it as `python -I {args.output} ADAPTER`")
    return 0
