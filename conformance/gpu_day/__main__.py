"""Runs parts of `make gpu`: each takes at most ten minutes, and goes on where it was cut."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sessrun.conformance.gpu_day.parts import PARTS, Target, steps_of
from sessrun.conformance.gpu_day.steps import run_steps

__all__ = ["main"]

#: How long a part may take: ten minutes, less what its beginning and its end may need.
_PART_S: Final = 540.0


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; 1 if a step of a part has not ended."""
    parser = argparse.ArgumentParser(prog="gpu_day", description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--simulated", action="store_true", help="on a simulated GPU, a few cases")
    parser.add_argument("--profiles", nargs="*", default=(), help="certify these")
    args = parser.parse_args(argv)
    folder = args.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    steps = steps_of(args.part, Target(folder, args.simulated, args.profiles))
    return 1 if run_steps(steps, folder, _PART_S - (time.monotonic() - began)) else 0


if __name__ == "__main__":
    sys.exit(main())
