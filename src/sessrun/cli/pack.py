"""Write a package in the small form, to be published, or as the archive that it was made of.

Nothing is left out: `verify`, `diff` and `scoreboard` read either.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from sessrun.cli.failure import UserError

SUMMARY = "write a package in the small form, to be published"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("package", type=Path, help="the package, or the folder it lies in")
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="NAME.xz for the small form, NAME.zip for the archive",
    )


def run(args: argparse.Namespace) -> int:
    """Write it."""
    from sessrun.reports.archive import pack, read_archive
    from sessrun.reports.compact import fold
    from sessrun.spec.writing import write_bytes

    forms = {".xz": fold, ".zip": pack}
    form = forms.get(args.output.suffix)
    if form is None:
        raise UserError(f"--output {args.output}: the name ends in .xz or .zip")
    raw = form(read_archive(args.package))
    write_bytes(args.output, raw)
    print(f"{args.output}: {len(raw):,} bytes")
    return 0
