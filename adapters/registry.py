"""Finds a backend by name: an entry point, a module's factory, or a command to run."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from sessrun.adapters.backend import Backend
from sessrun.adapters.errors import AdapterError
from sessrun.adapters.process.command import has_process_of_its_own

__all__ = ["GROUP", "AdapterError", "known", "load"]

#: The entry-point group that a package puts its adapters in.
GROUP: Final = "sessrun.adapters"

# Our own, for a checkout that is on the path but not installed (no entry points there).
_OWN: Final = {
    "onnxruntime": "sessrun.adapters.onnxruntime:backend",
    "jax": "sessrun.adapters.jax.engine:backend",
    "litert": "sessrun.adapters.litert:backend",
    "model": "sessrun.adapters.model:backend",
    "openvino": "sessrun.adapters.openvino:backend",
    "reference": "sessrun.adapters.reference:backend",
    "tensorflow": "sessrun.adapters.tensorflow:backend",
    "tensorflow-c": "sessrun.adapters.tensorflow_c:backend",
    "tfjs-cpu": "sessrun.adapters.tfjs:cpu",
    "tfjs-wasm": "sessrun.adapters.tfjs:wasm",
    "tfjs-webgl": "sessrun.adapters.tfjs:webgl",
    "tensorflow-xla": "sessrun.adapters.tensorflow_xla:backend",
}


def known() -> dict[str, str]:
    """Every name of an adapter here, with the `module:factory` it stands for, sorted."""
    from importlib import metadata  # noqa: PLC0415 - a sixth of what a worker's start would take

    points = metadata.entry_points(group=GROUP)
    return dict(sorted((_OWN | {point.name: point.value for point in points}).items()))


def load(spec: str) -> Backend:
    """The backend that `spec` names, in this process (a command: in its own).

    Args:
      spec: `NAME` of an entry point or `package.module:factory`, each with `#ARGUMENT` after it
        where the factory takes one; or what has a process of its own, see
        `sessrun.adapters.process.command`.

    Raises:
      AdapterError: nothing is called so, or it cannot be loaded or started; the message lists
        the names there are.

    """
    if has_process_of_its_own(spec):
        from sessrun.adapters.process.host import spawn  # noqa: PLC0415 - no worker has the host's side

        return spawn(spec)
    name, mark, argument = spec.partition("#")
    factory = _factory(name if ":" in name else known().get(name, name), spec)
    try:
        backend = factory(argument) if mark else factory()
    except AdapterError:
        raise
    except Exception as error:  # a factory may raise anything
        message = f"{type(error).__name__}: {error}"
        raise AdapterError(f"{spec!r}: its factory raised {message}") from error
    if not callable(getattr(backend, "describe", None)):
        kind = type(backend).__name__
        raise AdapterError(f"{spec!r}: its factory made no backend, but a {kind}")
    return backend


def _factory(target: str, spec: str) -> Callable[..., Backend]:
    module_name, colon, attribute = target.partition(":")
    if not colon or not module_name or not attribute:
        raise AdapterError(
            f"no adapter is called {spec!r}; there are {', '.join(known())}, "
            "package.module:factory, NAME@ENVIRONMENT and exec:COMMAND"
        )
    here = str(Path.cwd())
    if here not in sys.path:  # a worker finds modules of its working folder; so does this process
        sys.path.append(here)
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # a module may raise anything
        raise AdapterError(f"{spec!r}: module {module_name} cannot be imported: {error}") from error
    factory = getattr(module, attribute, None)
    if not callable(factory):
        raise AdapterError(f"{spec!r}: module {module_name} has no factory {attribute!r}")
    checked: Callable[..., Any] = factory
    return checked
