"""`sessrun declare`: what it says of an adapter that declares already."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessrun.cli.main import main
from sessrun.conformance import declaring

ADAPTER = """
from sessrun.adapters.backend import Description
from sessrun.adapters.minimal import MinimalEngine


class Engine(MinimalEngine):
    def describe(self):
        return Description("one", "1.0", frozenset(), operations={operations})


def backend():
    return Engine()
"""


@pytest.mark.parametrize(("operations", "is_told"), [('{"Neg": ["int32"]}', True), ("None", False)])
def test_it_tells_that_a_declaration_hides_the_rest(
    operations: str,
    is_told: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "one.py").write_text(ADAPTER.replace("{operations}", operations), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(declaring, "measure", lambda *_: ())
    assert main(["declare", "one:backend"]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert ("declares 1 operation: what it declines for that is not measured" in told) == is_told
