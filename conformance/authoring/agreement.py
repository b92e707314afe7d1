"""Compares authored cases, as they are recorded now, with the vectors frozen from them earlier."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from sessrun.spec.cases.model import Case
from sessrun.spec.cases.readable import exact_tensor
from sessrun.spec.forms import Json, JsonObject
from sessrun.spec.rules.numeric import difference
from sessrun.spec.tensors import decode

__all__ = ["disagreements", "is_finding"]


def disagreements(folder: str, cases: Iterable[Case], vectors: Path) -> Iterator[str]:
    """The differences between a folder's vectors and its authored cases, as recorded now.

    Values that TensorFlow computes while a case is recorded may differ within the case's own
    contract, since processors round differently.

    Args:
      folder: the name of the folder of vectors.
      cases: all authored cases of the folder.
      vectors: the folder that holds all folders of vectors.

    Yields:
      A line for each case without a vector, vector without a case, and case that differs.

    """
    frozen = {
        f"{folder}/{path.stem}": json.loads(
            path.read_text(encoding="utf-8"), object_hook=exact_tensor
        )
        for path in sorted((vectors / folder).glob("*.json"))
    }
    for case in cases:
        vector = frozen.pop(case.id, None)
        if vector is None:
            yield f"{case.id}: no vector is frozen of this case"
        elif vector["hash"] != case.hash and not _agree(_content(case.to_json()), _content(vector)):
            yield f"{case.id}: the vector differs from the case as it is recorded now"
    for id_, vector in frozen.items():
        if not is_finding(vector):
            yield f"{id_}: no authored case is recorded as this vector"


def is_finding(vector: JsonObject) -> bool:
    """Whether a vector was frozen from a finding: no authored case records it."""
    provenance = vector["provenance"]
    return isinstance(provenance, dict) and str(provenance["generator"]).startswith("finding ")


def _content(form: JsonObject) -> dict[str, Json]:
    return {key: part for key, part in form.items() if key not in {"hash", "provenance"}}


def _agree(case: Json, vector: Json) -> bool:
    """Whether two parts of cases are equal, `near` tensors by their contract."""
    if isinstance(case, dict) and isinstance(vector, dict):
        if case.keys() != vector.keys():
            return False
        if case.keys() == {"near", "contract"} and case["contract"] == vector["contract"]:
            (want,), (got,) = vector["near"].values(), case["near"].values()
            return difference(case["contract"], decode(want), decode(got)) is None
        return all(_agree(case[key], vector[key]) for key in case)
    if isinstance(case, list) and isinstance(vector, list):
        return len(case) == len(vector) and all(map(_agree, case, vector))
    return bool(case == vector)
