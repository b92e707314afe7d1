"""The suite by subject: a folder for each, with all that judges it.

A subject is named for the file of its clauses, `spec/clauses/SUBJECT.toml`; three that have no file
of their own say whose clauses they judge. In its folder are

- `cases/`: authored cases, a module for each folder of `spec/vectors`; not in the wheel;
- `faults/`: faulty backends, each of which breaks one clause;
- `properties`: generators of cases, registered with `prop`;
- `checks`: named checks, what the case language cannot say;

and beside them the generators that they use. A kind is a module, or a package if there
is much of it. The registries import the modules of the other kinds from every subject by
`load_modules`; of checks `sessrun.conformance.checks` has a table.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator

__all__ = ["load_modules", "modules_of"]


def modules_of(kind: str) -> Iterator[str]:
    """The dotted names of all modules of a kind (`properties`, `cases`, `faults`), sorted."""
    for subject in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        name = f"{__name__}.{subject}.{kind}"
        spec = importlib.util.find_spec(name)
        if spec is None:
            continue
        folders = spec.submodule_search_locations
        if folders is None:
            yield name
        else:
            modules = sorted(module.name for module in pkgutil.iter_modules(folders))
            yield from (f"{name}.{module}" for module in modules)


def load_modules(kind: str) -> None:
    """Import every module of this kind."""
    for name in modules_of(kind):
        importlib.import_module(name)
