"""Every reader, fed with what was damaged: SpecError with a place and a reason, or success."""

import functools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mutations import mutated_bytes, mutated_form

from sessrun.conformance.expectations import load_expectations, review
from sessrun.conformance.plain import python_lines
from sessrun.conformance.plan import PlanError, case_of
from sessrun.conformance.replay import read_replay, write_replay
from sessrun.conformance.runner import Runner
from sessrun.reports.comparison import read_bench
from sessrun.spec import loader
from sessrun.spec.cases.judge import judge
from sessrun.spec.cases.model import Case
from sessrun.spec.loader import SPEC_DIR, load_vectors
from sessrun.spec.records import read_record
from sessrun.spec.schema import SpecError

MUTATIONS = 500


def tried(read: Callable[[], Any], source: str) -> bool:
    """Whether it was read; else the error must say where and why."""
    told = None
    try:
        read()
    except SpecError as error:
        told = error
    assert told is None or (told.reason and told.source and len(str(told)) < 8000), source
    return told is None


def smallest(folder: str, pattern: str) -> Path:
    return min((SPEC_DIR / folder).glob(pattern), key=lambda path: path.stat().st_size)


#: What is read as TOML: a file, and its reader of another file (or folder) in its place.
TOML: dict[str, tuple[Path, Callable[[Path], Any]]] = {
    "clauses": (smallest("clauses", "*.toml"), lambda p: loader.load_clauses(p.parent)),
    "ops": (smallest("ops", "*.toml"), lambda p: loader.load_operations(p.parent)),
    "profiles": (SPEC_DIR / "profiles.toml", loader.load_profiles),
    "claims": (SPEC_DIR / "claims.toml", loader.load_claims),
    "debt": (SPEC_DIR / "debt.toml", loader.load_debt),
}


@pytest.mark.parametrize("name", TOML)
def test_damaged_toml(name: str, tmp_path: Path) -> None:
    original, read = TOML[name]
    rng = random.Random(f"toml {name}")
    raw = original.read_bytes()[:6000]
    raw = raw[: raw.rindex(b"\n\n[") + 1]
    path = tmp_path / original.name
    path.write_bytes(raw)
    reader = getattr(read, "__wrapped__", read)
    reader(path)
    good = 0
    for _ in range(MUTATIONS):
        path.write_bytes(mutated_bytes(raw, rng))
        for cached in (loader.load_clauses, loader.load_operations):
            cached.cache_clear()
        good += tried(functools.partial(reader, path), name)
    for cached in (loader.load_clauses, loader.load_operations):
        cached.cache_clear()
    assert good < MUTATIONS


EXPECTATIONS = b"""
[[expect]]
clause = "RUN-001"
expected = "fail"
why = "known"
bug = "https://example.org/1"
expires = 2030-01-01
waiver = true

[[expect]]
vector = "fetch/*"
expected = "unsupported"
why = "no strings"
platform = "Linux"
"""


def test_damaged_expectations(tmp_path: Path, small_record: Path) -> None:
    import datetime  # noqa: PLC0415 - for this test alone

    rng = random.Random("expectations")
    path = tmp_path / "expectations.toml"
    record = read_record(small_record)
    today = datetime.date(2026, 1, 1)
    path.write_bytes(EXPECTATIONS)
    assert len(load_expectations(path)) == 2
    for _ in range(MUTATIONS):
        path.write_bytes(mutated_bytes(EXPECTATIONS, rng))
        tried(lambda: review(record, load_expectations(path), today), "expectations")


@pytest.mark.parametrize("bad", ['"2030-01-01"', "2030-01-01T00:00:00", "12:00:00", "3", "true"])
def test_an_expectation_expires_on_a_date(bad: str, tmp_path: Path) -> None:
    path = tmp_path / "e.toml"
    path.write_text(f'[[expect]]\nvector="a"\nexpected="fail"\nwhy="b"\nexpires={bad}\n')
    with pytest.raises(SpecError, match="expires"):
        load_expectations(path)


@pytest.fixture(scope="module")
def small_record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from cut_run import plan_of, run_plan  # noqa: PLC0415 - for this fixture alone

    cases = [case for case in load_vectors().values() if case.id.startswith("fetch/")][:3]
    path = tmp_path_factory.mktemp("record") / "r.jsonl"
    run_plan("sessrun.adapters.fakes.conforming:backend", plan_of(*cases), path)
    return path


def test_damaged_records(tmp_path: Path, small_record: Path) -> None:
    rng = random.Random("record")
    raw = small_record.read_bytes()
    path = tmp_path / "r.jsonl"
    for number in range(MUTATIONS):
        if number % 2:
            path.write_bytes(mutated_bytes(raw, rng))
        else:
            lines = raw.splitlines()
            place = rng.randrange(len(lines))
            lines[place] = json.dumps(mutated_form(json.loads(lines[place]), rng)).encode()
            path.write_bytes(b"\n".join(lines) + b"\n")
        tried(lambda: read_record(path), "record")


def cases_to_damage() -> list[Case]:
    vectors = sorted(load_vectors().values(), key=lambda case: len(str(case.to_json())))
    return [*[c for c in vectors if c.surface == "api"][:30], *vectors[:30]]


def test_damaged_cases_and_replays(tmp_path: Path) -> None:
    rng = random.Random("cases")
    path = tmp_path / "case.json"
    cases = cases_to_damage()
    read = 0
    for number in range(MUTATIONS):
        case = rng.choice(cases)
        form = case.to_json()
        if number % 3:
            del form["hash"]
        if number % 2:
            form = {"replay": 1, "case": form, "backend": "x", "result": "fail"}
        if number % 5:
            path.write_text(json.dumps(mutated_form(form, rng)), encoding="utf-8")
        else:
            path.write_bytes(mutated_bytes(json.dumps(form).encode(), rng))
        if tried(lambda: python_lines(read_replay(path)), "case"):
            read += 1
    assert read > 20, "some damage is still a case, and is shown as code"


@pytest.mark.parametrize("form", ['{"replay": 2, "case": {}}', '{"replay": 1}', "[]", "3", "{", ""])
def test_what_is_no_replay(form: str, tmp_path: Path) -> None:
    path = tmp_path / "replay.json"
    path.write_text(form)
    with pytest.raises(SpecError):
        read_replay(path)


def test_a_replay_is_the_case_again(tmp_path: Path) -> None:
    for case in cases_to_damage():
        path = tmp_path / "replay.json"
        write_replay(path, case, {"result": "fail", "finding": None}, "some backend")
        assert read_replay(path).hash == case.hash
        truncated = path.read_bytes()[:-20]
        path.write_bytes(truncated)
        with pytest.raises(SpecError, match="cannot be read as JSON"):
            read_replay(path)


def test_damaged_cases_are_run_without_harm() -> None:
    """What is still a case by its schema runs to a result; none of it breaks the runner."""
    rng = random.Random("runs")
    runner = Runner("reference", in_process=True, deadline_s=5.0)
    results = set()
    for _ in range(MUTATIONS):
        form = rng.choice(cases_to_damage_once()).to_json()
        del form["hash"]
        try:
            case = Case.from_json(mutated_form(form, rng), "damaged")
        except SpecError:
            continue
        results.add(runner.run(case)["result"])
    runner.shutdown()
    assert {"pass", "fail", "error"} <= results
    assert not results & {"crash", "timeout", "missing"}


@functools.cache
def cases_to_damage_once() -> tuple[Case, ...]:
    quick = [c for c in cases_to_damage() if not c.isolated and "thread" not in str(c.steps)]
    return tuple(quick)


def test_damaged_observations_never_pass_as_the_right_ones() -> None:
    """The judge over answers that no interpreter of ours would give."""
    rng = random.Random("observations")
    runner = Runner("reference", in_process=True)
    told = [(case, runner.observe(case)) for case in cases_to_damage_once()[:25]]
    survived = 0
    for _ in range(MUTATIONS):
        case, seen = rng.choice(told)
        damaged = mutated_form(seen, rng)
        try:
            survived += judge(case, damaged).result == "pass"
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
            continue  # the runner records `error`: tests of case results show it
    runner.shutdown()
    assert survived < MUTATIONS / 2, "damage to what is never compared (messages) may pass"


BENCH = {
    "bench": 1,
    "sessrun": "0.1",
    "started": "2026-01-01T00:00:00+00:00",
    "seed": 1,
    "rounds": 2,
    "fingerprint": {"processor": "x"},
    "order": [[0], [0]],
    "ceilings": {"flops": 1.0},
    "series": [
        {
            "case": "no-op",
            "backend": "reference",
            "unit": "s",
            "samples": [1.0, 2.0],
            "correct": True,
            "detail": "",
        }
    ],
}


def test_damaged_benchmarks(tmp_path: Path) -> None:
    rng = random.Random("bench")
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(BENCH))
    read_bench(path)
    for number in range(MUTATIONS):
        raw = json.dumps(BENCH if number % 2 else mutated_form(BENCH, rng)).encode()
        path.write_bytes(mutated_bytes(raw, rng) if number % 2 else raw)
        tried(lambda: read_bench(path), "bench")


def test_ids_of_cases_that_are_none() -> None:
    for id_ in (
        "a",
        "a/b",
        "operations:1",
        "operations:²:1",
        "operations:1:²",
        "operations:01:1",
        ":1:1",
        "operations:1:1:1",
        "operations:-1:1",
        "nope:1:1",
        "operations:" + "9" * 5000 + ":1",
        "",
        "operations:1:1\n",
    ):
        with pytest.raises(PlanError):
            case_of(id_)
