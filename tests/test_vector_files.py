"""Vectors out of the archive of a wheel are those of the folder, and are checked no less."""

from __future__ import annotations

import hashlib
import io
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessrun.spec import loader, schema, statement
from sessrun.spec.loader import SPEC_DIR
from sessrun.spec.schema import SpecError
from sessrun.spec.vector_files import vector_files

IDS = ("feed-keys/a-chain-can-be-fed-anywhere", "feed-keys/a-fetched-placeholder-must-be-fed")


def pack(spec: Path, contents: dict[str, bytes]) -> None:
    """The archive of these files, by id, in a spec's folder, stated."""
    with tarfile.open(spec / "vectors.tar.xz", "w:xz") as archive:
        for id_, raw in contents.items():
            member = tarfile.TarInfo(f"{id_}.json")
            member.size = len(raw)
            archive.addfile(member, io.BytesIO(raw))
    names = ("vectors.tar.xz", "schemas/case.schema.json")
    lines = [f"{hashlib.sha256((spec / name).read_bytes()).hexdigest()}  {name}" for name in names]
    (spec / "checked.sha256").write_text("\n".join(lines), encoding="utf-8")
    statement.forget_statement()


def stored(id_: str) -> bytes:
    return (SPEC_DIR / "vectors" / f"{id_}.json").read_bytes()


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A spec with two vectors in an archive."""
    shutil.copytree(SPEC_DIR / "schemas", tmp_path / "schemas")
    monkeypatch.setattr(statement, "_SPEC", tmp_path)
    monkeypatch.setattr(statement, "STATEMENT", tmp_path / "checked.sha256")
    monkeypatch.setattr(loader, "_VECTORS", tmp_path / "vectors")
    loader.load_vectors.cache_clear()
    pack(tmp_path, {id_: stored(id_) for id_ in IDS})
    yield tmp_path
    loader.load_vectors.cache_clear()
    statement.forget_statement()


def checked_sources(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is checked against the schema from now on."""
    sources: list[str] = []
    check = schema.check

    def noted(form: object, name: str, source: str) -> None:
        sources.append(source)
        check(form, name, source)

    monkeypatch.setattr("sessrun.spec.cases.model.check", noted)
    return sources


def test_they_are_those_of_the_folder(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = checked_sources(monkeypatch)
    archived = loader.load_vectors()
    assert tuple(archived) == IDS
    assert loader.load_vector(IDS[0]) == archived[IDS[0]]
    assert [case.id for case in loader.vectors_of({"FEED-003"})] == [IDS[0]]
    assert sources == []
    (spec / "vectors" / "feed-keys").mkdir(parents=True)
    for id_ in IDS:
        (spec / "vectors" / f"{id_}.json").write_bytes(stored(id_))
    assert list(vector_files(spec / "vectors")) == [
        (spec / "vectors" / f"{id_}.json", stored(id_)) for id_ in IDS
    ]
    loader.load_vectors.cache_clear()
    assert loader.load_vectors() == archived


def test_what_is_not_there_is_a_key_error(spec: Path) -> None:
    with pytest.raises(KeyError):
        loader.load_vector("feed-keys/nothing")


def test_an_archive_that_is_not_as_stated_is_checked(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = (spec / "checked.sha256").read_text(encoding="utf-8")
    pack(spec, {IDS[0]: stored(IDS[0]).replace(b'"title":"A', b'"title":"B')})
    (spec / "checked.sha256").write_text(kept, encoding="utf-8")
    statement.forget_statement()
    sources = checked_sources(monkeypatch)
    with pytest.raises(SpecError, match="at hash: content has hash"):
        loader.load_vectors()
    assert len(sources) == 1
