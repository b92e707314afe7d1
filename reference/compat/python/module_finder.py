"""A finder for modules of `tensorflow.python` without a file, from tables of their contents.

TensorFlow's own unit tests, and many programs, import from `tensorflow.python...`. What such a
module offers here is looked up, name by name, where `places.PLACES` says: in modules of the
runtime, then in groups of the public namespace. A module of generated wrappers (`gen_math_ops`,
`test_ops`) has every declared operation under its name in lower case, and as it is among the raw
ones. A name that is nowhere raises AttributeError.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any, Final

from sessrun.reference.compat.python.module_table import OTHER_NAMES, PLACES, WITH_WRAPPERS
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["Mirror", "install", "of_places"]

_PREFIX: Final = "sessrun.reference.compat.python."
_RUNTIME: Final = "sessrun.reference"

_GENERATED: Final = re.compile(r"ops\.gen_\w+_ops(?:_v2)?|framework\.test_ops")


class Mirror(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """A finder and loader of the modules below a package that have no file.

    Args:
      package: its full name.
      places: the names of the modules, without the package's.
      offered: of such a name, or of any other, what looks up what the module offers; or None.

    """

    def __init__(
        self,
        package: str,
        places: Iterable[str],
        offered: Callable[[str], Callable[[str], object] | None],
    ) -> None:
        self.prefix = package + "."
        self._places = tuple(places)
        self._offered = offered

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of such a module, or of a folder of one."""
        del path, target
        if not fullname.startswith(self.prefix):
            return None
        inner = fullname.removeprefix(self.prefix)
        is_folder = any(module_path.startswith(inner + ".") for module_path in self._places)
        if not is_folder and self._offered(inner) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=is_folder)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """A module that looks up its names lazily."""
        inner = spec.name.removeprefix(self.prefix)
        name = spec.name.removeprefix(f"{_RUNTIME}.")
        module = ModuleType(spec.name, f"What `tensorflow.{name}` offers.")
        offered = self._offered(inner)
        if offered is not None:
            module.__getattr__ = offered  # type: ignore[method-assign]  # PEP 562
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to do."""

    def install(self) -> None:
        """Append this finder to `sys.meta_path`."""
        known = (finder.prefix for finder in sys.meta_path if isinstance(finder, Mirror))
        if self.prefix not in known:
            sys.meta_path.append(self)


def install() -> None:
    """Let `import` find the modules of the table."""
    Mirror(_PREFIX.removesuffix("."), PLACES, _offered).install()


def _offered(inner: str) -> Callable[[str], object] | None:
    if inner in PLACES:
        return of_places(inner)
    return _of_wrappers(inner) if _GENERATED.fullmatch(inner) else None


def of_places(inner: str) -> Callable[[str], object]:
    """The `__getattr__` of a module of the table."""
    modules, _, groups = PLACES.get(inner, "").partition("|")
    module_names = [f"{_RUNTIME}.{name}" for name in modules.split()]

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise _absent(inner, name)
        public = importlib.import_module(_RUNTIME)
        sources = [_module(module_name) for module_name in module_names]
        sources += [_group(public, dotted) for dotted in groups.split()]
        wanted = (name, OTHER_NAMES.get(name, name), name.removesuffix("_v1"))
        for source in (*sources, public):
            for spelled in wanted:
                if source is not None and hasattr(source, spelled):
                    return getattr(source, spelled)
        if _GENERATED.fullmatch(f"ops.{name}") and inner == f"ops.{name.removeprefix('gen_')}":
            return importlib.import_module(f"{_PREFIX}ops.{name}")
        if inner in WITH_WRAPPERS:
            return _of_wrappers(inner)(OTHER_NAMES.get(name, name))
        raise _absent(inner, name)

    return find


def _of_wrappers(inner: str) -> Callable[[str], object]:
    def find(name: str) -> Any:
        from sessrun.reference.build.raw_wrappers import python_wrapper, wrapper  # noqa: PLC0415 - needed by few

        operation = None if name.startswith("__") else python_wrapper(name)
        if operation is None and name in OPERATIONS:
            operation = wrapper(name)
        if operation is None:
            raise _absent(inner, name)
        return operation

    return find


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None


def _group(public: ModuleType, dotted: str) -> Any:
    group: Any = public
    for part in dotted.split("."):
        group = getattr(group, part, None)
    return group


def _absent(inner: str, name: str) -> AttributeError:
    return AttributeError(f"module {_PREFIX + inner!r} has no attribute {name!r}", name=name)
