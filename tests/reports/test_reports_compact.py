"""The small form of a package: every byte comes back, and nothing hides in it."""

from __future__ import annotations

import json
import lzma
import random

import pytest
from test_reports_fuzz import mutated

from sessrun.reports.archive import PackageError, pack, read_archive, unpack
from sessrun.reports.compact import fold
from sessrun.reports.json_forms import json_bytes, line_bytes

ODD_VALUES = {
    "kind": "h",
    "b12": "b12",
    "data": "AAECAw==",
    "dtype": "float32",
    "not": ["data", "AAE=", "A"],
    "texts": ["true", "null", "", "{", "[1", "-", "é", "a\nb", 'a"b', "a\\b", "word", "\ud800"],
    "numbers": [0, -1, 1.5, 1e300, 10**40, True, None, []],
    "digest": "0f" * 32,
    "[]": {"": {}},
    "data[]": {"data": "AA==", "dtype": 3},
    "held": {"data": "sha256 0", "dtype": "int8"},
}

ODD_FILES = {
    "manifest.json": json_bytes(ODD_VALUES),
    "summary.json": b'{"not": "in the form"}',
    "record.jsonl": b"\n".join(line_bytes({**ODD_VALUES, "n": n}) for n in range(5)) + b"\n",
    "report.html": '<p class="a" id="b">é <b>bold</b></p>\r\n\n"\n<'.encode(),
    "junit.xml": b"with a \0 in it",
    "badge.svg": b"",
    "plan.json": bytes(range(256)),
    "replays/a.json": json_bytes({"replay": 1}),
}


def small_form(head: dict, body: bytes = b"", magic: bytes = b"sessrun columns 1\n") -> bytes:
    full = {"files": [], "shapes": [], "templates": [], "lines": [], "raw": []} | head
    return lzma.compress(magic + json.dumps(full).encode() + b"\n" + body)


def test_every_byte_comes_back():
    assert unpack(fold(ODD_FILES), "p.xz") == dict(sorted(ODD_FILES.items()))


def test_a_package_is_the_same_in_either_form(failing, tmp_path):
    path = tmp_path / "package.xz"
    path.write_bytes(fold(failing.open().files))
    assert pack(read_archive(path)) == failing.raw
    assert len(path.read_bytes()) < len(lzma.compress(failing.raw, preset=9))
    assert failing.verify(path.read_bytes()).verified


def test_a_compressed_archive_and_a_folder_are_read(failing, tmp_path):
    assert unpack(lzma.compress(failing.raw), "p.zip.xz") == failing.open().files
    assert read_archive(failing.path.parent) == failing.open().files
    with pytest.raises(PackageError, match=r"without a package\.zip"):
        read_archive(tmp_path)


REFUSED = {
    "another magic": (small_form({}, magic=b"sessrun columns 2\n"), "neither a zip archive"),
    "no head": (lzma.compress(b"sessrun columns 1\n{"), "not JSON"),
    "a head that is no object": (lzma.compress(b"sessrun columns 1\n[]\n"), "no object"),
    "a file twice": (
        small_form({"files": [["a.b", "raw"]] * 2, "lines": [["a.b", 3]]}, b"0\n0"),
        "twice",
    ),
    "a strange name": (
        small_form({"files": [["../a.b", "raw"]], "lines": [["../a.b", 1]]}, b"0"),
        "a file of this name",
    ),
    "a strange kind": (small_form({"files": [["a.b", "exec"]]}), "do not fit"),
    "a column that nothing reads": (small_form({"lines": [["x", 1]]}, b"0"), "more than is read"),
    "a raw column that nothing reads": (small_form({"raw": [["x", 1]]}, b"0"), "more than is read"),
    "bytes after the columns": (small_form({}, b"0"), "follows its columns"),
    "a column that ends early": (small_form({"files": [["a.b", "json"]]}), "ends too early"),
    "a column larger than the rest": (small_form({"lines": [["x", 9]]}, b"0"), "does not fit"),
    "no shape of this number": (
        small_form({"files": [["a.b", "json"]], "lines": [["", 2]]}, b"{7"),
        "a column holds '{7'",
    ),
    "a list without an end": (
        small_form({"files": [["a.b", "json"]], "lines": [["", 12]]}, b"[99999999999"),
        "ends too early",
    ),
    "a cut stream": (small_form({})[:-8], "its end is missing"),
    "bytes after the stream": (small_form({}) + b"more", "follows its compressed content"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_small_form_is_refused(name):
    raw, said = REFUSED[name]
    with pytest.raises(PackageError, match=said):
        unpack(raw, "p.xz")


def test_a_small_form_that_grows_is_refused(monkeypatch):
    bomb = {"shapes": [["k" * 1000]], "files": [["a.b", "json"]]}
    body = b"[500" + b"\n{0" * 500
    deep = small_form(
        {**bomb, "lines": [["", 4], ["[]", 1499], [("k" * 1000), 999]]},
        body[:4] + body[5:] + b"\n".join([b"0"] * 500),
    )
    monkeypatch.setattr("sessrun.reports.archive.MAX_BYTES", 100_000)
    with pytest.raises(PackageError, match="more than a package may"):
        unpack(deep, "p.xz")
    with pytest.raises(PackageError, match="holds more than 100,000 bytes"):
        unpack(lzma.compress(b"\0" * 200_000), "p.xz")


def test_no_mutation_of_a_small_form_is_verified(small):
    rng = random.Random(4)
    whole = fold(small.open().files)
    content = lzma.decompress(whole)
    for _ in range(60):
        changed = rng.choice((mutated(whole, rng), lzma.compress(mutated(content, rng))))
        try:
            same = unpack(changed, "p.xz") == small.open().files
            assert same or not small.verify(changed).verified
        except PackageError as error:
            assert error.reason
