"""One module of a package imported with other source, and a process that can harm nothing.

Both are for good: the process that calls them is a fork that lives for one mutant.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import resource
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Final

__all__ = ["confine", "import_changed"]

#: The address space that a mutant may take, in bytes: a wrong shape may ask for any amount.
_MEMORY: Final = 12 << 30
#: What an audited event changes on disk, and the arguments that are paths.
_WRITES: Final = {
    "os.remove": (0,),
    "os.rmdir": (0,),
    "os.rename": (0, 1),
    "os.truncate": (0,),
    "os.mkdir": (0,),
    "os.chmod": (0,),
    "os.link": (1,),
    "os.symlink": (1,),
    "shutil.rmtree": (0,),
    "shutil.move": (0, 1),
    "shutil.copyfile": (1,),
}
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def import_changed(module: str, source: str) -> None:
    """Have `module` imported with this source, once somebody imports it.

    Raises:
      RuntimeError: it has been imported already.

    """
    if module in sys.modules:
        raise RuntimeError(f"{module} is imported already: its source cannot change")
    sys.meta_path.insert(0, _Finder(module, source.encode()))


class _Finder(importlib.abc.MetaPathFinder):
    """Finds one module where it is, with a loader that reads other source."""

    def __init__(self, module: str, source: bytes) -> None:
        self._module = module
        self._source = source

    def find_spec(
        self, fullname: str, path: Any, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._module:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            return None
        spec.loader = _Loader(fullname, spec.origin, self._source)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles given source instead of the file's, and writes no bytecode file."""

    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self._changed = source

    def path_stats(self, path: Any) -> Any:
        raise OSError(f"{path}: no bytecode is kept of changed source")

    def get_data(self, path: Any) -> bytes:  # noqa: ARG002 - a loader's signature
        return self._changed


def confine(folder: Path) -> None:
    """Let this process write below `folder` only, and take no more memory than a case may need."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    admitted = (f"{folder.resolve()}{os.sep}", "/dev/", "/proc/")

    def outside(path: Any) -> bool:
        if isinstance(path, int):
            return False
        full = os.path.realpath(os.fsdecode(path))
        return not f"{full}{os.sep}".startswith(admitted)

    def audit(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = args
            if isinstance(flags, int) and flags & _WRITING and path and outside(path):
                raise PermissionError(f"a mutant may not write {path!r}")
        elif event in _WRITES and any(outside(args[index]) for index in _WRITES[event]):
            raise PermissionError(f"a mutant may not change {args!r}")
        elif event in {"subprocess.Popen", "os.exec", "os.system", "os.kill", "socket.connect"}:
            raise PermissionError(f"a mutant may not do {event}")

    sys.addaudithook(audit)
