"""Small programs over the whole API beside TensorFlow's: the same values, names and refusals.

Each module of `SUBJECTS` holds programs, functions of the namespace; what one returns is written
down by `described` and compared piece by piece. An error of ours must be of TensorFlow's class
(it may be of another one besides) and have the same code.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from described import Raised, described

import sessrun.reference as ours

pytestmark = [pytest.mark.tensorflow, pytest.mark.filterwarnings("ignore")]

#: Every module of programs here; those about variables have a test of their own.
SUBJECTS = [
    importlib.import_module(path.stem)
    for path in sorted(Path(__file__).parent.glob("*_behaviours.py"))
    if not path.name.startswith("variable_")
]
PROGRAMS = {
    f"{module.__name__.removesuffix('_behaviours')}-{name}": program
    for module in SUBJECTS
    for name, program in module.BEHAVIOURS.items()
}


def outcome(tf: Any, name: str) -> Any:
    with tf.Graph().as_default():
        return described(PROGRAMS[name](tf))


def differences(found: Any, wanted: Any, place: str) -> list[str]:
    """Where two descriptions differ, one line each."""
    if isinstance(wanted, Raised) and isinstance(found, Raised):
        same = wanted.classes[0] in found.classes and wanted.code in {None, found.code}
    elif isinstance(wanted, list) and isinstance(found, list) and len(found) == len(wanted):
        pairs = enumerate(zip(found, wanted, strict=True))
        return [line for i, pair in pairs for line in differences(*pair, f"{place}[{i}]")]
    else:
        same = not isinstance(wanted, Raised) and found == wanted
    return [] if same else [f"{place}: {found}, not {wanted}"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_tensorflow_gives(theirs: Any, name: str) -> None:
    found = differences(outcome(ours, name), outcome(theirs, name), name)
    assert not found, "\n".join(found)


def test_there_are_hundreds_of_comparisons() -> None:
    def count(described_: Any) -> int:
        return sum(map(count, described_)) if isinstance(described_, list) else 1

    assert sum(count(outcome(ours, name)) for name in PROGRAMS) > 1000
