"""spec/run.md: its codes exist, and each term of its glossary is defined once, where it says."""

from __future__ import annotations

import re
from pathlib import Path

from sessrun.spec import errors
from sessrun.spec.schema import load_schema
from sessrun.spec.tables.manual import CONVENTIONS

PAGE = (Path(__file__).resolve().parents[1] / "spec" / "run.md").read_text(encoding="utf-8")
SECTIONS = dict(
    re.findall(r"^## (\d)\. [^\n]*\n(.*?)(?=^## )", PAGE, flags=re.MULTILINE | re.DOTALL)
)
#: What is written in italics in the text for the term of the glossary.
FORMS = {"cancelled": "cancelled", "start, finish": "starts", "execute": "execute"}


def test_codes_are_those_of_the_spec() -> None:
    named = set(re.findall(r"`([A-Z_]{4,})`", PAGE))
    assert named
    assert named <= set(errors.BY_NAME)


def test_each_term_is_defined_once_in_its_section() -> None:
    rows = re.findall(r"^\| ([a-z, ]+) \| .* \| (\d) \|$", PAGE, flags=re.MULTILINE)
    assert len(rows) > 15
    wrong = []
    for term, number in rows:
        form = FORMS.get(term, term)
        marks = re.compile(rf"\*+{form}(?:e?s|ed|d|)?\.?\*+")
        places = [section for section, text in SECTIONS.items() if marks.search(text)]
        if places != [number]:
            wrong.append((term, number, places))
    assert not wrong


def test_the_page_says_what_definitions_leave_unsaid() -> None:
    assert CONVENTIONS in " ".join(PAGE.split())


def test_the_page_explains_each_field_of_a_declaration() -> None:
    explained = set(re.findall(r"`(\w+)`", PAGE[PAGE.index("## Operations") :]))
    fields = set(load_schema("ops")["additionalProperties"]["properties"])
    assert fields <= explained
