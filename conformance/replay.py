"""Replays: one case with what it takes to run it again, and the plain code that shows it.

A replay is a JSON file `{"replay": 1, "case": …, "backend": …, "finding": …}`; `sessrun replay
FILE --backend X` runs it and says whether it still fails.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sessrun.conformance.plain import python_lines
from sessrun.spec.cases.model import Case
from sessrun.spec.loader import read_json
from sessrun.spec.schema import SpecError

__all__ = ["python_lines", "read_replay", "replay_form", "write_replay"]


def replay_form(case: Case, line: Mapping[str, Any], backend: str) -> dict[str, Any]:
    """The replay of a case whose result line is given."""
    return {
        "replay": 1,
        "case": case.to_json(),
        "backend": backend,
        "result": line["result"],
        "finding": line.get("finding"),
        "python": python_lines(case),
    }


def write_replay(path: Path, case: Case, line: Mapping[str, Any], backend: str) -> None:
    """Write the replay of a failed case."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(replay_form(case, line, backend), indent=1, ensure_ascii=False)
    # Half a surrogate pair has no UTF-8; its escape is what JSON reads back as the same.
    path.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")


def read_replay(path: Path) -> Case:
    """The case of a replay file, or of a vector's file.

    Raises:
      SpecError: it is neither.

    """
    form = read_json(path)
    if isinstance(form, dict) and "replay" in form:
        if form["replay"] != 1:
            raise SpecError(str(path), "replay", f"format {form['replay']!r} is not known, 1 is")
        form = form.get("case")
    return Case.from_json(form, str(path))
