"""The command line of a backend's worker: the user's own, another environment's Python, or ours."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Final

from sessrun.adapters.process.errors import AdapterError

__all__ = ["command_of", "has_process_of_its_own"]

#: The prefix of a backend that is given as a command line.
_EXEC: Final = "exec:"
#: What separates an adapter's name from the folder of the environment that it runs in.
_AT: Final = "@"


def has_process_of_its_own(spec: str) -> bool:
    """Whether a backend cannot be loaded here: a command, or an adapter of another environment."""
    return spec.startswith(_EXEC) or _AT in spec.partition("#")[0]


def command_of(spec: str) -> list[str]:
    """Program and arguments of a backend's worker.

    Args:
      spec: `exec:COMMAND LINE` for a program that speaks the protocol (split as
        a shell does, run without one); `NAME@FOLDER` for an adapter that the Python of a virtual
        environment loads (`NAME@FOLDER#ARGUMENT`), by our worker in an archive; a name in
        `adapters.javascript.PROGRAMS`, with `#FOLDER` of its packages after it; anything else is
        loaded by our worker in a new Python of this environment.

    Raises:
      AdapterError: the command line cannot be read, or is empty; the folder has no Python, or
        what a program in JavaScript needs is not there.

    """
    if spec.startswith(_EXEC):
        return _command_line(spec)
    # Imported late: workers import this module, and only the host has these.
    from sessrun.adapters import javascript  # noqa: PLC0415 - as above
    from sessrun.adapters.process.archive import archive  # noqa: PLC0415 - as above

    name, mark, argument = spec.partition("#")
    if name in javascript.PROGRAMS:
        return javascript.command(name, argument)
    name, at, folder = name.partition(_AT)
    if not at:
        return [sys.executable, "-m", "sessrun.adapters.worker", spec]
    python = Path(folder).expanduser().absolute() / "bin" / "python"
    if not python.is_file():
        raise AdapterError(
            f"{spec!r}: {folder or 'the working folder'} is no virtual environment: "
            f"it has no bin/python"
        )
    # Isolated: neither PYTHONPATH nor the user's own packages come along.
    return [str(python), "-I", str(archive()), f"{name}{mark}{argument}"]


def _command_line(spec: str) -> list[str]:
    try:
        command = shlex.split(spec.removeprefix(_EXEC))
    except ValueError as error:
        raise AdapterError(f"{spec!r} is no command line: {error}") from error
    if not command:
        raise AdapterError(f"{spec!r} names no program")
    return command
