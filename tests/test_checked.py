"""The spec's files are checked against their schemas when they change, and then always."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessrun.spec import checked, loader, schema, statement
from sessrun.spec.cases.model import Case, stored_form
from sessrun.spec.cases.readable import exact
from sessrun.spec.loader import SPEC_DIR
from sessrun.spec.schema import SpecError

_VECTOR = "feed-keys/a-needed-placeholder-must-be-fed"


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A spec with two vectors and a statement that says that they were checked."""
    spec = tmp_path / "spec"
    shutil.copytree(SPEC_DIR / "schemas", spec / "schemas")
    shutil.copytree(SPEC_DIR / "clauses", spec / "clauses")
    for id_ in (_VECTOR, "feed-keys/a-fetched-placeholder-must-be-fed"):
        path = spec / "vectors" / f"{id_}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SPEC_DIR / "vectors" / f"{id_}.json", path)
    for module, name, value in (
        (checked, "_SPEC", spec),
        (checked, "STATEMENT", spec / "checked.sha256"),
        (statement, "_SPEC", spec),
        (statement, "STATEMENT", spec / "checked.sha256"),
        (checked, "_FILES", {"case": "vectors/*/*.json", "clauses": "clauses/*.toml"}),
        (loader, "_VECTORS", spec / "vectors"),
    ):
        monkeypatch.setattr(module, name, value)
    (spec / "checked.sha256").write_text(checked.statement())
    statement.forget_statement()
    yield spec
    statement.forget_statement()


def _without_schemas(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is checked from now on."""
    sources: list[str] = []
    check = schema.check

    def noted(form: object, name: str, source: str) -> None:
        sources.append(source)
        check(form, name, source)

    monkeypatch.setattr("sessrun.spec.cases.model.check", noted)
    monkeypatch.setattr("sessrun.spec.loader.check", noted)
    return sources


def test_the_statement_is_of_the_files_as_they_are() -> None:
    command = [sys.executable, "-m", "sessrun.spec.checked", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_file_that_follows_a_schema_is_stated() -> None:
    stated = statement._stated()
    missing = [
        str(path)
        for schema, path in checked.checked_files()
        if path.relative_to(SPEC_DIR).as_posix() not in stated
        and not (schema == "case" and f"{path.parent.relative_to(SPEC_DIR).as_posix()}/" in stated)
    ]
    assert not missing


def test_what_is_stated_is_not_checked_again(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = _without_schemas(monkeypatch)
    assert len(list(loader.vectors_of({"FEED-007"}))) == 2
    assert loader.load_vector(_VECTOR).clauses == ("FEED-007",)
    loader.load_clauses.__wrapped__(copied / "clauses")
    assert sources == []


def test_a_vector_of_other_clauses_is_left_out(copied: Path) -> None:
    assert list(loader.vectors_of({"FEED-001"})) == []


def test_the_hash_of_a_stated_vector_is_its_contents(copied: Path) -> None:
    path = copied / "vectors" / f"{_VECTOR}.json"
    case = loader.load_vector(_VECTOR)
    assert case == loader.read_vector(path, path.read_bytes())
    assert case.hash == json.loads(path.read_text())["hash"]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('"surface":"engine"', '"surface":"motor"', "at surface: 'motor' is not one of"),
        ('"do":"run"', '"do":"walk"', "at steps.1.do: 'walk' is not one of"),
        ('"title":"A', '"title":"B', "at hash: content has hash"),
        ('"do":"open"', '"do":"open","do":"open"', "the key 'do' is there twice"),
        ("\n}", "\n }", "not written as `sessrun freeze` writes"),
        ('"clauses":[', '"clauses":[ ', "not written as `sessrun freeze` writes"),
    ],
)
def test_a_vector_changed_by_hand_is_refused(copied: Path, old: str, new: str, place: str) -> None:
    path = copied / "vectors" / f"{_VECTOR}.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    readers = (lambda: list(loader.vectors_of({"FEED-001"})), lambda: loader.load_vector(_VECTOR))
    for read in readers:
        with pytest.raises(SpecError, match=str(path)) as caught:
            read()
        assert place in str(caught.value)


def test_a_vector_that_is_laid_out_otherwise_is_laid_out_as_it_is_stored(copied: Path) -> None:
    path = copied / "vectors" / f"{_VECTOR}.json"
    stored = path.read_bytes()
    path.write_text(json.dumps(exact(json.loads(stored)), indent=1), encoding="utf-8")
    assert checked.main(["--lay-out"]) == 0
    assert path.read_bytes() == stored
    assert checked.main(["--check"]) == 0


def test_a_new_vector_is_checked_and_then_taken(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = exact(json.loads((copied / "vectors" / f"{_VECTOR}.json").read_text()))
    del form["hash"]
    case = Case.from_json({**form, "id": "feed-keys/new"}, "new")
    path = copied / "vectors" / "feed-keys" / "new.json"
    path.write_bytes(stored_form(case))
    sources = _without_schemas(monkeypatch)
    assert case in list(loader.vectors_of({"FEED-007"}))
    assert str(path) in sources
    assert {Path(source).parent for source in sources} == {path.parent}
    checked.write_statement()
    sources.clear()
    assert case in list(loader.vectors_of({"FEED-007"}))
    assert sources == []


def test_another_schema_checks_everything_anew(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (copied / "schemas" / "case.schema.json").open("a") as file:
        file.write("\n")
    statement.forget_statement()
    sources = _without_schemas(monkeypatch)
    list(loader.vectors_of({"FEED-001"}))
    assert len(sources) == 2


def test_without_a_statement_everything_is_checked(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (copied / "checked.sha256").unlink()
    statement.forget_statement()
    sources = _without_schemas(monkeypatch)
    list(loader.vectors_of({"FEED-001"}))
    assert len(sources) == 2


@pytest.mark.parametrize("id_", ["feed-keys/no-such", "../clauses/feed", "feed-keys", "a/b/c", ""])
def test_no_vector_has_this_id(id_: str) -> None:
    with pytest.raises(KeyError):
        loader.load_vector(id_)
