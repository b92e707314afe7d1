"""Export the whole spec as one JSON bundle with a digest, or generate its HTML page."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from sessrun.cli.failure import UserError

SUMMARY = "export the spec as one JSON bundle, graphs also as binary .pb files"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--output", type=Path, metavar="FILE", help="write here, not to stdout")
    parser.add_argument("--graphs", type=Path, metavar="FOLDER", help="write each graph as .pb")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write docs/spec.html")
    parser.add_argument(
        "--check", action="store_true", help="with --html: compare only, 1 if it drifted"
    )


def run(args: argparse.Namespace) -> int:
    """Export."""
    from sessrun.spec import bundle
    from sessrun.spec.writing import write_text

    if args.html is not None:
        return _html(args.html, check=args.check)
    if args.check:
        raise UserError("--check compares the page of --html FILE")
    if args.graphs is not None:
        count = bundle.write_graphs(args.graphs)
        print(f"{count} graphs in {args.graphs}", file=sys.stderr)
    if args.graphs is None or args.output is not None:
        text = json.dumps(bundle.bundle(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        if args.output is None:
            sys.stdout.write(text)
        else:
            write_text(args.output, text)
    return 0


def _html(path: Path, *, check: bool) -> int:
    from sessrun.reports.spec_html import spec_html
    from sessrun.spec.writing import write_text

    text = spec_html()
    if not check:
        write_text(path, text)
        return 0
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return 0
    print(f"{path} has drifted from the spec: sessrun spec --html {path}", file=sys.stderr)
    return 1
