"""A folder for each subject of the suite, with all that judges it.

Each subject has the modules that it needs: `properties.py` (generators of cases, registered with
`prop`), `cases.py` (authored cases, frozen as vectors), `faults.py` (faulty backends that break its
clauses), and beside them models and generators of its own. The registries import the modules of
their kind from every subject by `load_modules`.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil

__all__ = ["load_modules", "subjects_with"]


def subjects_with(kind: str) -> list[str]:
    """The subjects that have a module of this kind (`properties`, `cases`, `faults`), sorted."""
    return [
        subject.name
        for subject in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name)
        if importlib.util.find_spec(f"{__name__}.{subject.name}.{kind}") is not None
    ]


def load_modules(kind: str) -> None:
    """Import the module of this kind from every subject that has one."""
    for subject in subjects_with(kind):
        importlib.import_module(f"{__name__}.{subject}.{kind}")
