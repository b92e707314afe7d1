"""The namespace: which module is imported for a public name, and the groups that names are in.

Where an object is defined, `@public` says its dotted names (`add`, `math.add`); the generated index
`public_names` says which module that is, so that a module is imported once a program asks for one
of its names. A group (`math`) is a module made here, or the submodule of that name (`nest`).
"""

from __future__ import annotations

import functools
import importlib
import sys
from types import ModuleType
from typing import Any, Final

from sessrun.reference.public import PUBLIC
from sessrun.reference.public_names import NAMES

__all__ = ["assemble", "promise", "promised", "public_object"]

PACKAGE: Final = "sessrun.reference"
#: Under what a group keeps the names that it promises, each with its module and its dotted name.
_PROMISED: Final = "_promised"


def assemble(package: ModuleType) -> None:
    """Promise every public name in the package and its groups, which are made."""
    module = ""
    for line in NAMES.splitlines():
        if not line.startswith(" "):
            module = line
            continue
        for dotted in line.partition(" (")[0].split():
            promise(package, dotted, module)
    _group(package, "compat").v1 = package  # type: ignore[attr-defined]  # a module made here
    package.raw_ops = _RawOps()  # type: ignore[attr-defined]  # as TensorFlow has it


def promise(package: ModuleType, dotted: str, module: str) -> None:
    """Let a public name of the package be the object that this module of the runtime declares."""
    *groups, name = dotted.split(".")
    target = functools.reduce(_group, groups, package)
    _names_promised_by(target)[name] = (module, dotted)


def public_object(group: ModuleType, name: str) -> Any:
    """The object of a promised name, which the group has from now on.

    Raises:
      AttributeError: the group has no such name.

    """
    try:
        source, dotted = vars(group)[_PROMISED][name]
    except KeyError:
        raise AttributeError(f"module {group.__name__!r} has no attribute {name!r}") from None
    full = f"{PACKAGE}.{source}"
    importlib.import_module(full)
    value = PUBLIC[full][dotted]
    setattr(group, name, value)
    return value


def promised(group: ModuleType) -> set[str]:
    """The names that a group promises."""
    return set(vars(group).get(_PROMISED, ()))


def _group(parent: ModuleType, name: str) -> ModuleType:
    """The group of that name in another one, made if there is none."""
    full = f"{parent.__name__}.{name}"
    group = sys.modules.get(full)
    if group is None:
        group = ModuleType(full, f"The names of `{name}`.")
        sys.modules[full] = group  # a program may import it as it does a module of TensorFlow
    setattr(parent, name, group)
    return group


def _names_promised_by(group: ModuleType) -> dict[str, tuple[str, str]]:
    """What a group promises; one that is asked for the first time is given means to keep it."""
    names: dict[str, tuple[str, str]] | None = vars(group).get(_PROMISED)
    if names is None:
        names = vars(group)[_PROMISED] = {}
        if group.__name__ != PACKAGE:  # which has functions of its own
            group.__getattr__ = functools.partial(public_object, group)  # type: ignore[method-assign]  # PEP 562
            group.__dir__ = functools.partial(_all_names, group)  # type: ignore[method-assign]  # the same
    return names


def _all_names(group: ModuleType) -> list[str]:
    return sorted({*vars(group), *promised(group)})


class _RawOps:
    """Every declared operation by its op type: `raw_ops.AddV2(x=..., y=...)`."""

    def __getattr__(self, op_type: str) -> Any:
        from sessrun.reference.build.raw_wrappers import wrapper  # noqa: PLC0415 - needed by few programs

        return wrapper(op_type)
