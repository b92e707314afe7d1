"""Not there yet."""
import argparse

SUMMARY = "not there yet"


def configure(parser: argparse.ArgumentParser) -> None:
    """Nothing."""


def run(args: argparse.Namespace) -> int:
    """Nothing."""
    return 2
