"""A program run with several command lines, each in a fork of a process that imported a package.

Arguments: the package, the program's file, a folder, and the command lines as JSON. What the N-th
run prints is written to the file `N` of the folder; the statuses are printed as JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
from pathlib import Path


def run_here(program: str, arguments: list[str], output: Path) -> None:
    """Run the program in this process, which it ends."""
    with output.open("wb") as file:
        os.dup2(file.fileno(), 1)
    sys.argv = [program, *arguments]
    runpy.run_path(program, run_name="__main__")


def main(package: str, program: str, folder: str, command_lines: str) -> None:
    """Run the program once for each command line; importing the package takes most of the time."""
    importlib.import_module(package)
    statuses = []
    for number, arguments in enumerate(json.loads(command_lines)):
        child = os.fork()
        if child == 0:
            run_here(program, arguments, Path(folder) / str(number))
            return
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print(json.dumps(statuses))


if __name__ == "__main__":
    main(*sys.argv[1:])
