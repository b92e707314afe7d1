"""The page of a GPU: everything that is there, nothing that is not, broken files by their name."""

import re
from pathlib import Path

import numpy as np
import pytest
from synthetic_gpu import CEILINGS, gpu_folder, matmuls, ncu_text, run, series

from sessrun.cli.main import main
from sessrun.reports.device_words import quantity_text
from sessrun.reports.gpu_folder import read_gpu_folder
from sessrun.reports.gpu_html import gpu_html
from sessrun.reports.gpu_tables import counted_jobs, families
from sessrun.reports.kernel_profile import ProfileError, heaviest, read_profile
from sessrun.reports.measures import seconds_text

#: A time or a rate of a device, as the page writes them.
FIGURE = re.compile(r"\d (?:ns|µs|ms|[kMGTP]?FLOP/s|[kMGTP]?B/s|MHz|W)\b")


@pytest.fixture
def folder(tmp_path, failing) -> Path:
    return gpu_folder(tmp_path / "gpu", failing.path)


@pytest.fixture(scope="module")
def full_page(tmp_path_factory, failing) -> str:
    """The page of a folder in which everything is."""
    day = read_gpu_folder(gpu_folder(tmp_path_factory.mktemp("full") / "gpu", failing.path))
    assert not day.problems
    return gpu_html(day)


def page_of(folder: Path) -> str:
    return gpu_html(read_gpu_folder(folder))


def test_the_page_has_every_part_of_a_whole_folder(full_page):
    assert "sess.run on NVIDIA H200" in full_page
    for text in (
        "NOT CERTIFIED",
        "1 of 2 gave the same on both",
        "ERROR SUMMARY: 0 errors",
        "cuBLAS is too old",
        "held down in 6 of 36 rounds: sw_power_cap",
        "torch",
    ):
        assert text in full_page, text
    assert full_page.count("<svg") >= 6
    assert "Nothing of this is here" not in full_page
    assert "SIMULATED" not in full_page


def test_the_page_loads_nothing_and_runs_nothing_that_it_shows(full_page):
    assert "<script" not in full_page
    assert "default-src &#39;none&#39;" in full_page
    assert not re.search(r'(?:src|href)="(?!#)', full_page)
    assert "&lt;b&gt;failed&lt;/b&gt;" in full_page


def test_what_the_stand_in_counts_beside_a_gpu_makes_no_simulation_of_it(folder):
    day = read_gpu_folder(folder)
    assert day.counts is not None
    assert not day.simulated
    assert [row["job"] for row in counted_jobs({"counts": day.counts})] == ["cnn-adam-fed-256"]
    page = gpu_html(day)
    assert ">cnn-adam-fed-256</th>" in page
    assert "1.5 s" not in page, "the stand-in's times are nobody's"
    (folder / "counts" / "bench.json").unlink()
    assert "cnn-adam-fed-256" not in page_of(folder)


def test_times_are_medians_with_their_quartiles_and_ratios_of_medians(full_page):
    ours, theirs = (np.array(member["samples"]) for member in matmuls()[2:4])
    assert seconds_text(float(np.median(ours))) in full_page
    low, high = np.quantile(ours, (0.25, 0.75))
    assert f"{seconds_text(float(low)).split()[0]} to {seconds_text(float(high))}" in full_page
    assert f">{np.median(theirs) / np.median(ours):.3g}</td>" in full_page


def test_ceilings_stand_before_and_after_with_units(full_page):
    assert quantity_text(CEILINGS["flops_bfloat16"], "FLOP/s") in full_page
    assert quantity_text(CEILINGS["bytes"] * 0.99, "B/s") in full_page
    assert "-1.0%" in full_page


def test_throughput_is_drawn_in_what_comes_closer_to_its_ceiling():
    adds = [
        series(
            f"add-float32-{size}",
            "reference",
            3 * size / 3.9e12,
            size % 97,
            dtype="float32",
            bytes=3.0 * size,
            flops=size / 4,
        )
        for size in (4 * 2**20, 64 * 2**20, 2**30)
    ]
    (table,) = families({"add": run(adds, simulated=False)})
    assert "bytes of one call" in table["plot"]
    assert "a copy 4.1 TB/s" in table["plot"]
    (table,) = families({"matmul": run(matmuls(), simulated=False)})
    assert "floating-point operations of one call" in table["plot"]


def test_a_wrong_answer_has_no_ratio():
    members = matmuls()[:2]
    members[1] |= {"correct": False, "detail": "want 2, got 3"}
    (table,) = families({"matmul": run(members, simulated=False)})
    right, wrong = table["jobs"][0]["rows"]
    assert (right["ratio"], wrong["ratio"]) == ("1", "none")
    assert wrong["wrong"] == "wrong answer: want 2, got 3"


def test_a_folder_of_the_stand_in_says_so_and_shows_no_figure_of_a_gpu(tmp_path):
    page = page_of(gpu_folder(tmp_path / "gpu", simulated=True))
    assert "<b>SIMULATED</b>" in page
    assert "sess.run on a SIMULATED GPU" in page
    assert not FIGURE.search(page), FIGURE.search(page)
    assert "277" in page  # launches are counted there


def test_one_run_of_the_stand_in_makes_the_page_one_of_it(folder, tmp_path):
    other = gpu_folder(tmp_path / "other", simulated=True)
    (other / "bench/matmul-float32/bench.json").rename(folder / "bench/matmul-float32/bench.json")
    page = page_of(folder)
    assert "<b>SIMULATED</b>" in page
    assert not FIGURE.search(page)


def test_an_empty_folder_says_of_every_part_what_makes_it(tmp_path):
    page = page_of(tmp_path)
    for part in ("survey", "certify", "bench", "profile"):
        assert f"make gpu-{part}" in page
    assert not FIGURE.search(page)


def test_a_certification_that_was_cut_says_how_far_it_is(folder, failing):
    (folder / "certify/core/package.zip").unlink()
    record = failing.run.path.read_bytes().splitlines(keepends=True)
    (folder / "certify/core/record.jsonl").write_bytes(b"".join(record[:11]) + record[11][:20])
    answered = sum(b'"kind":"result"' in line for line in record[:11])
    page = page_of(folder)
    assert f"core was cut after {answered} of {len(failing.run.record.results):,} cases" in page
    assert "could not be read" not in page


FILES = {
    "survey.json": "AMD EPYC</dd>",
    "peers.json": "2.11.0",
    "smoke.jsonl": "spectra",
    "steps.jsonl": "one GPU",
    "bench/matmul-float32/bench.json": "matmul-float32, 12 rounds",
    "profile/cnn-adam-resident-256.csv": "sgemm_128x128",
    "certify/core/package.zip": '<th scope="row">core<',
}


@pytest.mark.parametrize("name", [*FILES, "ceilings/bench.json"])
def test_a_file_that_is_cut_is_named_and_the_rest_is_shown(folder, name, capsys):
    (folder / name).write_bytes((folder / name).read_bytes()[:-9])
    assert main(["report", "gpu", str(folder), "--output", str(folder / "page.html")]) == 2
    assert name in capsys.readouterr().err
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert f"<code>{name}</code>" in page
    # Of a file of lines all but the cut one are shown.
    missing = {file for file, text in FILES.items() if text not in page}
    assert missing == {name} - {"ceilings/bench.json", "smoke.jsonl", "steps.jsonl"} or (
        missing == {"smoke.jsonl"} == {name}  # its last line was the one that failed
    )


def test_every_file_may_be_empty(folder):
    for name in (*FILES, "ceilings/bench.json"):
        (folder / name).write_bytes(b"")
    day = read_gpu_folder(folder)
    named = {name for name in FILES if not name.endswith(".jsonl")}
    assert set(day.problems) == named | {"ceilings/bench.json"}
    assert f"<b>{len(day.problems)} files could not be read" in gpu_html(day)


@pytest.mark.parametrize("content", ["[]", "7", '{"survey": 1}', '{"a": 1e999}', "[" * 100_000])
def test_a_survey_of_another_form_is_told(folder, content):
    (folder / "survey.json").write_text(content)
    day = read_gpu_folder(folder)
    assert list(day.problems) == ["survey.json"]
    assert "Ceilings" in gpu_html(day)


def test_there_is_no_page_of_no_folder(tmp_path, capsys):
    assert main(["report", "gpu", str(tmp_path / "nowhere")]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_kernels_are_summed_by_name_and_a_fused_operation_counts_twice():
    kernels = {kernel.name: kernel for kernel in read_profile(ncu_text())}
    product = kernels["sgemm_128x128"]
    assert (product.launches, product.units) == (2, "float32")
    assert product.seconds == pytest.approx(6e-3)
    assert product.flops == 2 * (2 * 68_719_476_736 + 1000)
    assert product.nbytes == 2 * 201_326_592
    assert product.intensity == product.flops / product.nbytes
    assert kernels["nvjet_hsh_256"].units == "tensor cores"
    assert kernels["im2col <script>alert(1)</script>"].intensity is None
    assert [kernel.name for kernel in heaviest(kernels.values(), 2)] == [
        "sgemm_128x128",
        "im2col <script>alert(1)</script>",
    ]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"ID"', '"Number"', "counted nothing"),
        ('"ns"', '"fortnight"', "fortnight"),
        ("15,000", "many", "is no number"),
        ("gpu__time_duration.sum", "gpu__time.sum", "time of the kernels"),
        ('"ID"', '==ERROR== ERR_NVGPUCTRPERM\n"Number"', "ERR_NVGPUCTRPERM"),
    ],
)
def test_a_profile_that_says_something_else_is_refused(old, new, reason):
    with pytest.raises(ProfileError, match=reason):
        read_profile(ncu_text().replace(old, new))
