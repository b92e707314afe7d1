"""What adapters of optional engines have alike: no argument, and a package that may be missing."""

from __future__ import annotations

import importlib
from types import ModuleType

from sessrun.adapters.errors import AdapterError

__all__ = ["import_engine"]


def import_engine(
    adapter: str, argument: str | None, engine: str, extra: str, *modules: str
) -> tuple[ModuleType, ...]:
    """The modules of an engine.

    Args:
      adapter: the adapter's name.
      argument: the backend's argument, which must be None.
      engine: the engine's name.
      extra: the extra of ours that installs it.
      modules: their names.

    Raises:
      AdapterError: an argument is given, or a module is not installed.

    """
    if argument is not None:
        raise AdapterError(f"the adapter {adapter!r} takes no argument, got {argument!r}")
    try:
        return tuple(importlib.import_module(name) for name in modules)
    except ImportError as error:
        raise AdapterError(
            f"{engine} is not installed: pip install 'sessrun[{extra}]' ({error})"
        ) from error
