"""Benchmarks on a device: what is timed until it is done, counted, cut to size, left out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sessrun.adapters.errors import AdapterError
from sessrun.adapters.fakes import simulated_gpu
from sessrun.adapters.peer import Training
from sessrun.conformance.benchmarks import measure
from sessrun.conformance.benchmarks.clock import OtherClock
from sessrun.conformance.benchmarks.jobs import Job, Prepared
from sessrun.conformance.benchmarks.measured_device import MeasuredDevice
from sessrun.conformance.benchmarks.selection import (
    FAMILIES,
    fitted,
    gpu_jobs,
    needed_bytes,
    select,
)
from sessrun.conformance.benchmarks.series import Series
from sessrun.reference.kernels import fused
from sessrun.reports.comparison import check_bench

#: One job of each family, of a size for numpy.
TINY = (
    "matmul-float32-64",
    "matmul-bfloat16-64",
    "matmul-float64-64",
    "add-float32-1",
    "sum-float32-1",
    "scatter-float32-64",
    "chain-resident-10",
    "cnn-adam-fed-2",
    "cnn-adam-resident-2",
)
STAND_IN = "reference#simulated-gpu"


@pytest.fixture(autouse=True)
def without_clock_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rounds on a busy machine are too few to hold one clock against another."""
    monkeypatch.setattr(measure, "_check_clocks", lambda *_: None)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The simulated GPU may be installed by its backend, and is gone after the test."""
    if "cupy" in sys.modules and not simulated_gpu.is_installed():
        pytest.skip("the real cupy is imported in this process")
    monkeypatch.setattr(fused, "on_new_kernel", [])
    yield
    simulated_gpu.uninstall()


@pytest.mark.slow
@pytest.mark.usefixtures("stand_in")
def test_a_run_on_the_stand_in() -> None:
    form = measure.measure([STAND_IN], select(TINY), rounds=2, seed=1, device="/gpu:0")
    check_bench(form, "bench.json")
    assert form["device"] == {"name": "Simulated GPU", "kind": "gpu", "simulated": True}
    series = {entry["case"]: entry for entry in form["series"]}
    assert [*series] == [*TINY]
    for entry in series.values():
        assert entry["correct"], f"{entry['case']}: {entry['detail']}"
        assert len(entry["device_samples"]) == 2, entry["case"]
    assert len(series["matmul-float32-64"]["cold_samples"]) == 2
    assert "cold_samples" not in series["add-float32-1"], "3 MB do not fit in a cache of 1 MB"
    product = series["matmul-float32-64"]["counts"]
    assert (product["launches"], product["uploads"], product["downloads"]) == (1, 0, 0)
    assert series["chain-resident-10"]["counts"]["launches"] == 10
    fed, resident = (series[f"cnn-adam-{kind}-2"]["counts"] for kind in ("fed", "resident"))
    assert (fed["uploads"], fed["upload_bytes"]) == (1, 2 * 28 * 28 * 4), "the batch"
    assert (fed["downloads"], fed["download_bytes"]) == (1, 4), "the loss"
    assert (resident["uploads"], resident["downloads"]) == (0, 0)
    assert {"flops", "flops_float64", "bytes", "launch_seconds"} <= {*form["ceilings"]}
    assert {*form["ceilings"]} == {*form["ceilings_after"]}
    assert form["fingerprint"]["gpu"]["cupy"].endswith("+simulated")
    assert {entry["case"] for entry in form["left_out"]} == {
        "ceiling flops_tf32",
        "ceiling flops_bfloat16",
    }


@pytest.mark.usefixtures("stand_in")
def test_the_default_device_of_a_backend_with_a_gpu_is_its_gpu() -> None:
    form = measure.measure([STAND_IN], select(["no-op"]), rounds=1, seed=1)
    assert form["device"]["kind"] == "gpu"
    on_cpu = measure.measure([STAND_IN], select(["no-op"]), rounds=1, seed=1, device="/cpu:0")
    assert on_cpu["device"]["kind"] == "cpu"
    assert "device_samples" not in on_cpu["series"][0]


class Recorded:
    """A clock of a device that writes down what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def settle(self) -> None:
        self.asked.append("settle")

    def mark(self) -> int:
        self.asked.append("mark")
        return len(self.asked)

    def seconds(self, first: Any, last: Any) -> float:
        assert self.asked[-1] == "settle", "events are read when the device has finished"
        return 0.5 * (last - first)


def recorded(prepared: Prepared) -> tuple[Series, Recorded]:
    clock = Recorded()
    return Series(Job("job", "", lambda *_: prepared), "backend", prepared, clock), clock


def test_a_sample_ends_when_the_device_has_finished() -> None:
    asked: list[str] = []
    series, clock = recorded(Prepared(lambda: asked.append("call"), lambda _: None, lambda: None))
    clock.asked = asked
    series.calls = 3
    with OtherClock() as other:
        series.sample(other)
    assert asked[:6] == ["mark", "call", "call", "call", "mark", "settle"]
    assert series.device_samples == [0.5 * 4 / 3]


def test_a_first_call_that_compiles_is_in_no_sample() -> None:
    waits = iter([2.0])
    now = [0.0]

    def call() -> None:
        now[0] += next(waits, 0.001)

    series, _ = recorded(Prepared(call, lambda _: None, lambda: None))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sessrun.conformance.benchmarks.series.perf_counter", lambda: now[0])
        series.warm_up(lambda _: None)
    assert series.compile_seconds == pytest.approx(1.999)
    assert series.calls == 4
    assert series.samples == []


def test_cold_calls_take_their_inputs_in_turn() -> None:
    taken: list[int] = []
    rotated = tuple((lambda n=n: taken.append(n)) for n in range(3))
    series, _ = recorded(Prepared(lambda: None, lambda _: None, lambda: None, rotated=rotated))
    series.calls = 5
    with OtherClock() as other:
        series.sample(other)
    assert taken == [0, 1, 2, 0, 1]


def test_what_is_checked_is_not_timed_and_what_is_wrong_is_told() -> None:
    prepared = Prepared(lambda: None, lambda got: f"got {got}", lambda: None, lambda: 7)
    series, _ = recorded(prepared)
    series.warm_up(lambda _: {"launches": 1})
    form = series.to_json()
    assert (form["correct"], form["detail"], form["counts"]) == (False, "got 7", {"launches": 1})


def test_jobs_for_a_large_gpu_are_cut_to_its_memory() -> None:
    jobs = gpu_jobs()
    all_fit = fitted(jobs, 1, 2**37, 50 * 2**20, small=False)
    assert [job.name for job in all_fit.jobs] == [job.name for job in jobs]
    assert all_fit.notes == {}
    free = 4 * 2**30
    cut = fitted(jobs, 2, free, 50 * 2**20, small=False)
    assert 2 * needed_bytes(cut.jobs) <= 0.8 * free
    assert len({job.name for job in cut.jobs}) == len(cut.jobs)
    assert all("4 GB free" in why for _, why in cut.left_out)
    assert len(cut.jobs) + len(cut.left_out) == len(jobs)


def test_a_job_that_is_cut_has_the_name_of_its_size_and_a_note() -> None:
    cut = fitted(select(["matmul-float64-16384"]), 1, 2**30, 0, small=False)
    (job,) = cut.jobs
    assert job.name == f"matmul-float64-{job.size}"
    assert job.size < 16384
    assert cut.notes == {job.name: f"cut from 16,384 to {job.size:,}: the device has 1 GB free"}


def test_what_fits_in_the_cache_is_rotated_past_it() -> None:
    small, large = fitted(
        select(["matmul-float32-512", "matmul-float32-8192"]), 1, 2**37, 50 * 2**20, small=False
    ).jobs
    assert small.held_bytes > 50 * 2**20 > small.nbytes
    assert large.held_bytes == select(["matmul-float32-8192"])[0].held_bytes


def test_a_stand_in_has_small_sizes_only() -> None:
    chosen = fitted(gpu_jobs(), 1, 2**37, 2**20, small=True)
    assert max(needed_bytes([job]) for job in chosen.jobs) <= 32 * 2**20
    assert {job.name.rpartition("-")[0] for job in chosen.jobs} == {*FAMILIES}


@pytest.mark.parametrize("name", ["matmul-float32", "matmul-float32-0", "matmul-float32-x", "x-1"])
def test_an_unknown_job_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"no job is called '{name}'"):
        select([name])


def test_what_a_backend_cannot_do_is_left_out_and_the_rest_is_measured() -> None:
    def refuse(*_: Any) -> Prepared:
        raise NotImplementedError("never heard of it")

    (job,) = select(["no-op"])
    form = measure.measure(
        ["reference"], [replace(job, name="odd", prepare=refuse), job], rounds=1, seed=1
    )
    assert [entry["case"] for entry in form["series"]] == ["no-op"]
    (entry,) = form["left_out"]
    assert (entry["case"], entry["backend"]) == ("odd", "reference")
    assert "never heard of it" in entry["reason"]
    check_bench(form, "bench.json")
    with pytest.raises(AdapterError, match="never heard of it"):
        measure.measure(["reference"], [replace(job, prepare=refuse)], rounds=1, seed=1)


class NumpyPeer:
    """numpy as a peer, whose results may be spoilt."""

    name, version, clock = "numpy", np.__version__, None

    def __init__(self, spoilt: Callable[[Any], Any] = lambda value: value) -> None:
        self.spoilt = spoilt

    def put(self, value: np.ndarray, dtype: str) -> Any:
        return value.astype(dtype)

    def get(self, value: Any) -> np.ndarray:
        return np.asarray(value, np.float64)

    def settle(self, value: Any) -> None:
        pass

    def product(self, left: Any, right: Any) -> Any:
        return self.spoilt(left @ right)

    def total(self, left: Any, right: Any) -> Any:
        return self.spoilt(left + right)

    def training(self, weights: Any, *_: Any) -> Training:
        return Training(lambda _: 0.5, lambda: [np.zeros_like(it) for it in weights])


@pytest.mark.parametrize("name", ["matmul-float32-64", "matmul-float64-64", "add-float32-1"])
def test_a_wrong_answer_of_a_resident_job_is_found(name: str) -> None:
    (job,) = select([name])
    assert job.peer is not None

    def wrong(peer: NumpyPeer) -> str | None:
        prepared = job.peer(peer)
        prepared.call()
        return prepared.check(prepared.checked())

    assert wrong(NumpyPeer()) is None
    assert wrong(NumpyPeer(lambda value: value * 1.01)) is not None
    assert wrong(NumpyPeer(np.zeros_like)) is not None


def test_a_network_that_does_not_learn_is_found() -> None:
    (job,) = select(["cnn-adam-resident-2"])
    prepared = job.peer(NumpyPeer())
    prepared.call()
    assert "after 1 steps want loss and slope" in prepared.check(prepared.checked())


@pytest.mark.slow
@pytest.mark.jax
def test_jax_is_a_peer() -> None:
    pytest.importorskip("jax")
    names = [
        "matmul-float32-64",
        "matmul-bfloat16-64",
        "add-float32-1",
        "cnn-adam-fed-2",
        "cnn-adam-resident-2",
        "no-op",
    ]
    form = measure.measure(["jax", "reference"], select(names), rounds=1, seed=1)
    wrong = [entry["detail"] for entry in form["series"] if not entry["correct"]]
    assert wrong == []
    by_jax = [entry["case"] for entry in form["series"] if entry["backend"] == "jax"]
    assert by_jax == names[:-1], "peers run no graphs"


def test_a_peer_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "sessrun.adapters.torch", raising=False)
    with pytest.raises(AdapterError, match="PyTorch is not installed: pip install 'torch'"):
        measure.measure(["torch"], select(["add-float32-1"]), rounds=1, seed=1)


SMI = """#!/bin/sh
case "$1" in
  *clocks_event_reasons*) echo 'Field "clocks_event_reasons.active" is not a valid field'; exit 2 ;;
  *clocks_throttle_reasons*) echo 0x0000000000000005 ;;
  *clocks.max.sm*) echo 570.1, 1980, 3201, 700.00 ;;
  *) echo 1755, 3201, 512.33, [N/A] ;;
esac
"""


def test_the_state_of_a_gpu_is_what_its_driver_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(SMI)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    gpu = MeasuredDevice("a GPU", 0)
    assert gpu.state() == {
        "sm_clock_mhz": 1755.0,
        "memory_clock_mhz": 3201.0,
        "power_w": 512.33,
        "throttle": ["sw_power_cap"],
    }
    assert gpu.fingerprint()["gpu"] == {
        "name": "a GPU",
        "driver": "570.1",
        "most_sm_clock_mhz": "1980",
        "most_memory_clock_mhz": "3201",
        "power_limit_w": "700.00",
    }
    assert MeasuredDevice("a CPU").state() is None
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert gpu.state() is None
