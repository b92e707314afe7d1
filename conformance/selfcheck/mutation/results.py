"""The file of a campaign's results: a line for each mutant, so that a cut campaign goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sessrun.conformance.selfcheck.mutation.campaign import Mutant, Outcome
from sessrun.conformance.selfcheck.mutation.equivalents import Equivalents

__all__ = ["Results"]


class Results:
    """What became of mutants, as JSON lines.

    A line holds for the cases that were asked and for the function as it was: of other plans it is
    not read, and the key of a mutant changes with its function.

    Args:
      path: the file, made if it is not there.
      cases: what tells the plans apart whose cases were asked.

    """

    def __init__(self, path: Path, cases: str) -> None:
        self._path, self._cases = path, cases
        path.parent.mkdir(parents=True, exist_ok=True)
        self._known: dict[str, Mapping[str, Any]] = {}
        if path.exists():
            text = path.read_text(encoding="utf-8")
            if text and not text.endswith("\n"):  # its last line was cut
                path.write_text(text + "\n", encoding="utf-8")
            for line in text.splitlines():
                form = _form(line)
                if form.get("cases") == cases:
                    self._known[form["key"]] = form

    def split(
        self, mutants: Sequence[Mutant], equivalents: Equivalents
    ) -> tuple[list[Outcome], list[Mutant]]:
        """The outcomes that the file has, and the mutants that it does not have."""
        outcomes, left = [], []
        for mutant in mutants:
            form = self._known.get(mutant.key)
            if form is None:
                left.append(mutant)
                continue
            reason = equivalents.reason(mutant.key)
            killed_by = {} if reason else form["killed_by"]
            outcomes.append(
                Outcome(mutant, form["entered_by"], killed_by, 0, reason, "", differs=False)
            )
        return outcomes, left

    def add(self, outcome: Outcome) -> None:
        """Append a line."""
        form = outcome.to_json() | {"cases": self._cases}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(form) + "\n")


def _form(line: str) -> Mapping[str, Any]:
    """A line's object; an empty one if the line was cut."""
    try:
        form = json.loads(line)
    except ValueError:
        return {}
    return form if isinstance(form, dict) else {}
