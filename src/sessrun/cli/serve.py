"""Serve an adapter over the process protocol on standard input and output."""

from __future__ import annotations

import argparse

SUMMARY = "serve an adapter over the process protocol (stdio)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("adapter", help="an adapter's name or package.module:factory[#argument]")


def run(args: argparse.Namespace) -> int:
    """Serve until standard input ends."""
    from sessrun.adapters import worker

    worker.main(args.adapter)
