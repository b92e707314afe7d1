"""Authored cases and vectors are two forms of one case: recorded again, they agree."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest

from sessrun.conformance.authoring.agreement import disagreements
from sessrun.conformance.authoring.freeze import authored_cases
from sessrun.spec.cases.model import Case
from sessrun.spec.cases.readable import exact
from sessrun.spec.loader import SPEC_DIR

VECTORS = SPEC_DIR / "vectors"


@pytest.mark.tensorflow
@pytest.mark.timeout(600)
def test_every_vector_is_what_its_authored_case_records() -> None:
    command = [sys.executable, "-m", "sessrun.cli.main", "freeze", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_folder_of_vectors_has_authored_cases() -> None:
    assert sorted(authored_cases()) == sorted(path.name for path in VECTORS.iterdir())


def _cases(folder: str) -> list[Case]:
    paths = sorted((VECTORS / folder).glob("*.json"))
    return [Case.from_json(exact(json.loads(path.read_text())), path.name) for path in paths]


def test_what_differs_is_named() -> None:
    cases = _cases("callables")
    assert not list(disagreements("callables", cases, VECTORS))
    changed = [dataclasses.replace(cases[0], title="Another rule."), *cases[2:]]
    lines = list(disagreements("callables", changed, VECTORS))
    assert [line.partition(":")[0] for line in lines] == [cases[0].id, cases[1].id]


def test_a_case_without_a_vector_is_named(tmp_path: Path) -> None:
    (case, *_) = _cases("callables")
    (line,) = disagreements("callables", [case], tmp_path)
    assert line == f"{case.id}: no vector is frozen of this case"


def test_near_values_agree_by_their_contract() -> None:
    (case,) = [c for c in _cases("networks") if c.id.endswith("softmax-bears-large-logits")]
    text = json.dumps(case.to_json()["steps"])
    data = "wy3VM1I5zi9ONV84"
    assert data in text
    for other, count in (("wy3UM1I5zi9NNV84", 0), ("wy3VM1I5zi9ONF84", 1)):
        steps = tuple(json.loads(text.replace(data, other)))
        changed = dataclasses.replace(case, steps=steps)
        lines = [line for line in disagreements("networks", [changed], VECTORS) if case.id in line]
        assert len(lines) == count
