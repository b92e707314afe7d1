"""Describe the namespace of an installed cupy, by which the simulated GPU judges what it is asked.

    python -m sessrun.adapters.fakes.simulated_gpu.generate [--check]

It needs the real cupy and `ml_dtypes`, and no GPU and no driver: cupy's own checks of arguments
come before its first call of CUDA, so what it refuses is asked of it with arrays over host memory.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import inspect
import json
import re
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from sessrun.adapters.fakes.simulated_gpu.description import Description, UfuncEntry
from sessrun.adapters.fakes.simulated_gpu.host_values import DTypeLike

__all__ = ["DESCRIPTION", "described", "main"]

DESCRIPTION: Final = Path(__file__).with_name("namespace.json")

#: The modules whose names are described.
_MODULES: Final = (
    "cupy",
    "cupy.cuda",
    "cupy.cuda.runtime",
    "cupy.fft",
    "cupy.lib.stride_tricks",
    "cupy.linalg",
    "cupy.random",
    "cupyx",
    "cupyx.scipy.special",
)
_CLASSES: Final = (
    "cupy.ndarray",
    "cupy.cuda.Device",
    "cupy.cuda.Event",
    "cupy.cuda.Graph",
    "cupy.cuda.MemoryPointer",
    "cupy.cuda.MemoryPool",
    "cupy.cuda.PinnedMemoryPool",
    "cupy.cuda.Stream",
    "cupy.random.Generator",
    "cupy.random.RandomState",
)
#: What `ufunc.at` is asked with.
_DTYPES: Final = (
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "bfloat16",
)
_KINDS: Final[Mapping[object, str]] = {
    inspect.Parameter.VAR_POSITIONAL: "*{}",
    inspect.Parameter.VAR_KEYWORD: "**{}",
}


def described() -> Description:
    """The description of the cupy that is installed, as JSON has it.

    Raises:
      ImportError: cupy or `ml_dtypes` is not installed.

    """
    importlib.import_module("ml_dtypes")
    cupy = importlib.import_module("cupy")
    modules = {name: importlib.import_module(name) for name in _MODULES}
    return {
        "cupy": cupy.__version__,
        "modules": {name: _names(module) for name, module in modules.items()},
        "classes": {name: _methods(_at(name)) for name in _CLASSES},
        "ufuncs": {
            f"{where}.{name}": _ufunc(value)
            for where, module in modules.items()
            for name, value in vars(module).items()
            if isinstance(value, cupy.ufunc) and not name.startswith("_")
        },
    }


def _at(name: str) -> type:
    module, _, attribute = name.rpartition(".")
    kind: type = getattr(importlib.import_module(module), attribute)
    return kind


def _names(module: types.ModuleType) -> dict[str, str]:
    """What kind each public name of a module is, and the signature of functions."""
    entries = {}
    for name in sorted(dir(module)):
        value = getattr(module, name)
        foreign = isinstance(value, types.ModuleType) and not value.__name__.startswith("cupy")
        if name.startswith("_") or foreign or name == "annotations":
            continue
        entries[name] = _kind(name, value)
    return entries


def _kind(name: str, value: object) -> str:
    same = vars(np).get(name)
    if isinstance(value, types.ModuleType):
        return "module"
    if same is not None and (same is value or (not callable(value) and same == value)):
        return "numpy"
    if isinstance(value, type):
        return "class"
    if type(value).__name__ == "ufunc":
        return "ufunc"
    return f"({_signature(value)})" if callable(value) else "constant"


def _methods(kind: type) -> dict[str, str]:
    """The methods of a class with their signatures, and its attributes."""
    entries = {}
    for name in sorted(dir(kind)):
        if not name.startswith("_") or (name.startswith("__") and name not in dir(object)):
            value = getattr(kind, name)
            entries[name] = f"({_signature(value)})" if callable(value) else "attribute"
    return {name: text for name, text in entries.items() if not name.startswith("__pyx")}


def _signature(value: Callable[..., object]) -> str:
    """Names of parameters, `=` behind those that have a default; `...` where nothing tells."""
    try:
        parameters = [*inspect.signature(value).parameters.values()]
    except (TypeError, ValueError):
        return _documented(value)
    parts: list[str] = []
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not any(p[0] == "*" for p in parts):
            parts.append("*")
        mark = "" if parameter.default is parameter.empty else "="
        parts.append(_KINDS.get(parameter.kind, "{}").format(parameter.name) + mark)
    return _without_self(parts)


def _documented(value: Callable[..., object]) -> str:
    """The signature in the first line of a docstring, where compiled functions have it."""
    lines = (getattr(value, "__doc__", None) or "").strip().splitlines()
    match = re.match(r"[\w.]+\((.*)\)", lines[0]) if lines else None
    if match is None:
        return "..."
    parts: list[str] = []
    for part in re.split(r",\s*(?![^()]*\))", match[1]):
        name, _, default = part.partition("=")
        parts.append(name.split(":")[0].split()[-1] + ("=" if default else "") if name else "")
    return _without_self([part for part in parts if part])


def _without_self(parts: list[str]) -> str:
    return ",".join(parts[1:] if parts[:1] == ["self"] else parts)


def _ufunc(ufunc: Any) -> UfuncEntry:
    # With `ml_dtypes` imported before cupy, the loops of bfloat16 are among them as `E`.
    loops = " ".join(ufunc.types)
    vector, index = _host_array(np.float32), _host_array(np.int32)
    asked = {
        "accumulate": lambda: ufunc.accumulate(vector),
        "reduce": lambda: ufunc.reduce(vector),
        "reduceat": lambda: ufunc.reduceat(vector, index),
    }
    entry: UfuncEntry = {
        "nin": ufunc.nin,
        "nout": ufunc.nout,
        "loops": loops,
        "methods": [name for name, call in asked.items() if _is_offered(call)],
    }
    if ufunc.nin == 2 and ufunc.nout == 1:
        at = [it for it in _DTYPES if _is_offered(functools.partial(_scattered, ufunc, it))]
        if at:
            entry["at"] = at
    return entry


def _scattered(ufunc: Any, dtype: str) -> None:
    ufunc.at(_host_array(dtype), _host_array(np.int32), _host_array(dtype))


def _is_offered(call: Callable[[], object]) -> bool:
    """Whether a call gets past cupy's own checks, to where it would need a driver."""
    try:
        call()
    except (NotImplementedError, TypeError, ValueError):
        return False
    except Exception as error:
        if "driver" in str(error).lower() or "device" in str(error).lower():
            return True
        raise
    return True


_HOST: Final = np.zeros(64, np.uint8)


def _host_array(dtype: DTypeLike) -> Any:
    """A cupy array of two elements that lies over host memory; nothing may compute with it."""
    cupy = importlib.import_module("cupy")
    memory = cupy.cuda.UnownedMemory(_HOST.ctypes.data, _HOST.nbytes, _HOST, 0)
    return cupy.ndarray((2,), np.dtype(dtype), cupy.cuda.MemoryPointer(memory, 0))


def main(arguments: list[str] | None = None) -> int:
    """Write the description, or say whether the written one has drifted; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare and write nothing")
    options = parser.parse_args(arguments)
    current = described()
    if not options.check:
        DESCRIPTION.write_text(json.dumps(current, sort_keys=True, separators=(",", ":")) + "\n")
        return 0
    written = json.loads(DESCRIPTION.read_text())
    if written["cupy"] != current["cupy"]:
        versions = f"{written['cupy']}, installed is {current['cupy']}"
        print(f"{DESCRIPTION.name} describes cupy {versions}")  # noqa: T201
        return 1
    differing = sorted(_differences(written, current, ""))
    for line in differing:
        print(line)  # noqa: T201
    return 1 if differing else 0


def _differences(written: object, current: object, where: str) -> list[str]:
    if isinstance(written, Mapping) and isinstance(current, Mapping):
        return [
            line
            for key in written.keys() | current.keys()
            for line in _differences(written.get(key), current.get(key), f"{where}/{key}")
        ]
    return (
        [] if written == current else [f"{where}: {written!r} is written, {current!r} is installed"]
    )


if __name__ == "__main__":
    sys.exit(main())
