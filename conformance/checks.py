"""The registry of named checks: what the case language cannot say, as functions of a namespace.

A check `check(tf, **args) -> data` runs where the namespace lives, calls only public names of it,
and returns plain data that the case's expectation judges; it never judges itself. A case calls it
by a name under this module's, `sessrun.conformance.checks.GROUP.CHECK`: frozen vectors hold these
names, so a group keeps its name wherever its functions are.
"""

from __future__ import annotations

import importlib
from types import MappingProxyType, ModuleType
from typing import Final

__all__ = ["GROUPS", "group_of"]

#: Each group of checks, and the module under `subjects` that has its functions.
GROUPS: Final = MappingProxyType(
    {
        "concurrency": "concurrency.checks",
        "errors": "errors.checks",
        "fetch": "fetch.checks",
        "gpu": "gpu.checks",
        "gradients": "gradients.checks",
        "large": "run.checks.large",
        "managed": "managed.checks.managed",
        "managed_parts": "managed.checks.managed_parts",
        "programs": "programs.checks",
        "queue_histories": "queues.checks.queue_histories",
        "queue_runners": "queues.checks.queue_runners",
        "run": "run.checks.run",
        "static": "composites.checks",
        "summaries": "summaries.checks",
        "traced_graphs": "tracing.checks.traced_graphs",
        "tracing": "tracing.checks.tracing",
        "variables": "variables.checks",
        "waiting": "waiting.checks",
    }
)


def group_of(name: str) -> ModuleType | None:
    """The module with the checks of a group, or None if there is no such group."""
    module = GROUPS.get(name)
    return importlib.import_module(f"sessrun.conformance.subjects.{module}") if module else None
