"""The reference runtime: a namespace that behaves like `tensorflow.compat.v1`.

    import sessrun.reference as tf

The public names are put together in `namespace.py`; heavy groups (`tf.train`, `tf.keras`, ...)
are imported when first used. What lies in `compat` and `library` is found without these words, too:
`sessrun.reference.python.framework.ops` is `sessrun.reference.compat.python.framework.ops`.
"""

from __future__ import annotations

import importlib as _importlib
import sys as _sys
from importlib import util as _util
from importlib.machinery import ModuleSpec as _ModuleSpec
from types import ModuleType as _ModuleType
from typing import Any as _Any

from sessrun.reference import (
    compat,  # noqa: F401 - the group `tf.compat` is this package
)
from sessrun.reference import namespace as _namespace
from sessrun.reference import (
    registrations as _registrations,  # noqa: F401 - it fills what lower packages leave open
)


class _PublicPaths:
    """Finds modules by the paths that TensorFlow has for them; each is one module, by two names."""

    #: The package that each lies in.
    homes = dict.fromkeys(
        ("app", "core", "flags", "python", "resource_loader", "sysconfig", "test"), "compat"
    )
    homes |= dict.fromkeys(("keras", "layers", "losses", "metrics"), "library")
    homes |= {"nest": "api", "saved_model": "api", "version": "graph"}

    def find_spec(self, fullname: str, path: _Any, target: _Any = None) -> _ModuleSpec | None:
        """The spec of such a module, which is imported under its real name."""
        del path, target
        package, _, inner = fullname.partition(f"{__name__}.")
        home = None if package else self.homes.get(inner.partition(".")[0])
        if home is None:
            return None
        real = _util.find_spec(f"{__name__}.{home}.{inner}")
        loader: _Any = self  # no subclass of Loader: importlib.abc takes long to import
        return real and _ModuleSpec(fullname, loader, loader_state=real.name)

    def create_module(self, spec: _ModuleSpec) -> _ModuleType:
        """The module itself."""
        module = _importlib.import_module(spec.loader_state)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: _ModuleType) -> None:
        """Give it back its own spec: it has been executed under its real name."""
        assert module.__spec__ is not None  # the import system has set it
        module.__spec__ = module.__spec__.loader_state


# Before the finder of files, which would make a second module of a file in these packages.
_sys.meta_path.insert(0, _PublicPaths())
_namespace.assemble(_sys.modules[__name__])


def __dir__() -> list[str]:
    """The names in this module, and those of the index that are imported on first use."""
    return sorted({*globals(), *_namespace.promised(_sys.modules[__name__])})


def __getattr__(name: str) -> _Any:
    """A public name, or a module with one of TensorFlow's module paths; imported on first use."""
    if name in _PublicPaths.homes:
        return _importlib.import_module(f"{__name__}.{name}")
    return _namespace.public_object(_sys.modules[__name__], name)
