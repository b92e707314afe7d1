"""What changed between two packages of a profile: clauses, operations and dtypes, cases.

A regression is what passed in the old package and does not in the new one.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

SUMMARY = "what changed between two certificates"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("old", type=Path, help="the old package, in any form, or its folder")
    parser.add_argument("new", type=Path, help="the new one")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the whole of it as JSON")
    parser.add_argument(
        "--rows", type=int, default=20, metavar="N", help="changes of a sort to show (default: 20)"
    )


def run(args: argparse.Namespace) -> int:
    """Compare; 0 if nothing became worse, 1 if anything did."""
    from sessrun.reports.certificate import read_certificate
    from sessrun.reports.diff import diff
    from sessrun.reports.diff_terminal import print_diff
    from sessrun.spec.writing import write_text

    old, new = read_certificate(args.old), read_certificate(args.new)
    differences = diff(old, new)
    print_diff(differences, rows=max(args.rows, 0), backend=str(new.backend["spec"]))
    if args.json is not None:
        write_text(args.json, json.dumps(differences.to_json(), indent=1, sort_keys=True) + "\n")
    return 1 if differences.regressions else 0
