"""The oracle leaves nothing behind, whatever it was doing when the run ended."""

import tempfile
import time
from pathlib import Path

import pytest

from sessrun.conformance.oracle import Oracle
from sessrun.conformance.patience import PROBE


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the exchange folders of workers are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_an_oracle_that_is_still_starting_is_ended_too(folders: Path) -> None:
    oracle = Oracle()
    oracle.ask_ahead(PROBE)
    until = time.monotonic() + 10
    while not list(folders.iterdir()) and time.monotonic() < until:
        time.sleep(0.001)
    assert list(folders.iterdir()), "its worker starts"
    oracle.shutdown()
    assert not list(folders.iterdir())


def test_a_case_that_was_asked_ahead_is_answered_once(folders: Path) -> None:
    with Oracle() as oracle:
        oracle.ask_ahead(PROBE)
        answer = oracle(PROBE)
        assert oracle(PROBE) is answer
    assert not list(folders.iterdir())
