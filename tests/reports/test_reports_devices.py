"""Benchmarks of devices in reports: which clock, how sure, and SIMULATED where nothing is."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from rich.console import Console
from synthetic_bench import bench, samples

from sessrun.reports.bench_html import bench_html, comparison_html
from sessrun.reports.bench_terminal import print_bench, print_comparison
from sessrun.reports.comparison import check_bench, compare, compare_backends
from sessrun.reports.device_words import ceiling_text, device_facts, doubts
from sessrun.reports.measures import measures_of
from sessrun.spec.schema import SpecError, check

COUNTS = {
    "counted_on": "simulated-gpu",
    "launches": 277,
    "synchronizations": 1,
    "hidden_synchronizations": 0,
    "upload_bytes": 802816,
    "download_bytes": 4,
}


def on_gpu(seed: int = 1, *, simulated: bool = False, name: str = "NVIDIA H200") -> dict[str, Any]:
    """A run on a GPU: events beside the wall clock but for one backend, which has none."""
    run = bench(seed)
    run["device"] = {"name": name, "kind": "gpu", "simulated": simulated}
    run["ceilings"] = {"flops": 5e13, "flops_bfloat16": 8e14, "bytes": 4e12, "launch_seconds": 2e-6}
    run["ceilings_after"] = dict(run["ceilings"])
    run["states"] = [
        {"round": number, "sm_clock_mhz": 1980 - 15 * number, "power_w": 500.0, "throttle": []}
        for number in range(3)
    ]
    for series in run["series"]:
        series["compile_seconds"] = 0.25
        if series["backend"] != "tensorflow":
            series["device_samples"] = [0.5 * value for value in series["samples"]]
        if series["case"] == "matmul 1024":
            series |= {"dtype": "bfloat16", "counts": COUNTS}
            series["cold_samples"] = [2 * value for value in series["samples"]]
    return run


def shown(run: dict[str, Any]) -> str:
    console = Console(width=200, record=True, file=io.StringIO())
    print_bench(run, console)
    return console.export_text()


def test_such_a_run_follows_its_schema() -> None:
    check_bench(on_gpu(), "bench.json")


@pytest.mark.parametrize("kind", ["device_samples", "cold_samples"])
def test_a_sample_of_no_round_is_refused(kind: str) -> None:
    run = on_gpu()
    next(series for series in run["series"] if kind in series)[kind].pop()
    with pytest.raises(SpecError, match=kind):
        check_bench(run, "bench.json")


def test_a_state_of_no_round_is_refused() -> None:
    run = on_gpu()
    run["states"][0]["round"] = run["rounds"]
    with pytest.raises(SpecError, match="no round"):
        check_bench(run, "bench.json")


def test_events_are_compared_where_both_sides_have_them() -> None:
    old, new = on_gpu(1), on_gpu(2)
    for series in new["series"]:
        series["samples"] = [3 * value for value in series["samples"]]
    found = compare(old, new)
    clocks = {(row.backend, row.clock) for row in found.rows}
    assert clocks == {("tensorflow", "wall"), ("reference", "device"), ("numpy floor", "device")}
    assert {row.verdict for row in found.rows if row.clock == "wall"} == {"SLOWER"}
    assert "SLOWER" not in {row.verdict for row in found.rows if row.clock == "device"}
    assert any("between events of the device" in note for note in found.notes)
    check(json.loads(json.dumps(found.to_json())), "comparison", "comparison")
    mixed = compare_backends(old, "tensorflow", "reference")
    assert {row.clock for row in mixed.rows} == {"wall"}


def test_two_devices_are_said_to_be_two() -> None:
    found = compare(on_gpu(1), on_gpu(2, name="NVIDIA A100"))
    assert not found.same_machine
    assert "NVIDIA H200 / NVIDIA A100" in found.notes[0]
    assert "absent / NVIDIA H200" in compare(bench(1), on_gpu(2)).notes[0]


def test_times_of_a_stand_in_decide_nothing() -> None:
    for pair in ((on_gpu(1), on_gpu(2, simulated=True)), (on_gpu(1, simulated=True), on_gpu(2))):
        found = compare(*pair)
        assert {(row.verdict, row.ratio) for row in found.rows} == {("UNDECIDED", None)}
        assert all(row.reason.startswith("SIMULATED") for row in found.rows)
        assert any("SIMULATED" in note for note in found.notes)
        assert "SIMULATED" in comparison_html(found, *pair)
    run = on_gpu(simulated=True)
    (row, *_) = compare_backends(run, "tensorflow", "reference").rows
    assert (row.verdict, row.ratio) == ("UNDECIDED", None)


def test_a_ceiling_that_changed_is_a_doubt() -> None:
    run = on_gpu()
    assert doubts(run) == []
    run["ceilings_after"]["bytes"] *= 0.96
    assert doubts(run) == [], "four parts of a hundred are noise"
    run["ceilings_after"]["bytes"] = 0.9 * run["ceilings"]["bytes"]
    (doubt,) = doubts(run)
    assert "copy within the device -10%" in doubt
    assert "float32" not in doubt
    assert f"The new side: {doubt}" in compare(on_gpu(2), run).notes
    assert doubt.split(":")[0] in shown(run)
    assert doubt.split(":")[0] in bench_html(run)


def test_throttling_is_a_doubt_with_its_reasons() -> None:
    run = on_gpu()
    run["states"][1]["throttle"] = ["sw_power_cap"]
    assert doubts(run) == ["The device's clocks were held down in 1 of 3 rounds: sw_power_cap."]
    assert dict(device_facts(run)) == {
        "Device": "NVIDIA H200",
        "SM clock": "1950 to 1980 MHz",
        "Power": "500 W",
        "Throttling": "1 of 3 rounds: sw_power_cap",
    }


def test_a_share_is_of_the_ceiling_of_the_dtype_by_the_device_s_own_clock() -> None:
    cases = measures_of(on_gpu())
    by_wall, by_device, _ = cases["matmul 1024"]
    assert by_wall.device is None
    assert by_device.device == pytest.approx(by_device.median / 2)
    for measure, seconds in ((by_wall, by_wall.median), (by_device, by_device.device)):
        share = 2.0 * 1024**3 / seconds / 8e14
        assert measure.ceilings == {"flops_bfloat16": pytest.approx(share)}
    assert cases["fetch 4 MB"][0].ceilings == {}, "its bytes go over the bus"


def test_the_stand_in_is_said_to_be_one_everywhere() -> None:
    run = on_gpu(simulated=True)
    assert doubts(run)[0].startswith("SIMULATED")
    assert shown(run).startswith("SIMULATED")
    assert "SIMULATED: Benchmarks of" in bench_html(run)
    assert "SIMULATED" not in shown(on_gpu())
    assert "SIMULATED" not in bench_html(on_gpu())


def test_both_views_show_device_times_counts_ceilings_and_what_was_left_out() -> None:
    run = on_gpu()
    run["left_out"] = [{"case": "ceiling flops_tf32", "reason": "no cuBLAS"}]
    for text in (shown(run), bench_html(run)):
        for told in (
            "277",
            "803 kB",
            "800 TFLOP/s",
            "no cuBLAS",
            "1950 to 1980 MHz",
            "NVIDIA H200",
        ):
            assert told in text, told
    assert "cold" in shown(run)
    assert "250 ms" in bench_html(run), "the first call's time"


def test_ceilings_are_in_the_unit_that_fits() -> None:
    texts = [
        ceiling_text(name, value)
        for name, value in (
            ("flops", 5.12e13),
            ("flops_bfloat16", 9e14),
            ("bytes", 4.1e12),
            ("upload_bytes", 5.5e10),
            ("launch_seconds", 2.1e-6),
        )
    ]
    assert texts == ["51.2 TFLOP/s", "900 TFLOP/s", "4.1 TB/s", "55 GB/s", "2.1 µs"]


def test_a_comparison_in_the_terminal_says_what_it_cannot_say() -> None:
    console = Console(width=200, record=True, file=io.StringIO())
    print_comparison(compare(on_gpu(1), on_gpu(2, simulated=True)), console)
    text = console.export_text()
    assert "different machines or settings" in text
    assert "SIMULATED" in text


def test_noise_of_the_wall_clock_does_not_hide_what_the_device_says() -> None:
    old, new = on_gpu(1), on_gpu(1)
    for series in new["series"]:
        if "device_samples" in series:
            series["samples"] = samples(1e-3, new["rounds"], 9, 0.5)
    rows = compare(old, new).rows
    assert {row.ratio for row in rows if row.clock == "device"} == {1.0}
