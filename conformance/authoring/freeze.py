"""Freezes authored cases and findings as vectors, after the oracle has agreed to them.

A vector is written only if TensorFlow passes it in the oracle's configuration and in its
default one; one that needs a GPU, if the reference passes it on simulated GPUs. A vector that
exists is immutable: a changed case needs `replace`, which is for vectors that no release has
published.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sessrun.conformance.authoring.record import AUTHORED, Authored, record
from sessrun.conformance.subjects import load_modules
from sessrun.spec.cases import judge as judging
from sessrun.spec.cases.forms import Observation
from sessrun.spec.cases.model import Case, stored_form
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.forms import JsonObject
from sessrun.spec.loader import SPEC_DIR, load_clauses
from sessrun.spec.volumes import no_clause
from sessrun.spec.writing import write_bytes

__all__ = ["ORACLES", "FreezeReport", "authored_cases", "freeze_cases", "record_folder"]

#: The configurations of TensorFlow that must agree to a vector.
ORACLES: Final = ("tensorflow#oracle", "tensorflow")

#: The oracles of a vector that needs a GPU, which the machine that freezes it may lack.
SIMULATED_ORACLES: Final = ("reference#simulated-gpu=2",)

Observe = Callable[[Case], list[Observation]]


@dataclass(slots=True)
class FreezeReport:
    """The result of freezing: the ids of cases written, unchanged, and refused with the reason."""

    written: list[str]
    unchanged: list[str]
    refused: dict[str, str]


def authored_cases() -> Mapping[str, list[Authored]]:
    """The authored cases by their folder of vectors, as `large-values`, sorted by folder."""
    load_modules("cases")
    folders: dict[str, list[Authored]] = {}
    for authored in AUTHORED.values():
        folders.setdefault(authored.subject, []).append(authored)
    return dict(sorted(folders.items()))


def record_folder(folder: str, builder: Callable[[], Namespace]) -> list[Case]:
    """Record every authored case of a folder of vectors.

    Args:
      folder: the name of the folder under `spec/vectors`.
      builder: gives the namespace that builds the GraphDefs of engine cases, if there are any.

    """
    authored = authored_cases()[folder]
    namespace = builder() if any(case.surface == "engine" for case in authored) else None
    return [record(case, namespace) for case in authored]


def freeze_cases(
    cases: Iterable[Case],
    oracles_of: Callable[[Case], Mapping[str, Observe]],
    *,
    generator: str,
    replace: bool = False,
    folder: Path = SPEC_DIR / "vectors",
) -> FreezeReport:
    """Freeze cases to which every oracle agrees.

    Args:
      cases: the cases.
      oracles_of: from a case to its oracles: name to a function that gives the oracle's
        observations of a case.
      generator: what made the cases, for the provenance.
      replace: whether a vector that exists may change.
      folder: the folder of the vectors.

    """
    report = FreezeReport([], [], {})
    for case in cases:
        path = folder / f"{case.id}.json"
        old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        if old is not None and old.get("hash") == case.hash:
            report.unchanged.append(case.id)
            continue
        oracles = oracles_of(case)
        reason = _refusal(case, oracles, old, replace=replace)
        if reason is not None:
            report.refused[case.id] = reason
            continue
        release = [] if "gpu" in case.needs else ["tensorflow 2.21"]
        provenance = {"generator": generator, "oracle": [*release, *oracles]}
        frozen = dataclasses.replace(case, provenance=provenance)
        Case.from_json(frozen.to_json(), case.id)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, stored_form(frozen))
        report.written.append(case.id)
    return report


def _refusal(
    case: Case, oracles: Mapping[str, Observe], old: JsonObject | None, *, replace: bool
) -> str | None:
    if old is not None and not replace:
        return "a vector is immutable: give the case a new name, or use --replace before release"
    unknown = [id_ for id_ in case.clauses if id_ not in load_clauses()]
    if unknown:
        return no_clause(unknown[0])
    for name, observe in oracles.items():
        judgement = judging.judge(case, observe(case))
        if judgement.result != "pass":
            finding = judgement.finding
            where = f"step {finding.step}: {finding.reason}" if finding else ""
            return f"{name} does not agree: {judgement.result}, {where}"
    return None
