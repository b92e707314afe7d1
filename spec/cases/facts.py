"""Facts of a machine, which decide what applies there: observed by the host, never declared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

__all__ = ["FACTS", "OF_GPUS", "facts_of"]

#: What a case's `needs` and a clause's `condition` may name.
FACTS: Final = frozenset({"gpu", "no-gpu", "two-gpus", "two-cpus", "file-modes"})
#: Those that a machine without a GPU lacks.
OF_GPUS: Final = frozenset({"gpu", "two-gpus"})


def facts_of(environment: Mapping[str, Any]) -> frozenset[str]:
    """The facts that hold on a machine, from what a record says of it.

    Args:
      environment: has `gpus`, `cpus` and `file_modes`.

    """
    gpus = environment.get("gpus")
    facts = {"gpu" if gpus else "no-gpu"}
    if isinstance(gpus, list | tuple) and len(gpus) > 1:
        facts.add("two-gpus")
    cpus = environment.get("cpus", 1)
    if isinstance(cpus, int) and cpus > 1:
        facts.add("two-cpus")
    if environment.get("file_modes"):
        facts.add("file-modes")
    return frozenset(facts)
