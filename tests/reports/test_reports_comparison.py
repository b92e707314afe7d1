"""Comparisons: verdicts with error rates that are measured here, and views that are safe."""

from __future__ import annotations

import copy
import functools
import json
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from rich.console import Console
from synthetic_bench import BACKENDS, CASES, FINGERPRINT, bench, in_blocks, samples

from sessrun.reports import comparison
from sessrun.reports.bench_html import bench_html, comparison_html
from sessrun.reports.bench_terminal import print_bench, print_comparison
from sessrun.reports.comparison import check_bench, compare, compare_backends, read_bench
from sessrun.reports.measures import measures_of, seconds_text
from sessrun.reports.plots import times_plot
from sessrun.spec.schema import SpecError, check


def one(old, new, **options):
    """The one row of the comparison of two series of samples."""
    runs = []
    for values in (old, new):
        run = bench()
        run["series"] = [{**run["series"][0], "samples": list(values)}]
        run["rounds"] = len(values)
        runs.append(run)
    return compare(*runs, **options).rows[0]


@pytest.fixture
def fewer_resamples(monkeypatch):
    """A fifth of the resamples: intervals vary a little more, where many are counted."""
    monkeypatch.setattr(comparison, "_RESAMPLES", 2_000)


def test_a_benchmark_file_follows_its_schema(tmp_path):
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(bench()))
    assert read_bench(path) == bench()


@pytest.mark.parametrize(
    "change",
    [
        lambda run: run["series"].append(run["series"][0]),
        lambda run: run["series"][0]["samples"].pop(),
        lambda run: run["series"][0]["samples"].__setitem__(0, 0.0),
        lambda run: run["series"][0].__setitem__("unit", "ms"),
        lambda run: run.pop("fingerprint"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(change):
    run = bench()
    change(run)
    with pytest.raises(SpecError):
        check_bench(run, "bench.json")


@pytest.mark.parametrize(
    "change",
    [
        lambda run, _: run.pop("block_rounds"),
        lambda _, series: series.pop("blocks"),
        lambda _, series: series.update(blocks=11),
        lambda _, series: series.update(in_blocks(8)["series"][0]),
        lambda _, series: [series.pop(key) for key in ("blocks", "batches")],
        lambda _, series: series["batches"].update(calls=11),
        lambda _, series: series["batches"].update(calls=10**400),
        lambda _, series: series["batches"].update(wall_once=[0] * 36),
        lambda _, series: series["batches"].update(wall_twice=[5e-324] * 36),
        lambda _, series: series["batches"].pop("processor_twice"),
        lambda run, _: [series["batches"].pop("processor_twice") for series in run["series"]],
    ],
)
def test_batches_that_contradict_the_file_are_refused(change):
    run = in_blocks()
    change(run, run["series"][0])
    with pytest.raises(SpecError):
        check_bench(run, "bench.json")


def test_a_clock_that_did_not_go_decides_nothing():
    run = in_blocks(12, factor=1.2)
    for series in run["series"]:
        series["batches"] |= {"processor_once": [0] * 36, "processor_twice": [5e-324] * 36}
    check_bench(run, "bench.json")
    for found in (compare_backends(run, "old", "new"), compare(run, in_blocks(12, factor=1.2))):
        assert {row.clock for row in found.rows} == {"wall"}
    assert compare_backends(run, "old", "new").rows[0].verdict == "SLOWER"


@pytest.mark.parametrize("other", [1, 2, 100])
def test_runs_with_batches_of_other_lengths_are_compared_by_the_call(other):
    rows = compare(in_blocks(calls=1), in_blocks(16, calls=other)).rows
    assert [row.verdict for row in rows] == ["SAME", "SAME"]


def test_times_without_any_noise_are_compared():
    run = in_blocks()
    for series in run["series"]:
        series["batches"] |= {name: [1e-5] * 36 for name in series["batches"] if name != "calls"}
    assert [row.ratio for row in compare(run, run).rows] == [1.0, 1.0]


def test_a_run_in_blocks_and_one_without_are_compared_by_samples():
    old = in_blocks()
    for series in old["series"]:
        del series["batches"], series["blocks"]
    for pair in ((old, in_blocks(16)), (in_blocks(16), old)):
        assert [(row.verdict, row.blocks) for row in compare(*pair).rows] == [("SAME", None)] * 2


@pytest.mark.parametrize(
    ("factor", "noise", "verdict"),
    [
        (1.3, 0.02, "SLOWER"),
        (0.7, 0.02, "FASTER"),
        (1.0, 0.02, "SAME"),
        (1.0, 0.3, "UNDECIDED"),
    ],
)
def test_the_four_verdicts(factor, noise, verdict):
    row = one(samples(1e-3, 60, 1, noise), samples(1e-3 * factor, 60, 2, noise))
    assert row.verdict == verdict
    assert row.low <= row.ratio <= row.high
    assert row.low <= factor <= row.high


def test_the_ratio_is_of_medians():
    row = one([1.0] * 5 + [9.0] * 4, [2.0] * 5 + [1.0] * 4)
    assert (row.ratio, row.old_median, row.new_median) == (2.0, 1.0, 2.0)


def test_equal_samples_are_the_same():
    row = one([1e-3] * 10, [1e-3] * 10)
    assert (row.verdict, row.low, row.high) == ("SAME", 1.0, 1.0)


def test_too_few_rounds_decide_nothing():
    row = one([1.0] * 5, [2.0] * 5)
    assert (row.verdict, row.low) == ("UNDECIDED", None)
    assert "too few" in row.reason


def test_wrong_answers_have_no_speed():
    old, new = bench(1), bench(2, factors={"fetch 4 MB": 0.1})
    new["series"][7]["correct"] = False
    row = next(
        r for r in compare(old, new).rows if (r.case, r.backend) == ("fetch 4 MB", "reference")
    )
    assert (row.verdict, row.ratio) == ("UNDECIDED", None)
    assert "new side were wrong" in row.reason


def test_the_same_seed_gives_the_same_intervals_whatever_else_is_compared():
    old, new = bench(1), bench(2)
    whole = {(r.case, r.backend): r for r in compare(old, new, seed=3).rows}
    part = copy.deepcopy(new)
    part["series"] = part["series"][5:6]
    row = compare(old, part, seed=3).rows[0]
    assert whole[row.case, row.backend] == row
    other = compare(old, part, seed=4).rows[0]
    assert (other.low, other.high) != (row.low, row.high)


def test_rounds_that_were_slow_for_everybody_cancel_where_they_are_paired():
    weather = np.repeat([1.0, 1.8], 20)
    run = bench()
    run["rounds"] = 40
    run["series"] = run["series"][:2]
    for series, factor in zip(run["series"], (1.0, 1.08), strict=True):
        noise = samples(1e-3 * factor, 40, int(factor * 100), 0.002)
        series["samples"] = list(np.minimum(noise, 1.02e-3 * factor) * weather)
    paired = compare_backends(run, "tensorflow", "reference")
    apart = one(run["series"][0]["samples"], run["series"][1]["samples"])
    assert (paired.rows[0].verdict, paired.rows[0].paired) == ("SLOWER", True)
    assert apart.verdict == "UNDECIDED"


def test_different_machines_are_said_plainly():
    other = compare(
        bench(1), bench(2, fingerprint={**FINGERPRINT, "processor": "Xeon", "extra": 1})
    )
    assert not other.same_machine
    assert "different machines" in other.notes[0]
    assert "Xeon" in other.notes[0]
    assert compare(bench(1), bench(2)).same_machine
    newer = {**FINGERPRINT, "backends": {"reference": "2"}}
    older = {**FINGERPRINT, "backends": {"reference": "1"}}
    assert compare(bench(1, fingerprint=older), bench(2, fingerprint=newer)).same_machine


def test_of_packages_only_those_that_differ_are_named():
    sides = [
        bench(1, fingerprint={**FINGERPRINT, "packages": {"numpy": "2.4", "protobuf": version}})
        for version in ("6", "7")
    ]
    assert compare(*sides).differs == ("protobuf: 6 / 7",)


def test_series_that_one_side_lacks_are_listed():
    old, new = bench(1), bench(2)
    dropped = new["series"].pop()
    new["series"][0]["case"] = "something new"
    found = compare(old, new)
    assert f"{dropped['case']} ({dropped['backend']})" in found.only_old
    assert found.only_new == ("something new (tensorflow)",)
    assert len(found.rows) == len(CASES) * len(BACKENDS) - 2


def test_a_comparison_follows_its_schema():
    for found in (
        compare(bench(1), bench(2)),
        compare_backends(bench(), "tensorflow", "reference"),
    ):
        form = json.loads(json.dumps(found.to_json()))
        check(form, "comparison", "comparison")


def test_many_comparisons_say_how_many_chance_decides():
    assert not any("chance" in note for note in compare(bench(1), bench(2)).notes)
    wide = bench(1)
    wide["series"] = [{**s, "case": f"{s['case']} {n}"} for n in range(3) for s in wide["series"]]
    note = next(note for note in compare(wide, wide).notes if "chance" in note)
    assert note.startswith("Of 54 comparisons at 95%, up to 3")


@pytest.mark.usefixtures("fewer_resamples")
@pytest.mark.parametrize("rounds", [6, 12, 30])
def test_the_same_code_is_called_faster_or_slower_once_in_twenty_at_most(rounds):
    counts = Counter(
        one(samples(1e-3, rounds, 2 * i, 0.05), samples(1e-3, rounds, 2 * i + 1, 0.05)).verdict
        for i in range(200)
    )
    assert counts["FASTER"] + counts["SLOWER"] <= 16


@pytest.mark.usefixtures("fewer_resamples")
def test_a_slowdown_of_a_tenth_is_found_in_thirty_rounds():
    found = [
        one(samples(1e-3, 30, 2 * i, 0.03), samples(1.1e-3, 30, 2 * i + 1, 0.03)).verdict
        for i in range(60)
    ]
    assert found.count("SLOWER") >= 55
    assert "FASTER" not in found


@pytest.mark.usefixtures("fewer_resamples")
def test_an_interval_covers_the_true_ratio_nineteen_times_in_twenty():
    rows = [
        one(samples(1e-3, 20, 2 * i, 0.08), samples(1.05e-3, 20, 2 * i + 1, 0.08))
        for i in range(200)
    ]
    assert sum(row.low <= 1.05 <= row.high for row in rows) >= 182


def test_ceilings_are_shares_of_what_the_machine_reached():
    measure = measures_of(bench())["matmul 1024"][0]
    expected = 2 * 1024**3 / measure.median / 1.6e11
    assert measure.ceilings == {"flops": pytest.approx(expected)}


def test_times_are_in_the_unit_that_fits():
    texts = [seconds_text(s) for s in (1.25, 0.0125, 1.3e-7, 9.99e-4, 5e-12, 90.0)]
    assert texts == ["1.25 s", "12.5 ms", "130 ns", "999 µs", "0.005 ns", "90 s"]


EVIL = "[bold]\x1b[31m<script>$x$&"


def evil(seed):
    run = bench(seed)
    for series in run["series"]:
        series["backend"] += EVIL
        series["case"] += EVIL
    run["fingerprint"][EVIL] = EVIL
    return run


@functools.cache
def pages():
    old, new = evil(1), evil(2)
    names = [f"{backend}{EVIL}" for backend in BACKENDS]
    return (
        comparison_html(compare(old, new, names=(EVIL, EVIL)), old, new),
        bench_html(old, [compare_backends(old, names[0], names[1])]),
    )


def test_the_pages_escape_names_load_nothing_and_need_no_foreign_style():
    for page in pages():
        assert "<script" not in page
        assert "\x1b" not in page
        assert not re.search(r"""\ssrc\s*=|@import|<link|style=|href="(?!#)|url\((?!#)""", page)
        assert page.count("<style>") == 1


def test_every_id_on_a_page_is_there_once_and_every_reference_leads_to_one():
    for page in pages():
        ids = re.findall(r'\sid="([^"]*)"', page)
        assert len(ids) == len(set(ids))
        assert {*re.findall(r'href="#([^"]*)"', page), *re.findall(r"url\(#([^)]*)\)", page)} <= {
            *ids
        }


def test_a_plot_is_well_formed_labelled_deterministic_and_in_the_page_s_colours():
    measures = measures_of(bench())["no-op run"]
    plot = times_plot(measures, "p")
    assert plot == times_plot(measures, "p")
    root = ET.fromstring(plot)  # noqa: S314 - our own output
    assert root.get("role") == "img"
    assert "tensorflow" in root.get("aria-label")
    assert "var(--series-0)" in plot
    assert not re.search(r'(?:fill|stroke)="#', plot)


@pytest.mark.parametrize(
    "values", [[1e-3] * 8, [1e-9, 1e2] * 4, [1e-3, 1.0001e-3] * 4, [1e-12] * 8]
)
def test_an_axis_has_between_one_and_eight_ticks(values):
    run = bench()
    run["series"] = [{**run["series"][0], "samples": values}]
    plot = times_plot(measures_of(run)["no-op run"], "p")
    assert 1 <= len(re.findall(r'id="p-xtick_\d+"', plot)) <= 8


def test_the_terminal_shows_every_row_and_parses_no_markup(tmp_path: Path):
    with (tmp_path / "out").open("w") as file:
        console = Console(width=240, record=True, file=file)
        print_bench(evil(1), console)
        found = compare(evil(1), evil(2))
        print_comparison(found, console)
    text = console.export_text()
    assert "\x1b" not in text
    assert "[bold]" in text
    assert text.count("tensorflow") == 2 * len(CASES)
