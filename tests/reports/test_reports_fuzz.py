"""Mutated packages: whatever is changed, a refusal; never a traceback, never VERIFIED."""

from __future__ import annotations

import json
import os
import random

import pytest

from sessrun.reports.archive import PackageError, pack
from sessrun.reports.json_forms import json_bytes
from sessrun.reports.package import manifest_of
from sessrun.reports.verdicts import summarize

#: How many accidents each test draws.
MUTATIONS = int(os.environ.get("SESSRUN_MUTATIONS", "40"))


def mutated(raw: bytes, rng: random.Random) -> bytes:
    """The bytes with one of the usual accidents, never the same bytes."""
    while True:
        place = rng.randrange(len(raw)) if raw else 0
        span = rng.randrange(1, 1 + min(64, max(1, len(raw) - place)))
        match rng.randrange(6):
            case 0:
                made = raw[:place] + bytes([rng.randrange(256)]) + raw[place + 1 :]
            case 1:
                made = raw[:place] + raw[place + span :]
            case 2:
                made = raw[:place] + rng.randbytes(span) + raw[place:]
            case 3:
                made = raw[:place]
            case 4:
                made = raw[:place] + raw[place : place + span] * 2 + raw[place + span :]
            case _:
                flipped = raw[place] ^ (1 << rng.randrange(8)) if raw else 0
                made = raw[:place] + bytes([flipped]) + raw[place + 1 :]
        if made != raw:
            return made


def outcome(certified, raw: bytes) -> str:
    try:
        verification = certified.verify(raw)
    except PackageError as error:
        return "PackageError" if error.file and error.reason else "no words"
    assert verification.faults
    return verification.status


def test_no_mutation_of_the_archive_is_verified(small):
    rng = random.Random(1)
    outcomes = {outcome(small, mutated(small.raw, rng)) for _ in range(MUTATIONS)}
    assert outcomes == {"PackageError"}


def test_no_mutation_of_a_file_is_verified(small):
    rng = random.Random(2)
    files = small.open().files
    for name in rng.choices(list(files), k=MUTATIONS):
        changed = pack({**files, name: mutated(files[name], rng)})
        assert outcome(small, changed) in {"PackageError", "REFUSED"}


#: What nothing derived shows in full: times and words that only a re-run could refute.
FORGEABLE = {"seconds", "observations", "detail", "finding", "attempts"}


def only_forgeable(old: bytes, new: bytes) -> bool:
    """Whether two records differ only in what a verifier cannot know."""
    try:
        pairs = list(zip(old.splitlines(), new.splitlines(), strict=True))
        forms = [(json.loads(a), json.loads(b)) for a, b in pairs if a != b]
    except ValueError:
        return False
    return all(
        isinstance(b, dict)
        and a["kind"] != "header"
        and {key for key in {*a, *b} if a.get(key) != b.get(key)} <= FORGEABLE
        for a, b in forms
    )


def with_manifest(certified, files):
    """The files with a manifest that names them as they are: the forger who can hash."""
    package = certified.open()
    manifest = dict(package.manifest)
    rest = {name: raw for name, raw in files.items() if name != "manifest.json"}
    summary = summarize(package.record, package.plan, {}, package.profile)
    manifest["files"] = manifest_of(rest, summary)["files"]
    return pack({**rest, "manifest.json": json_bytes(manifest)})


@pytest.mark.parametrize(
    "name",
    [
        "plan.json",
        "record.jsonl",
        "summary.json",
        "waivers.json",
        "environment.json",
        "capabilities.json",
        "report.html",
        "badge.svg",
        "junit.xml",
    ],
)
@pytest.mark.parametrize(
    "count",
    [
        MUTATIONS // 10,
        pytest.param(MUTATIONS, marks=pytest.mark.slow),
    ],
)
def test_no_mutated_file_with_a_new_hash_is_verified(small, name, count):
    rng = random.Random(f"{name} {count}")
    files = small.open().files
    for _ in range(count):
        changed = mutated(files[name], rng)
        package = with_manifest(small, {**files, name: changed})
        if name != "record.jsonl" or not only_forgeable(files[name], changed):
            assert outcome(small, package) in {"PackageError", "REFUSED"}


def paths(form, prefix=()):
    """Every place of a JSON value."""
    yield prefix
    items = form.items() if isinstance(form, dict) else enumerate(form)
    for key, value in items:
        if isinstance(value, dict | list):
            yield from paths(value, (*prefix, key))
        else:
            yield (*prefix, key)


VALUES = (None, True, -1, 0, 10**30, 1e300, "", "x", "\ud800\x00", [], {}, [[]], {"a": {}}, "pass")


def altered(form, rng):
    """The JSON value with one place deleted or holding something else."""
    made = json.loads(json.dumps(form))
    place = rng.choice([path for path in paths(made) if path])
    target = made
    for key in place[:-1]:
        target = target[key]
    if rng.random() < 0.3:
        del target[place[-1]]
    else:
        target[place[-1]] = rng.choice(VALUES)
    return made


@pytest.mark.parametrize(
    "name",
    [
        "plan.json",
        "summary.json",
        "waivers.json",
        "environment.json",
        "capabilities.json",
        "manifest.json",
    ],
)
def test_no_altered_json_file_with_a_new_hash_is_verified(small, name):
    rng = random.Random(name)
    files = small.open().files
    form = json.loads(files[name])
    for _ in range(MUTATIONS // 10):
        changed = altered(form, rng)
        if changed == form:
            continue
        raw = {**files, name: json_bytes(changed)}
        package = pack(raw) if name == "manifest.json" else with_manifest(small, raw)
        assert outcome(small, package) in {"PackageError", "REFUSED"}


def test_no_altered_line_of_a_record_with_a_new_hash_brings_a_traceback(small):
    rng = random.Random(3)
    files = small.open().files
    lines = files["record.jsonl"].splitlines(keepends=True)
    for _ in range(MUTATIONS // 3):
        index = rng.choice([0, rng.randrange(len(lines))])
        form = json.loads(lines[index])
        changed = altered(form, rng)
        if changed == form:
            continue
        text = json.dumps(changed, sort_keys=True, separators=(",", ":")) + "\n"
        record = b"".join((*lines[:index], text.encode(), *lines[index + 1 :]))
        package = with_manifest(small, {**files, "record.jsonl": record})
        if only_forgeable(files["record.jsonl"], record):
            assert refusable(small, package)
        else:
            assert outcome(small, package) in {"PackageError", "REFUSED"}


def refusable(certified, raw) -> bool:
    """Whether reading it ends in a sentence, for or against it."""
    try:
        return certified.verify(raw).status in {"VERIFIED", "REFUSED"}
    except PackageError:
        return True
