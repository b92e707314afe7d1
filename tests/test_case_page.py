"""docs/cases.md shows a case that is one: it is read, and the reference passes it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from sessrun.adapters.registry import load
from sessrun.spec.cases import engine
from sessrun.spec.cases.judge import judge
from sessrun.spec.cases.model import Case

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cases.md"


def test_the_example_case_is_one_and_passes() -> None:
    found = re.search(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    case = Case.from_json(json.loads(found[1]), str(PAGE))
    backend = load("reference")
    assert judge(case, engine.interpret(case, backend)).result == "pass"
