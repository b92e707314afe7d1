"""Recompiles the messages of this folder: `python -m sessrun.spec.proto.regenerate [--check]`.

The compiler is an old one on purpose: its code loads on every protobuf runtime that TensorFlow
admits, and newer compilers' code does not. The file imports nothing of ours, so that it also
runs as a plain script when the generated code is broken.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import as_file, files
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Final

__all__ = ["compile_into", "main", "stale"]

#: The only grpcio-tools accepted; it writes code for protobuf 6.31.1 and later.
COMPILER: Final = "1.74.0"
#: The folder of the messages below an import root; generated imports are spelled after it.
PACKAGE: Final = Path("sessrun/spec/proto")
HERE: Final = Path(__file__).parent
#: First line of the stubs: the compiler writes `Mapping` without arguments.
STUB_HEAD: Final = b'# mypy: disable-error-code="type-arg"\n'


def compile_into(root: Path) -> Path:
    """Compile copies of the `.proto` files below `root` and return the folder of the results.

    Raises `RuntimeError` if grpcio-tools is not installed in the one accepted version, or if
    the compiler refuses a file (it says why on standard error).
    """
    _require_compiler()
    folder = root / PACKAGE
    folder.mkdir(parents=True)
    sources = [copyfile(path, folder / path.name) for path in sorted(HERE.glob("*.proto"))]
    with as_file(files("grpc_tools") / "_proto") as well_known:
        includes = [f"-I{root}", f"-I{well_known}"]
        outputs = [f"--python_out={root}", f"--pyi_out={root}"]
        # In a process of its own: beside TensorFlow's own protobuf the compiler crashes.
        compiler = [sys.executable, "-m", "grpc_tools.protoc"]
        command = [*compiler, *includes, *outputs, *map(str, sources)]
        status = subprocess.run(command, check=False).returncode  # noqa: S603 - our own paths
    if status:
        raise RuntimeError(f"protoc ended with status {status}; see its messages above")
    for stub in folder.glob("*_pb2.pyi"):
        stub.write_bytes(STUB_HEAD + stub.read_bytes())
    return folder


def stale(fresh: Path) -> list[str]:
    """Return the names of generated files here that differ from those in the folder `fresh`.

    A file that is missing on either side differs. Raises `OSError` if a file cannot be read.
    """
    names = {path.name for folder in (HERE, fresh) for path in folder.glob("*_pb2.py*")}
    return sorted(name for name in names if _content(HERE / name) != _content(fresh / name))


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite the generated files, or with `--check` name those that would change.

    Returns the exit status: 0, or 1 if a check found differences. Raises `SystemExit` for a
    wrong argument, and with a sentence that says what is missing where nothing can be compiled.
    """
    parser = argparse.ArgumentParser(prog="sessrun.spec.proto.regenerate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, only compare")
    check: bool = parser.parse_args(argv).check
    with TemporaryDirectory() as directory:
        try:
            fresh = compile_into(Path(directory))
        except RuntimeError as error:
            raise SystemExit(str(error)) from error
        changed = stale(fresh)
        for name in changed:
            if not check:
                _replace(HERE / name, _content(fresh / name))
            sys.stdout.write(f"{name}: {'differs' if check else 'written'}\n")
    if check and changed:
        sys.stdout.write("run `python -m sessrun.spec.proto.regenerate`\n")
    return int(check and bool(changed))


def _require_compiler() -> None:
    try:
        installed = version("grpcio-tools")
    except PackageNotFoundError:
        installed = "none"
    if installed != COMPILER:
        raise RuntimeError(
            f"needs grpcio-tools {COMPILER} exactly, found {installed}; "
            f"install it with `pip install grpcio-tools=={COMPILER}`"
        )


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _replace(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)


if __name__ == "__main__":
    raise SystemExit(main())
