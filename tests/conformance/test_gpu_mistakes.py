"""Mistakes that only a GPU shows: each can be planted, and simulated GPUs show a slice of them."""

import ast
import dataclasses

import pytest

from sessrun.cli.main import main
from sessrun.conformance.selfcheck.gpu_mistakes.mistakes import StaleMistakeError, load_mistakes
from sessrun.conformance.selfcheck.gpu_mistakes.planted import complaint, examine
from sessrun.conformance.selfcheck.gpu_mistakes.sessions import SESSIONS

MISTAKES = load_mistakes()


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_can_be_planted(name: str) -> None:
    mistake = MISTAKES[name]
    ast.parse(mistake.planted())
    assert mistake.session in SESSIONS


@pytest.mark.slow
def test_nothing_shows_in_sessions_without_a_mistake() -> None:
    found = examine(None, list(SESSIONS))
    assert found == {name: [] for name in SESSIONS}


@pytest.mark.slow
def test_simulated_gpus_show_a_slice_of_the_mistakes(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = str(request.config.getoption("--slice-seed"))
    status = main(["selfcheck", "--gpu-mistakes", "--slice", "5", "--seed", seed, "--jobs", "1"])
    told = capsys.readouterr().out
    assert status == 0, told
    assert "5 mistakes planted; no complaints" in told


def test_a_mistake_whose_text_is_gone_is_named() -> None:
    gone = dataclasses.replace(next(iter(MISTAKES.values())), before="no such text")
    with pytest.raises(StaleMistakeError, match=f"{gone.name}.* is in devices/devices.py 0 times"):
        gone.planted()
    lost = dataclasses.replace(gone, file="nowhere.py")
    with pytest.raises(StaleMistakeError, match=r"nowhere.py 0 times"):
        lost.planted()


def test_a_mistake_that_does_not_show_as_it_should_is_told() -> None:
    mistake = next(m for m in MISTAKES.values() if m.shown_by == "race")
    assert complaint(mistake, []) == "nothing shows it"
    assert complaint(mistake, [("value", "...")]) == "shows as value, not as race"
    assert not complaint(mistake, [("race", "...")])


@pytest.mark.parametrize(
    ("options", "reason"), [(["nothing"], "no mistake is called"), (["--slice", "0"], "at least 1")]
)
def test_mistakes_in_the_command_are_told(
    options: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["selfcheck", "--gpu-mistakes", *options]) == 2
    assert reason in capsys.readouterr().err
