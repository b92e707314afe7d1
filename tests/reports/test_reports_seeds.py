"""Where the seed came from: on the face, in the manifest, and held against a challenge."""

from __future__ import annotations

import argparse
import dataclasses
import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from synthetic_run import make_run

from sessrun.cli.certify import _seed
from sessrun.cli.failure import UserError
from sessrun.reports.html import report_html
from sessrun.reports.package import open_package, write_package
from sessrun.reports.terminal import print_summary
from sessrun.reports.verdicts import summarize
from sessrun.reports.verify import Fresh, verify
from sessrun.spec.seeds import SEEDS, Seed

CHALLENGE = Seed.of_challenge("given by a stranger")


def package_of(certified: Any, folder: Path, seed: Seed, plan_seed: int | None = None) -> Any:
    """The package of a run whose header tells this seed, and an installation that planned it."""

    def change(line: dict[str, Any]) -> None:
        if line["kind"] == "header":
            planned = seed.value if plan_seed is None else plan_seed
            facts = dataclasses.replace(run.plan, seed=planned)
            line |= {"seed": seed.to_json(), "plan": facts.header}

    run = certified.run
    make_run(folder / "r.jsonl", generated=run.plan.generated, change=change)
    plan = dataclasses.replace(run.plan, seed=seed.value if plan_seed is None else plan_seed)
    write_package(folder / "p.zip", folder / "r.jsonl", plan, run.clauses)
    package = open_package((folder / "p.zip").read_bytes(), "p.zip")
    installed = dataclasses.replace(certified.installed, plan=plan, case_of=None, replay_of=None)
    return package, installed


def face_of(package: Any, installed: Any) -> tuple[str, str]:
    summary = summarize(package.record, package.plan, installed.clauses, package.profile)
    out = io.StringIO()
    print_summary(summary, Console(file=out, width=300, color_system=None))
    return out.getvalue(), report_html(summary)


def test_a_challenge_gives_the_same_seed_to_everybody() -> None:
    assert Seed.of_challenge("given by a stranger") == CHALLENGE
    assert Seed.of_challenge("given by a stranger ").value != CHALLENGE.value
    assert 0 <= CHALLENGE.value < SEEDS
    assert Seed.from_json(CHALLENGE.to_json()) == CHALLENGE


def test_a_drawn_seed_is_another_each_time() -> None:
    assert len({Seed.drawn().value for _ in range(5)}) == 5


@pytest.mark.parametrize(
    ("seed", "words"),
    [
        (Seed(7), "The tested side chose the seed"),
        (Seed(7, "drawn"), "The tested side drew the seed"),
        (CHALLENGE, "unforeseeable"),
    ],
)
def test_the_face_says_where_the_seed_came_from(
    seed: Seed, words: str, good: Any, tmp_path: Path
) -> None:
    for face in face_of(*package_of(good, tmp_path, seed)):
        assert words in face
        assert f"drawn by the seed {seed.value}" in face
        assert ("can have done so until the run passed" in face) == (seed.how != "challenge")


def test_the_face_says_how_many_cases_were_drawn(good: Any) -> None:
    summary = summarize(good.run.record, good.run.plan, good.run.clauses, "core")
    planned = good.run.plan.cases
    assert summary.ran["drawn"] == sum(case.generated for case in planned)
    skipped = sum("gpu" in good.run.cases[case.id].needs for case in planned)
    assert summary.ran["fixed"] == len(planned) - summary.ran["drawn"] - skipped


def test_the_manifest_keeps_the_challenge(good: Any, tmp_path: Path) -> None:
    package, installed = package_of(good, tmp_path, CHALLENGE)
    assert package.manifest["seed"] == CHALLENGE.to_json()
    assert verify(package, installed).faults == ()
    assert verify(package, installed, challenge="given by a stranger").faults == ()


def test_another_challenge_than_the_one_demanded_is_refused(good: Any, tmp_path: Path) -> None:
    package, installed = package_of(good, tmp_path, CHALLENGE)
    faults = verify(package, installed, challenge="another text").faults
    assert any("a challenge, but another one" in fault for fault in faults)


def test_a_seed_that_was_given_comes_of_no_challenge(good: Any) -> None:
    faults = verify(good.open(), good.installed, challenge="a text").faults
    assert any("it was given" in fault for fault in faults)


def test_a_seed_that_does_not_follow_from_its_challenge_is_refused(
    good: Any, tmp_path: Path
) -> None:
    ground = Seed(41, "challenge", "given by a stranger")
    package, installed = package_of(good, tmp_path, ground)
    assert "does not follow from the challenge" in " ".join(verify(package, installed).faults)
    package, installed = package_of(good, tmp_path, CHALLENGE, plan_seed=41)
    assert "The plan has the seed 41" in " ".join(verify(package, installed).faults)


def fresh(result: str, *clauses: str) -> Fresh:
    line = {"id": "graphs:5:0", "result": result, "clauses": list(clauses)}
    return Fresh(5, (line,))


def test_fresh_cases_that_pass_are_told_with_their_seed(good: Any) -> None:
    found = verify(good.open(), good.installed, fresh=fresh("pass", "FEED-001"))
    assert found.verified
    sentences = [text for check in found.checks for text in check.sentences]
    assert "1 cases drawn anew by the seed 5 agree with the record." in sentences


@pytest.mark.parametrize("result", ["fail", "unsupported", "missing", "timeout"])
def test_a_fresh_case_that_fails_refuses_a_clause_that_holds(result: str, good: Any) -> None:
    found = verify(good.open(), good.installed, fresh=fresh(result, "FEED-001", "FEED-002"))
    (fault,) = found.faults
    assert f"drawn anew, gives {result}" in fault
    assert "FEED-001, FEED-002 hold" in fault


def test_a_fresh_failure_agrees_with_a_record_that_says_broken(failing: Any) -> None:
    summary = summarize(failing.run.record, failing.run.plan, failing.run.clauses, "core")
    broken = next(clause.id for clause in summary.clauses if clause.result == "broken")
    assert verify(failing.open(), failing.installed, fresh=fresh("fail", broken)).verified


def asked(**given: Any) -> argparse.Namespace:
    return argparse.Namespace(**{"seed": None, "challenge": None, "resume": False} | given)


def test_a_certification_draws_its_seed_unless_it_is_told(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    assert _seed(asked(), record).how == "drawn"
    assert _seed(asked(seed=9), record) == Seed(9)
    assert _seed(asked(challenge="given by a stranger"), record) == CHALLENGE


def test_a_resumed_certification_keeps_its_seed(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    make_run(record)
    begun = json.loads(record.read_text("utf-8").splitlines()[0])["seed"]["value"]
    assert _seed(asked(resume=True), record).value == begun
    with pytest.raises(UserError, match="which --resume keeps"):
        _seed(asked(resume=True, seed=begun + 1), record)
    record.write_text("")
    assert _seed(asked(resume=True), record).how == "drawn"
