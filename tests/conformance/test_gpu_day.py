"""What `make gpu` runs: steps that resume and go on after a failure, programs, a profiler."""

import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sessrun.conformance.benchmarks.selection import select
from sessrun.conformance.gpu_day import smoke
from sessrun.conformance.gpu_day.parts import PARTS, Target, steps_of
from sessrun.conformance.gpu_day.profiled import chosen
from sessrun.conformance.gpu_day.steps import Step, ended, run_steps

ROOT = Path(__file__).resolve().parents[2]


def python(name: str, code: str, **more) -> Step:
    return Step(name, "survey", (sys.executable, "-c", code, "{folder}"), 60, **more)


def writes(name: str, status: int = 0) -> str:
    """A program that adds a letter to a file and ends with this status."""
    return f"""
import sys
with open(sys.argv[1] + '/{name}', 'a') as file:
    file.write('x')
print('the end'); sys.exit({status})"""


def lines(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "steps.jsonl").read_text().splitlines()]


def test_steps_go_on_after_a_failure_and_what_ended_is_not_run_again(tmp_path):
    steps = [
        python("bad", writes("bad", 3), result="bad"),
        python("no", writes("no", 1), result="no"),
        python("good", writes("good"), result="good"),
    ]
    assert run_steps(steps, tmp_path, 60) == 1
    assert ended(tmp_path) == {"bad": "failed", "no": "answered no", "good": "done"}
    assert run_steps(steps, tmp_path, 60) == 1
    letters = {name: (tmp_path / name).read_text() for name in ("bad", "no", "good")}
    assert letters == {"bad": "xx", "no": "x", "good": "x"}
    assert [line["says"] for line in lines(tmp_path)] == ["the end"] * 4
    assert (tmp_path / "logs" / "good.txt").read_text() == "the end\n"


def test_a_step_without_its_result_has_failed(tmp_path):
    steps = [python("a", "raise SystemExit(1)", result="a"), python("b", "", result="b")]
    assert run_steps(steps, tmp_path, 60) == 2
    assert set(ended(tmp_path).values()) == {"failed"}


def test_a_step_that_takes_too_long_is_ended_with_its_children(tmp_path):
    code = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
with open({str(tmp_path / "pid")!r}, 'w') as file:
    file.write(str(child.pid))
time.sleep(600)"""
    step = Step("slow", "survey", (sys.executable, "-c", code), 8)
    assert run_steps([step], tmp_path, 60) == 1
    assert ended(tmp_path) == {"slow": "out of time"}
    child = int((tmp_path / "pid").read_text())
    for _ in range(100):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        state = Path(f"/proc/{child}/stat")
        if state.exists() and state.read_text().split()[2] == "Z":
            return
        time.sleep(0.1)
    pytest.fail("the child lives on")


def test_a_step_is_not_begun_without_time_or_without_its_tool(tmp_path):
    late = python("late", writes("late"))
    tool = python("tool", writes("tool"), tool="no-such-program")
    absent = python("absent", writes("absent"), absent="not here")
    assert run_steps([tool, absent], tmp_path, 60) == 0
    assert run_steps([late], tmp_path, 1) == 1
    assert ended(tmp_path) == {"tool": "absent", "absent": "absent"}
    says = [line["says"] for line in lines(tmp_path)]
    assert says == ["no-such-program is not installed here", "not here"]


def test_a_line_that_a_kill_cut_is_no_step(tmp_path):
    (tmp_path / "steps.jsonl").write_text('{"step": "a", "state": "done"}\n{"step": "b", "st')
    assert ended(tmp_path) == {"a": "done"}


def test_every_step_has_a_name_of_its_own_and_a_part_takes_ten_minutes_at_most(tmp_path):
    (tmp_path / "peers.json").write_text('{"torch": {"version": "2.11"}, "jax": {"absent": "x"}}')
    for simulated in (False, True):
        steps = [s for part in PARTS for s in steps_of(part, Target(tmp_path, simulated))]
        names = [step.name for step in steps]
        assert len(set(names)) == len(names)
        assert all(step.seconds <= 600 for step in steps)
        words = [pair for step in steps for pair in itertools.pairwise(step.command)]
        assert select(name for word, name in words if word == "--job")  # and none is unknown
    measured = steps_of("bench", Target(tmp_path, simulated=False))
    with_peers = {step.name for step in measured if "torch" in step.command}
    assert {"bench-matmul-float32", "bench-cnn-adam-resident"} <= with_peers
    assert "bench-calls" not in with_peers
    assert measured[-1].name == "counts"  # on the stand-in, when nothing is timed any more
    assert "reference#simulated-gpu" in measured[-1].command
    profiled = [s.command[-2] for s in steps_of("profile", Target(tmp_path, simulated=False))]
    assert select(name for name in profiled if "adam" in name or "matmul" in name)
    assert not any("jax" in step.command for step in measured)


@pytest.mark.parametrize(
    ("got", "want", "part"),
    [
        ([np.float32(1)], [np.float64(1)], "float32[] on the GPU, float64[] on the CPU"),
        ([np.ones(2)], [np.ones(3)], "float64[2] on the GPU"),
        ([np.ones(3), np.array([1, 2, 3])], [np.ones(3), np.array([1, 0, 3])], "value 1: 1 of 3"),
        (
            [np.array([1.0, np.nan])],
            [np.array([1.0, 2.0])],
            "the first at [1]: nan on the GPU, 2.0",
        ),
        ([np.array([b"a"], object)], [np.array([b"b"], object)], "b'a' on the GPU, b'b'"),
    ],
)
def test_a_program_that_differs_says_where(got, want, part):
    assert part in (smoke.difference(got, want, {"rtol": 1e-4, "atol": 1e-5}) or "")


def test_programs_that_agree_do_not_differ():
    near = [np.array([1.0, np.nan]), np.array([1.00001, np.nan])]
    assert smoke.difference(near[:1], near[1:], {"rtol": 1e-4, "atol": 1e-5}) is None


def test_a_backend_without_a_gpu_passes_no_program(tmp_path):
    (line,) = smoke._child("sessrun.adapters.reference:backend#simulated-gpu=0", ["integers"])
    assert not line["passed"]
    assert "simulated-gpu" in line["wrong"]


def test_counters_of_tensor_cores_are_those_of_the_profiler_and_count_once():
    older = "sm__ops_path_tensor_src_bf16_dst_fp32  # of ops\ngpu__time_duration  ns\n"
    parts = "".join(
        f"sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_{half}  # of ops\n"
        for half in ("on", "off")
    )
    basic = chosen("")
    assert {"gpu__time_duration.sum", "dram__bytes.sum"} <= set(basic)
    both = chosen(older + parts)
    assert both == [*basic, "sm__ops_path_tensor_src_bf16_dst_fp32.sum"]
    assert len(chosen(parts)) == len(basic) + 2


def test_the_profiler_looks_on_while_a_job_runs(tmp_path):
    """With a stand-in for `ncu` that writes a file and runs the job."""
    tool = tmp_path / "bin" / "ncu"
    tool.parent.mkdir()
    tool.write_text("""#!/bin/sh
if [ "$1" = --query-metrics ]; then echo "gpu__time_duration ns"; exit; fi
while [ "$1" != --log-file ]; do shift; done
echo counted >"$2"; shift 4; exec "$@"
""")
    tool.chmod(0o755)
    command = ["-m", "sessrun.conformance.gpu_day.profiled", "reference#simulated-gpu"]
    path = os.pathsep.join((str(tool.parent), os.environ["PATH"]))
    done = subprocess.run(
        [sys.executable, *command, "matmul-float32-16", str(tmp_path / "profile" / "job.csv")],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "profile" / "job.csv").read_text() == "counted\n"


def make(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    # Of what a make above this one says to its children nothing is meant for this one.
    inherited = {k: v for k, v in os.environ.items() if k not in {"MAKEFLAGS", "MAKELEVEL"}}
    return subprocess.run(
        ["/usr/bin/env", "make", "-C", str(ROOT), *arguments],
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_without_a_gpu_one_sentence_says_what_to_do(tmp_path):
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\nexit 9\n")
    tool.chmod(0o755)
    path = os.pathsep.join((str(tmp_path), os.environ["PATH"]))
    done = make("gpu", f"OUT={tmp_path}/out", PATH=path)
    assert done.returncode == 2
    (sentence,) = [line for line in done.stderr.splitlines() if line.startswith("make gpu:")]
    assert "no GPU here" in sentence
    assert "make gpu GPU=simulated" in sentence
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_all_parts_are_rehearsed_without_a_gpu(tmp_path):
    done = make(
        "gpu",
        "GPU=simulated",
        "GPU_PROFILES=tracing-engine",
        f"OUT={tmp_path}/out",
        "GPU_READY=",
        f"GPU_PYTHON={sys.executable}",
        PYTHONPATH=str(ROOT / "src"),
    )
    folder = tmp_path / "out" / "gpu"
    logs = "\n".join(f"{p.name}: {p.read_text()[-800:]}" for p in folder.glob("logs/*.txt"))
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{logs}"
    states = ended(folder)
    assert {name for name, state in states.items() if state not in {"done", "absent"}} == set(), (
        logs
    )
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "<b>SIMULATED</b>" in page
    assert f"{len(smoke.PROGRAMS)} of {len(smoke.PROGRAMS)} gave the same on both" in page
    assert "cnn-adam-resident-4" in page
    assert "Nothing of this is here" not in page
