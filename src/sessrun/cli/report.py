"""Write the page of a folder of results: `report gpu FOLDER` that of a GPU (`make gpu`)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

SUMMARY = "write the page that shows what `make gpu` found"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("kind", choices=["gpu"], help="what the folder is of")
    parser.add_argument("folder", type=Path, help="what `make gpu` wrote")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: FOLDER/index.html")


def run(args: argparse.Namespace) -> int:
    """Write it; 0 if everything that is there could be read, 2 if not."""
    from sessrun.cli.failure import in_one_line
    from sessrun.reports.gpu_folder import read_gpu_folder
    from sessrun.reports.gpu_html import gpu_html
    from sessrun.reports.printable import utf8
    from sessrun.spec.writing import write_bytes

    day = read_gpu_folder(args.folder)
    output = args.output or args.folder / "index.html"
    output.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(output, utf8(gpu_html(day)))
    for file, why in day.problems.items():
        error = ValueError(f"{args.folder / file}: {why}")
        print(f"sessrun report: {in_one_line(error)}", file=sys.stderr)
    print(output)
    return 2 if day.problems else 0
