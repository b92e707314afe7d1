"""Replays: one case with what it takes to run it again, and the plain code that shows it.

A replay is a JSON file `{"replay": 1, "case": …, "backend": …, "finding": …}`; `sessrun replay
FILE --backend X` runs it and says whether it still fails.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sessrun.conformance.plain import python_lines
from sessrun.spec import tensors
from sessrun.spec.cases.model import Case
from sessrun.spec.cases.readable import exact
from sessrun.spec.forms import JsonObject
from sessrun.spec.loader import read_json
from sessrun.spec.schema import SpecError
from sessrun.spec.writing import write_text

__all__ = ["finding_of", "python_lines", "read_replay", "replay_form", "write_replay"]

#: The steps that open something for later steps, and the member of a step that names it.
_MAKES: Final = {"open": "session", "setup": "handle", "callable": "handle", "start": "thread"}


def replay_form(case: Case, line: Mapping[str, Any], backend: str) -> dict[str, object]:
    """The replay of a case whose result line is given."""
    return {
        "replay": 1,
        "case": case.to_json(),
        "backend": backend,
        "result": line["result"],
        "finding": line.get("finding"),
        "python": python_lines(case, line.get("finding")),
    }


def write_replay(path: Path, case: Case, line: Mapping[str, Any], backend: str) -> None:
    """Write the replay of a failed case."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(replay_form(case, line, backend), indent=1, ensure_ascii=False)
    # Half a surrogate pair has no UTF-8; its escape is what JSON reads back as the same.
    write_text(path, text + "\n", errors="backslashreplace")


def read_replay(path: Path) -> Case:
    """The case of a replay file, or of a vector's file.

    Raises:
      SpecError: it is neither, or its steps name a graph or a session that is not there, or a
        tensor in it is ill-formed.

    """
    form = read_json(path)
    if isinstance(form, dict) and "replay" in form:
        if form["replay"] != 1:
            raise SpecError(str(path), "replay", f"format {form['replay']!r} is not known, 1 is")
        form = form.get("case")
    case = Case.from_json(exact(form), str(path))
    _check_references(case, str(path))
    _check_tensors(list(case.steps), str(path), "steps")
    return case


def finding_of(path: Path) -> JsonObject | None:
    """The finding of a replay file; None if it has none.

    Raises:
      SpecError: the file is no JSON.

    """
    form = read_json(path)
    finding = form.get("finding") if isinstance(form, dict) else None
    return finding if isinstance(finding, Mapping) else None


def _check_references(case: Case, source: str) -> None:
    """Check that steps of an engine case name graphs that it has and things that are open."""
    known: dict[str, set[str]] = {
        "graph": set(case.graphs),
        "session": set(),
        "handle": set(),
        "thread": set(),
    }
    for index, outer in enumerate(case.steps if case.surface == "engine" else ()):
        for step in (outer, outer["step"]) if "step" in outer else (outer,):
            opened = _MAKES.get(step["do"], "")
            used = {
                "graph": step.get("graph"),
                "session": step.get("session"),
                "handle": step.get("handle"),
                "thread": step.get("thread"),
            }
            for kind, name in used.items():
                if name is None:
                    continue
                if kind == opened:
                    known[kind].add(name)
                elif name not in known[kind]:
                    reason = f"no {kind} is called {name!r} at this step"
                    raise SpecError(source, f"steps.{index}.{kind}", reason)


def _check_tensors(form: object, source: str, path: str) -> None:
    """Check the tensors in a form (dtype, shape and data), except those with paths of files."""
    if isinstance(form, list):
        for index, part in enumerate(form):
            _check_tensors(part, source, f"{path}.{index}")
    elif isinstance(form, Mapping):
        if form.keys() >= {"dtype", "shape", "data"} and not _with_paths(form["data"]):
            try:
                tensors.decode(form)
            except tensors.TensorError as error:
                raise SpecError(source, path, str(error)) from error
        for key, part in form.items():
            _check_tensors(part, source, f"{path}.{key}")


def _with_paths(data: object) -> bool:
    return isinstance(data, list) and any(isinstance(item, Mapping) for item in data)
