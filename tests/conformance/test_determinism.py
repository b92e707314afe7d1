"""Same seed, same plan: the record is byte for byte the same, but for times."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cut_run import PATHS, plan_of
from test_case_results import OPEN, engine_case, run_step

from sessrun.conformance.execution import execute
from sessrun.conformance.patience import Patience
from sessrun.conformance.plan import Plan, build_plan, case_of
from sessrun.conformance.runner import Runner
from sessrun.spec import tensors
from sessrun.spec.cases.judge import judge
from sessrun.spec.cases.steady import steady_observations, steady_text

TIMES = {"seconds", "started"}


def without_times(path: Path) -> list[bytes]:
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        form = {key: value for key, value in json.loads(line).items() if key not in TIMES}
        lines.append(json.dumps(form, sort_keys=True).encode())
    return lines


def run_twice(tmp_path: Path, *options: str) -> None:
    """Two processes whose hashes, temporary folders and addresses differ."""
    found = []
    for number in ("1", "2"):
        folder = tmp_path / number
        (folder / "temporary").mkdir(parents=True)
        surroundings = {"PYTHONHASHSEED": number, "TMPDIR": str(folder / "temporary")}
        subprocess.run(
            [
                sys.executable,
                "-m",
                "sessrun.cli.main",
                "run",
                "reference",
                *options,
                "--record",
                str(folder / "record.jsonl"),
            ],
            env=os.environ | {"PYTHONPATH": PATHS} | surroundings,
            check=False,
            capture_output=True,
        )
        found.append(without_times(folder / "record.jsonl"))
    assert len(found[0]) > 30
    differing = [pair for pair in zip(*found, strict=True) if pair[0] != pair[1]]
    assert not differing, b"\n".join(differing[0]).decode()


@pytest.mark.slow
def test_the_core_profile_twice(tmp_path: Path) -> None:
    run_twice(tmp_path, "--generated", "2")


@pytest.mark.slow
def test_faulty_answers_twice(tmp_path: Path) -> None:
    """Failures carry messages, addresses and values of the backend: they must not differ either."""
    plan = build_plan("core", generated=1)
    api = [case for case in plan.cases if case.surface == "api"][::25]
    found = []
    for number in (1, 2):
        runner = Runner("hostile.one_error:backend", patience=Patience(retries=3))
        path = tmp_path / f"{number}.jsonl"
        try:
            execute(dataclasses.replace(plan, cases=tuple(api)), runner, path)
        finally:
            runner.shutdown()
        found.append(without_times(path))
    assert found[0] == found[1]


def test_the_plan_is_a_pure_function() -> None:
    one, two = build_plan("core", 7, 3), build_plan("core", 7, 3)
    assert one.hash == two.hash
    assert [case.id for case in one.cases] == [case.id for case in two.cases]
    assert build_plan("core", 8, 3).hash != one.hash
    generated = next(case for case in one.cases if ":" in case.id)
    assert case_of(generated.id).hash == generated.hash


@pytest.mark.parametrize(
    ("text", "steady"),
    [
        ("<object at 0x7fcace967ac0>", "<object at 0x…>"),
        ('File "/home/me/src/engine/run.py", line 12, in f', 'File "run.py", in f'),
        ("core/kernels/a.cc:123: failed", "core/kernels/a.cc: failed"),
        ("wrote /tmp/tmpabc123/x.bin now", "wrote (a temporary file) now"),
        ("died in thread 139871", "died in thread …"),
        (
            "/job:localhost/replica:0/task:0/device:CPU:0",
            "/job:localhost/replica:0/task:0/device:CPU:0",
        ),
        ("want [1, 2], got [1, 3]", "want [1, 2], got [1, 3]"),
        ("node a/b/c:0 has shape (2, 3)", "node a/b/c:0 has shape (2, 3)"),
    ],
)
def test_messages_lose_what_changes_and_nothing_else(text: str, steady: str) -> None:
    assert steady_text(text) == steady


def value(*numbers: float) -> dict[str, Any]:
    return {"$array": tensors.encode(np.array(numbers, np.float32))}


def test_values_that_a_case_leaves_open_keep_what_matchers_ask() -> None:
    steps = [
        OPEN,
        run_step({"keep": "a"}),
        run_step({"differs_from": "a"}),
        run_step({"same_as": "a"}),
        run_step({"like": {"dtype": "float32", "shape": [2]}}),
        run_step({"anything": True}),
        {k: v for k, v in run_step().items() if k != "expect"},
        run_step(value(1, 2)),
    ]
    case = engine_case(*steps)

    def seen(*drawn: dict[str, Any]) -> list[dict[str, Any]]:
        told = [
            {"step": str(n), "outcome": "values", "values": [v]} for n, v in enumerate(drawn, 1)
        ]
        return [{"step": "0", "outcome": "opened"}, *told]

    one = seen(value(1, 2), value(3, 4), value(1, 2), value(5, 6), value(9), value(7), value(1, 2))
    two = seen(
        value(8, 9), value(1, 1), value(8, 9), value(2, 2), value(0, 0), value(4), value(1, 2)
    )
    assert judge(case, one).result == judge(case, two).result == "pass"
    assert steady_observations(case, one) == steady_observations(case, two)
    assert judge(case, steady_observations(case, one)).result == "pass"
    wrong = seen(
        value(1, 2), value(1, 2), value(1, 2), value(5, 6), value(9), value(7), value(1, 2)
    )
    assert judge(case, steady_observations(case, wrong)).result == "fail"
    wrong = seen(
        value(1, 2), value(3, 4), value(3, 4), value(5, 6), value(9), value(7), value(1, 2)
    )
    assert judge(case, steady_observations(case, wrong)).result == "fail"


def test_a_value_where_a_run_must_fail_is_shown() -> None:
    step = {k: v for k, v in run_step().items() if k != "expect"}
    answer = [{"step": "1", "outcome": "values", "values": [value(1, 2)]}]
    refused = engine_case(OPEN, step | {"expect": {"error": {"codes": [3]}}})
    assert steady_observations(refused, answer) == answer
    left_open = engine_case(OPEN, step | {"expect": {"any_of": [{"error": {"codes": [3]}}, {}]}})
    assert steady_observations(left_open, answer) != answer


def test_masking_changes_no_judgement_of_the_suite(tmp_path: Path) -> None:
    """Over the reference each recorded line, judged anew from its observations, stays a pass."""
    plan = build_plan("core", generated=0)
    random = [case for case in plan.cases if "random" in case.id or "keep" in str(case.steps)]
    runner = Runner("reference")
    try:
        record = execute(plan_of(*random), runner, tmp_path / "r.jsonl")
    finally:
        runner.shutdown()
    assert len(random) > 5
    for case in random:
        line = record.results[case.id]
        if line["result"] == "pass" and "observations" in line:
            assert judge(case, line["observations"]).result == "pass", case.id


def test_counts_and_seeds_are_checked() -> None:
    plan: Plan = build_plan("core", 1, 0)
    assert all(":" not in case.id for case in plan.cases)
    for seed, generated, said in ((-1, 1, "a seed is"), (1, -1, "generates from 0")):
        with pytest.raises(ValueError, match=said):
            build_plan("core", seed, generated)
