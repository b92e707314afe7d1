"""Write the skeleton of an adapter, which works: an engine, its test, and how to go on.

python: a namespace like tensorflow.compat.v1. process: a program in any language that speaks the
process protocol. c-api: a shared library with TensorFlow's C API. javascript: an engine for Node.
converter: an engine that compiles a graph, with a table of operations.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.resources
import sys
from collections.abc import Iterator
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from sessrun.cli.failure import UserError

SUMMARY = "write the skeleton of an adapter, with its test"

KINDS: Final = ("python", "process", "c-api", "javascript", "converter")
#: The name in the skeletons, in small letters, and as an environment variable begins.
_NAME: Final = "my_engine"
#: The modules that a backend in JavaScript stands on, and the folder of its own that has them.
_LAYER: Final = "sessrun"
_LAYER_FILES: Final = (
    "client_layer.mjs",
    "graph.mjs",
    "index.mjs",
    "operations.json",
    "protocol.mjs",
    "tensors.mjs",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("kind", choices=KINDS, help="what your engine is")
    parser.add_argument("folder", nargs="?", type=Path, help="where to (default: the name)")
    parser.add_argument(
        "--name", default=_NAME, help=f"of the engine, and its module (default: {_NAME})"
    )


def run(args: argparse.Namespace) -> int:
    """Write the files, and say what to do next."""
    _check_name(args.name)
    folder = args.folder or Path(args.name)
    files = dict(_files(args.kind, args.name))
    there = [name for name in files if (folder / name).exists()]
    if there:
        raise UserError(f"{folder / there[0]} is there already: name another folder")
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(path)
    print(f"\nIt works as it is. In {folder}:\n")
    for command in _commands(files["README.md"].decode()):
        print(f"    {command}")
    return 0


def _check_name(name: str) -> None:
    """Refuse a name that is no module's, or another module's.

    Raises:
      UserError: it is.

    """
    if not (name.isidentifier() and name.isascii() and name.islower()):
        raise UserError(f"{name!r} is no module's name: small letters, digits and underscores")
    taken = sys.stdlib_module_names | importlib.metadata.packages_distributions().keys()
    if name in taken | {_LAYER}:
        raise UserError(f"there is a module {name!r} already: choose another --name")


def _files(kind: str, name: str) -> Iterator[tuple[str, bytes]]:
    """The files of a skeleton, with the name put in."""
    skeletons = importlib.resources.files("sessrun.cli") / "skeletons"
    for file in _sorted(skeletons / kind.replace("-", "_")):
        text = file.read_text(encoding="utf-8").replace(_NAME, name)
        yield file.name.replace(_NAME, name), text.replace(_NAME.upper(), name.upper()).encode()
    if kind == "javascript":
        layer = importlib.resources.files("sessrun.adapters") / "javascript"
        for module in _LAYER_FILES:
            yield f"{_LAYER}/{module}", (layer / module).read_bytes()


def _sorted(folder: Traversable) -> list[Traversable]:
    return sorted((file for file in folder.iterdir() if file.is_file()), key=lambda file: file.name)


def _commands(readme: str) -> Iterator[str]:
    """The commands of a skeleton's README."""
    return (line.strip() for line in readme.splitlines() if line.startswith("    "))
