"""Write a static site of many packages: engines, releases, profiles, subjects, down to replays.

A package that cannot be read is reported, and the others are shown all the same.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from sessrun.cli.failure import UserError, in_one_line

SUMMARY = "write a static site that shows many packages side by side"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("packages", type=Path, nargs="+", help="packages in any form, or folders")
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="the site")
    parser.add_argument(
        "--findings", type=Path, metavar="FOLDER", help="pages of findings, ENGINE.md"
    )
    parser.add_argument(
        "--publish",
        type=Path,
        metavar="FOLDER",
        help="write here what goes into a repository: scoreboard.md and a package of each engine",
    )


def run(args: argparse.Namespace) -> int:
    """Write it; 0 if every package is shown, 2 if one was refused or there is none to show."""
    from sessrun.reports.archive import PackageError
    from sessrun.reports.certificate import read_certificate
    from sessrun.reports.findings import Findings
    from sessrun.reports.printable import number
    from sessrun.reports.scoreboard import Board
    from sessrun.reports.scoreboard_html import scoreboard_pages
    from sessrun.reports.scoreboard_page import published_files

    if args.findings is not None and not args.findings.is_dir():
        raise UserError(f"--findings {args.findings}: no such folder")
    certificates, refused = [], {}
    for path in args.packages:
        try:
            certificates.append(read_certificate(path))
        except PackageError as error:
            # Of the package itself, or of a file in it: then that is said too.
            refused[path.name] = error.reason if error.file == str(path) else str(error)
            where = "" if error.file == str(path) else f"{path}: "
            print(f"sessrun scoreboard: {where}{in_one_line(error)}", file=sys.stderr)
    if not certificates:
        raise UserError("there is no package to show")
    board, findings = Board(certificates), Findings(args.findings)
    _write(args.output, scoreboard_pages(board, refused, findings))
    if args.publish is not None:
        to_findings = os.path.relpath(args.findings or args.publish, args.publish)
        _write(args.publish, published_files(board, findings, Path(to_findings).as_posix()))
    print(f"{number(len(certificates), 'package')}: {args.output / 'index.html'}")
    return 2 if refused else 0


def _write(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    from sessrun.spec.writing import write_bytes

    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, content)
