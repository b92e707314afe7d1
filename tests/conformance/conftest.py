"""What the tests of the suite share: where workers find the hostile backends."""

import cut_run
import pytest


@pytest.fixture(autouse=True)
def _workers_find_the_hostile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", cut_run.PATHS)
