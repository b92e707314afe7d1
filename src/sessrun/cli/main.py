"""`sessrun`: parses the command line and hands it to the command's module."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Final

from sessrun import __version__

__all__ = ["main"]

#: Commands in the order of `--help`; each module has SUMMARY, configure(parser) and run(args).
COMMANDS: Final = (
    "certify",
    "verify",
    "pack",
    "diff",
    "scoreboard",
    "run",
    "replay",
    "doctor",
    "init-adapter",
    "declare",
    "bench",
    "compare",
    "history",
    "leaks",
    "growth",
    "report",
    "explain",
    "spec",
    "selfcheck",
    "expect",
    "serve",
    "worker",
    "freeze",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit status: 0 good, 1 the answer is no, 2 wrong usage or input."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(
        prog="sessrun", description="What sess.run must do: certify, verify, measure backends."
    )
    parser.add_argument("--version", action="version", version=f"sessrun {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"sessrun.cli.{name.replace('-', '_')}")
        sub = commands.add_parser(name, help=module.SUMMARY, description=module.__doc__)
        module.configure(sub)
        sub.set_defaults(run=module.run)
    args = parser.parse_args(arguments)
    from sessrun.cli.failure import in_one_line, is_of_output, reported_errors

    try:
        status: int = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has closed it
        _drop_output()
        return 1
    except Exception as error:
        if not isinstance(error, reported_errors()):
            raise
        print(f"sessrun {args.command}: {in_one_line(error)}", file=sys.stderr)
        if is_of_output(error):
            _drop_output()
        return 2
    except KeyboardInterrupt:
        print(f"sessrun {args.command}: interrupted", file=sys.stderr)
        return 130
    return status


def _drop_output() -> None:
    """Write nothing more to standard output, not at the end of the process either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
