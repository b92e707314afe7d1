"""The archive and the package: one form, nothing outside it, a sentence for what is refused."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from pathlib import Path

import pytest
from synthetic_run import make_run, passing

from sessrun.reports import archive
from sessrun.reports.archive import PackageError, pack, read_archive, unpack
from sessrun.reports.json_forms import json_bytes
from sessrun.reports.package import (
    FILES,
    derived_files,
    manifest_of,
    open_package,
    read_package,
    write_package,
)
from sessrun.reports.verdicts import answers_of, summarize
from sessrun.spec.schema import check


def zip_of(entries, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as made:
        for name, raw in entries:
            made.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), raw, compression)
    return buffer.getvalue()


def refused(raw, file=None):
    with pytest.raises(PackageError) as caught:
        unpack(raw, "package.zip")
    if file is not None:
        assert caught.value.file == file
    return str(caught.value)


def test_packing_is_deterministic_and_reversible():
    files = {"record.jsonl": b"a", "replays/x.json": b"", "plan.json": bytes(range(256))}
    assert pack(files) == pack(dict(reversed(files.items())))
    assert unpack(pack(files), "p") == files


@pytest.mark.parametrize(
    "name",
    [
        "../plan.json",
        "/plan.json",
        "replays/../plan.json",
        "replays/a/b.json",
        "plan.json/",
        "C:\\plan.json",
        "replays\\a.json",
        "replays/.json",
        "Plan.json",
        "replays/é.json",
        "",
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(name):
    with pytest.raises(PackageError):
        pack({name: b"x"})
    refused(zip_of([(name, b"x")]))


def test_a_name_twice_is_refused():
    with pytest.warns(UserWarning, match="Duplicate"):
        raw = zip_of([("plan.json", b"1"), ("plan.json", b"2")])
    assert "twice" in refused(raw, "plan.json")


def test_a_compressed_archive_is_refused_before_it_grows():
    raw = zip_of([("plan.json", b"\0" * 10_000_000)], zipfile.ZIP_DEFLATED)
    assert len(raw) < 20_000
    assert "zip bomb" in refused(raw)


def test_a_little_compressed_file_is_refused_too():
    raw = zip_of([("plan.json", b"a"), ("record.jsonl", b"b" * 10)], zipfile.ZIP_DEFLATED)
    assert "compressed" in refused(raw, "plan.json")


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: b"#!/bin/sh\n" + raw,
        lambda raw: raw + b"\0",
        lambda raw: raw[:-2] + b"\x01\x00" + b"x",
        lambda raw: raw.replace(b"\x00\x00\x21\x00", b"\x01\x00\x21\x00", 1),
    ],
)
def test_what_hides_in_an_archive_is_refused(change):
    raw = pack({"plan.json": b"{}"})
    assert change(raw) != raw
    refused(change(raw))


def test_too_many_files_are_refused(monkeypatch):
    monkeypatch.setattr(archive, "MAX_FILES", 3)
    assert "more than 3" in refused(pack({f"replays/{i}.json": b"" for i in range(4)}))


def test_too_large_a_file_is_refused_unread(tmp_path, monkeypatch):
    path = tmp_path / "package.zip"
    path.write_bytes(b"x" * 100)
    monkeypatch.setattr(archive, "MAX_BYTES", 99)
    with pytest.raises(PackageError, match="100 bytes"):
        read_archive(path)


def test_what_is_no_plain_file_is_refused_unread(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(PackageError, match="no plain file"):
            read_archive(path)


def test_what_is_no_archive_is_refused(tmp_path):
    for raw in (b"", b"PK", b"not a zip", b"PK\x05\x06" + b"\0" * 18):
        path = tmp_path / "package.zip"
        path.write_bytes(raw)
        with pytest.raises(PackageError):
            read_package(path)
    with pytest.raises(PackageError, match="cannot be read"):
        read_package(tmp_path / "gone")


def test_an_error_survives_pickling():
    error = pickle.loads(pickle.dumps(PackageError("plan.json", "why")))  # noqa: S301 - ours
    assert (error.file, error.reason) == ("plan.json", "why")


def test_a_package_holds_every_file_and_each_follows_its_schema(good, failing):
    for package in (good, failing):
        files = package.open().files
        assert set(FILES) <= set(files)
        for name in ("manifest", "plan", "environment", "capabilities", "waivers"):
            check(json.loads(files[f"{name}.json"]), "package", name)
        check(json.loads(files["summary.json"]), "summary", "summary")


def test_a_package_holds_a_replay_of_each_case_that_was_answered_wrongly(failing):
    summary = failing.open().summary
    counts = summary["totals"]
    right = sum(counts[r] for r in ("pass", "skipped", "unsupported", "missing"))
    wrong = counts["planned"] - right
    assert len(failing.open().replays) == wrong


def test_the_same_record_gives_the_same_bytes(good, tmp_path):
    again = tmp_path / "again.zip"
    write_package(again, good.run.path, good.run.plan, good.run.clauses)
    assert again.read_bytes() == good.raw


def test_a_cut_run_gets_no_package(tmp_path):
    run = make_run(tmp_path / "record.jsonl", passing, generated=2)
    run.path.write_bytes(run.path.read_bytes()[:-20])
    with pytest.raises(PackageError, match="resume it"):
        write_package(tmp_path / "p.zip", run.path, run.plan, run.clauses)


@pytest.mark.parametrize("name", FILES)
def test_a_package_that_lacks_a_file_names_it(good, name):
    files = {other: raw for other, raw in good.open().files.items() if other != name}
    with pytest.raises(PackageError, match="lacks this file") as caught:
        open_package(pack(files), "p")
    assert caught.value.file == name


def test_an_unknown_file_is_named(good):
    with pytest.raises(PackageError, match=r"setup\.py"):
        open_package(pack({**good.open().files, "setup.py": b""}), "p")


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("plan.json", b"["),
        ("plan.json", b"[" * 100_000),
        ("plan.json", b"\xff"),
        ("plan.json", b'{"kind": "waivers", "kind": "plan"}\n'),
        ("plan.json", json_bytes({"kind": "waivers", "waivers": []})),
        ("summary.json", b"NaN\n"),
        ("summary.json", b"{}\n"),
        ("summary.json", b'{"n": 1e999}\n'),
        ("summary.json", b"1" * 5000),
        (
            "waivers.json",
            json_bytes({"kind": "waivers", "waivers": [{"clause": "X-1", "why": "w"}]}),
        ),
        ("environment.json", json_bytes({"kind": "environment", "environment": {"a": 1}})[:-1]),
        ("record.jsonl", b""),
        ("record.jsonl", b"{}\n"),
        ("record.jsonl", b"\n"),
        ("record.jsonl", b"no newline"),
    ],
)
def test_an_ill_formed_file_is_named(good, name, raw):
    with pytest.raises(PackageError) as caught:
        open_package(pack({**good.open().files, name: raw}), "p")
    assert caught.value.file == name


def altered_record(good, change):
    """The package with each line of its record changed, the record written as ever."""
    lines = [json.loads(line) for line in good.open().files["record.jsonl"].splitlines()]
    for line in lines:
        change(line)
    text = "".join(json.dumps(x, sort_keys=True, separators=(",", ":")) + "\n" for x in lines)
    return pack({**good.open().files, "record.jsonl": text.encode()})


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.get("backend", {}).update(name=7),
        lambda line: line.get("backend", {}).update(capabilities="api"),
        lambda line: line.get("backend", {}).update(devices=[1]),
        lambda line: line.update(seconds=10**400) if "seconds" in line else None,
    ],
)
def test_what_the_record_s_schema_leaves_open_is_checked(good, change):
    with pytest.raises(PackageError) as caught:
        open_package(altered_record(good, change), "p")
    assert caught.value.file == "record.jsonl"


def test_a_record_line_that_another_writer_wrote_is_refused(good):
    files = good.open().files
    spaced = files["record.jsonl"].replace(b'"kind":"footer"', b'"kind": "footer"')
    with pytest.raises(PackageError, match="as the writer of records"):
        open_package(pack({**files, "record.jsonl": spaced}), "p")


def test_the_derived_files_are_functions_of_record_plan_and_waivers(failing):
    package = failing.open()
    run = failing.run
    summary = summarize(package.record, run.plan, run.clauses, "core", package.waivers)
    derived = derived_files(summary, answers_of(package.record, run.plan))
    assert all(package.files[name] == raw for name, raw in derived.items())
    assert package.manifest == manifest_of(package.files, summary)
