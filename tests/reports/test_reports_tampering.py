"""Records that were tampered with and packed anew in every part: what is refused, what is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from synthetic_package import Certified, certify
from synthetic_run import observations
from test_reports_verify import forged, record_lines

from sessrun.cli.verify import _print

Line = dict[str, Any]
#: What comes of the first cases; all others pass.
FIRST = {1: "crash", 2: "fail", 4: "timeout", 6: "flaky"}


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Certified:
    """The package of a run in which some cases went wrong, and the backend was never given up."""
    numbers = iter(range(10**6))

    def choose(case: Any) -> str:
        return "skipped" if "gpu" in case.needs else FIRST.get(next(numbers), "pass")

    return certify(tmp_path_factory.mktemp("troubled"), choose, generated=1, per_subject=2)


def refused(certified: Certified, change: Callable[[list[Line]], Any]) -> str:
    lines = record_lines(certified)
    change(lines)
    verification = certified.verify(forged(certified, lines))
    assert verification.status == "REFUSED"
    assert verification.verdict is None
    return " ".join(verification.faults)


def of(lines: list[Line], result: str) -> Line:
    return next(line for line in lines if line.get("result") == result)


def test_as_it_was_made_it_is_verified(troubled: Certified) -> None:
    assert troubled.verify().faults == ()


@pytest.mark.parametrize("lost", ["crash", "timeout"])
def test_a_loss_rewritten_as_missing_is_refused(lost: str, troubled: Certified) -> None:
    text = refused(
        troubled, lambda lines: of(lines, lost).update(result="missing", detail="out of time")
    )
    assert "and the backend was not given up" in text
    assert "A worker was started anew because" in text


@pytest.mark.parametrize("lost", ["crash", "timeout"])
def test_a_loss_rewritten_as_a_pass_is_refused(lost: str, troubled: Certified) -> None:
    def change(lines: list[Line]) -> None:
        line = of(lines, lost)
        line["result"] = "pass"
        del line["detail"]

    assert "and no case of the record ended so" in refused(troubled, change)


def test_a_loss_that_no_worker_followed_is_refused(troubled: Certified) -> None:
    def change(lines: list[Line]) -> None:
        place = lines.index(of(lines, "crash"))
        del lines[place - 1]

    assert "is recorded as crash, and no worker started anew" in refused(troubled, change)


def test_second_tries_that_were_taken_out_are_missed(troubled: Certified) -> None:
    text = refused(troubled, lambda lines: of(lines, "fail").pop("attempts"))
    assert "The record tells of 1 cases tried twice, its events of 2." in text


def test_a_failure_with_the_answers_of_a_pass_is_refused(troubled: Certified) -> None:
    def change(lines: list[Line]) -> None:
        line = of(lines, "fail")
        case = troubled.run.cases[line["id"]]
        line |= {"result": "pass", "observations": observations(case)}
        del line["attempts"], line["finding"]

    assert "cases tried twice" in refused(troubled, change)


def test_answers_of_another_case_are_refused(troubled: Certified) -> None:
    def change(lines: list[Line]) -> None:
        told = [line for line in lines if line.get("result") == "pass" and "observations" in line]
        told[0]["observations"] = observations(troubled.run.cases[told[0]["id"]], 77)

    assert "judged anew, give fail" in refused(troubled, change)


def test_a_missing_case_amid_others_is_refused(troubled: Certified) -> None:
    def change(lines: list[Line]) -> None:
        line = of(lines, "crash")
        place = lines.index(line)
        line |= {"result": "missing", "detail": "backend unresponsive"}
        lines[place - 1] = {"kind": "event", "event": "unresponsive", "detail": "it said nothing"}

    assert "after it was given up" in refused(troubled, change)


def test_a_result_or_a_seed_that_was_changed_is_refused(troubled: Certified) -> None:
    assert "has no line in the record" in refused(
        troubled, lambda lines: lines.remove(of(lines, "pass"))
    )
    assert "The plan has the seed 7, the record 8." in refused(
        troubled, lambda lines: lines[0].update(seed={"value": 8, "how": "drawn"})
    )


def test_a_forgery_without_a_trace_is_found_by_running_again_only(good: Certified) -> None:
    """Whoever makes up a whole record makes up one that fits: the verifier says so."""
    found = good.verify()
    assert found.verified
    assert "found only by running cases again" in found.limits[1]
    id_ = next(iter(good.run.cases))
    assert good.verify(rerun={id_: "fail"}).status == "REFUSED"


def test_the_last_word_on_a_refused_package_is_no_verdict(
    good: Certified, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = record_lines(good)
    lines.remove(of(lines, "pass"))
    _print(good.verify(forged(good, lines)))
    told = capsys.readouterr().out
    assert "REFUSED  UNSIGNED  no verdict" in told
    assert "CERTIFIED" not in told
    assert good.verify(forged(good, lines)).to_json()["verdict"] is None
    _print(good.verify())
    assert "VERIFIED  UNSIGNED  verdict: CERTIFIED" in capsys.readouterr().out


def test_a_record_that_was_cut_and_resumed_is_verified(good: Certified) -> None:
    """A run that is killed between an event and its case runs the case again."""
    lines = record_lines(good)
    crash = {"kind": "event", "event": "restart", "detail": "the worker ended", "seconds": 0.4}
    lines[2:2] = [crash, {"kind": "event", "event": "resumed", "detail": "1 done"}]
    assert good.verify(forged(good, lines)).faults == ()
    lines[2:2] = [crash]
    assert good.verify(forged(good, lines)).status == "REFUSED"
