"""Programs that only we and TensorFlow are asked: module paths, `tf.test`, oneDNN's oddities.

What every backend is asked stands in `conformance/subjects/programs`. An error of ours must be of
TensorFlow's class (it may be of another one besides) and have the same code.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

import sessrun.reference as ours
from sessrun.conformance.subjects.programs.described import described
from sessrun.conformance.subjects.programs.registry import NOT_ASKED
from sessrun.spec.cases.judge import judge
from sessrun.spec.cases.model import Case
from sessrun.spec.cases.values import describe

pytestmark = [pytest.mark.tensorflow, pytest.mark.filterwarnings("ignore")]

#: Every module of programs here.
SUBJECTS = [
    importlib.import_module(path.stem)
    for path in sorted(Path(__file__).parent.glob("*_behaviours.py"))
]
PROGRAMS = {
    f"{module.__name__.removesuffix('_behaviours')}-{name}": program
    for module in SUBJECTS
    for name, program in module.BEHAVIOURS.items()
}
PROGRAMS |= {entry.name: entry.program for entry in NOT_ASKED}
CASE = Case(
    id="programs/compared",
    title="A program gives what TensorFlow gives.",
    surface="api",
    clauses=(),
    steps=({"do": "check", "name": "", "expect": {"oracle": {"contract": "close(1e-4, 1e-5)"}}},),
)


def observed(tf: Any, name: str) -> list[dict[str, Any]]:
    with tf.Graph().as_default():
        value = describe(described(PROGRAMS[name](tf)))
    return [{"step": "0", "outcome": "value", "value": value}]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_tensorflow_gives(theirs: Any, name: str) -> None:
    judgement = judge(CASE, observed(ours, name), observed(theirs, name))
    assert judgement.result == "pass", judgement.finding and judgement.finding.reason
