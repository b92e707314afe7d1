"""Export the whole spec as one JSON bundle with a digest, or as pages for people."""

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
    parser.add_argument("--html", type=Path, metavar="FILE", help="write it as one page")
    parser.add_argument(
        "--site",
        type=Path,
        metavar="FOLDER",
        help="write a site that needs no network: clauses, operations, vectors and faults, linked",
    )
    parser.add_argument(
        "--prose",
        type=Path,
        metavar="CHECKOUT",
        help="with --site: the documentation of a checkout too",
    )


def run(args: argparse.Namespace) -> int:
    """Export."""
    from sessrun.spec import bundle
    from sessrun.spec.writing import write_text

    if args.prose is not None and args.site is None:
        raise UserError("--prose belongs to --site FOLDER")
    if args.html is not None or args.site is not None:
        _pages(args.html, args.site, args.prose)
        return 0
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


def _pages(page: Path | None, site: Path | None, checkout: Path | None) -> None:
    """Write the one page, the site, or both."""
    from sessrun.reports.spec_html import spec_html
    from sessrun.spec.writing import write_bytes, write_text

    if page is not None:
        write_text(page, spec_html())
    if site is not None:
        files = _site(checkout)
        for name, content in files.items():
            path = site / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, content)
        print(f"{len(files)} files: {site / 'index.html'}")


def _site(checkout: Path | None) -> dict[str, bytes]:
    """The files of the site; the suite's part of it is collected here."""
    from sessrun.conformance.faulty.framework import load_all
    from sessrun.conformance.properties import PROPERTIES
    from sessrun.conformance.replay import python_lines
    from sessrun.reports.site.addresses import SiteError
    from sessrun.reports.site.pages import site_files
    from sessrun.reports.site.relations import FaultEntry, PropertyEntry, Suite
    from sessrun.spec.loader import load_vectors

    suite = Suite(
        faults=[
            FaultEntry(
                fault.name,
                fault.clause,
                fault.summary,
                fault.change.__module__.removeprefix("sessrun.").replace(".", "/") + ".py",
            )
            for fault in load_all().values()
        ],
        properties=[
            PropertyEntry(prop.name, prop.summary, tuple(prop.clauses))
            for prop in PROPERTIES.values()
        ],
        programs={
            case.id: "\n".join(python_lines(case))[:20_000] for case in load_vectors().values()
        },
    )
    try:
        return site_files(suite, checkout)
    except SiteError as error:
        raise UserError(str(error)) from error
