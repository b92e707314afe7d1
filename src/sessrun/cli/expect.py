"""Draft or refresh the expectations file of a backend from a run record."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

SUMMARY = "draft or refresh a backend's expectations from a run record"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("record", type=Path, help="the run record (record.jsonl)")
    parser.add_argument("--file", type=Path, help="refresh this file (its reasons are kept)")


def run(args: argparse.Namespace) -> int:
    """Print the file, or write it."""
    from sessrun.conformance.expectations import draft, load_expectations
    from sessrun.spec.records import read_record
    from sessrun.spec.writing import write_text

    record = read_record(args.record)
    old = load_expectations(args.file) if args.file is not None and args.file.exists() else ()
    text = draft(record, old)
    if args.file is None:
        sys.stdout.write(text)
    else:
        write_text(args.file, text)
        print(f"{text.count('[[expect]]')} entries in {args.file}", file=sys.stderr)
    return 0
