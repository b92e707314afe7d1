"""The mutants that no program can tell from the original, each with the reason.

An entry is known by a hash of the function's code, without layout and comments, and of the change:
it holds wherever the function stands, and lapses when the function's code changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sessrun.conformance.selfcheck.mutation.functions import SourceFunction
from sessrun.conformance.selfcheck.mutation.sites import Site, sites_of
from sessrun.spec.loader import read_toml
from sessrun.spec.schema import SpecError

__all__ = ["Equivalents", "load_equivalents", "mutation_key"]

_FILE: Final = Path(__file__).with_name("equivalents.toml")


@dataclass(frozen=True, slots=True)
class Equivalents:
    """Keys of equivalent mutants, with the reasons."""

    reasons: Mapping[str, str]

    def reason(self, key: str) -> str:
        """Why a mutant is equivalent; empty if it is not listed."""
        return self.reasons.get(key, "")


def load_equivalents(path: Path = _FILE) -> Equivalents:
    """The list.

    Raises:
      SpecError: an entry has no reason.

    """
    reasons = {}
    for key, form in read_toml(path).items():
        if not form.get("reason"):
            raise SpecError(str(path), key, "an equivalent mutant has a `reason`")
        reasons[key] = form["reason"]
    return Equivalents(reasons)


def mutation_key(function: SourceFunction, site: Site, diff: Sequence[str]) -> str:
    """The key of a mutant: 16 hexadecimal digits over the function's code and the change.

    Sites of the same operator on equal lines are told apart by their order in the function.
    """
    same = [s.occurrence for s in sites_of(function) if s.operator == site.operator]
    parts = [function.digest(), site.operator, str(same.index(site.occurrence))]
    parts += [line[:1] + "".join(line[1:].split()) for line in diff]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
