"""Every operation that can be drawn says in words what fixes its value."""

import re

import pytest

from sessrun.cli.main import main
from sessrun.spec.definitions import DEFINITIONS
from sessrun.spec.loader import SPEC_DIR, load_definitions, load_operations
from sessrun.spec.tables.ops import OPERATIONS

#: What the table of operations may have at most, in bytes: every program reads it.
MOST_BYTES = 400_000


def names_in(text: str) -> set[str]:
    """The operations that a definition refers to."""
    return set(re.findall(r"`([A-Z]\w*)", text)) & OPERATIONS.keys()


def test_every_operation_that_can_be_drawn_has_a_definition() -> None:
    drawn = {name for name, one in OPERATIONS.items() if one.domain is not None}
    assert not (drawn | DEFINITIONS.keys()) - load_definitions().keys()


def test_a_definition_says_more_than_the_summary() -> None:
    summaries = {name: one.summary for name, one in load_operations().items()}
    said = {name for name, text in load_definitions().items() if text == summaries[name]}
    assert not said


def test_a_definition_refers_to_operations_that_are_defined_without_it() -> None:
    definitions = load_definitions()

    def reached(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, f"{' -> '.join(path)} -> {name}"
        assert name in definitions, f"{path[-1]} refers to {name}"
        for other in names_in(definitions[name]) - {name}:
            reached(other, (*path, name))

    for name in definitions:
        reached(name, ())


def test_definitions_are_no_part_of_the_table_that_programs_read() -> None:
    table = (SPEC_DIR / "tables" / "ops.py").read_bytes()
    assert len(table) <= MOST_BYTES
    assert b"definition" not in table


def test_explain_shows_the_definition_of_an_operation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "FloorMod"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert load_definitions()["FloorMod"] in shown
    assert "computed sessrun.spec.definitions.elementwise" in shown
