"""Which data files of the spec have been checked, so that nobody checks them again.

Checking 1,900 vectors against their schema takes seconds; reading them takes a fraction of one.
`spec/checked.sha256` states, as `sha256sum` writes it, the digests of the schemas and of every file
that was checked against them; of vectors, which are many, it has a digest for each folder: that of
the lines of its files. A reader compares the digests: a file that is not as stated, or
whose schema is not, is checked anew in full. Nothing rests on the statement but the time.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sessrun.spec.vector_files import archive_of

__all__ = ["STATEMENT", "file_digests", "folder_digest", "forget_statement", "is_stated"]

_SPEC: Final = Path(__file__).parent
#: Where the digests stand: a line `digest  path` for each file, `digest  path/` for a folder.
STATEMENT: Final = _SPEC / "checked.sha256"


def is_stated(path: Path, raw: bytes, schema: str) -> bool:
    """Whether the statement says that this file, with this content, follows the schema as it is.

    Args:
      path: the file; only files of the spec's own folder are stated.
      raw: its content.
      schema: the schema's name, such as `case`.

    """
    try:
        name = path.relative_to(_SPEC).as_posix()
    except ValueError:
        return False
    if schema == "case":
        stated = _is_of_the_archive(path) or _is_of_a_stated_folder(path, raw)
    else:
        stated = _stated().get(name) == hashlib.sha256(raw).hexdigest()
    return stated and _same_schema(schema)


@functools.cache
def _stated() -> Mapping[str, str]:
    """The digests of the statement by path; none if there is no statement."""
    try:
        lines = STATEMENT.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    return {path: digest for digest, _, path in (line.partition("  ") for line in lines)}


def folder_digest(digests: Mapping[str, str]) -> str:
    """The digest of a folder, given the digest of each file by its name."""
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def file_digests(folder: Path) -> dict[str, str]:
    """The digest of each vector in a folder, by the name of its file."""
    paths = folder.glob("*.json")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def _is_of_a_stated_folder(path: Path, raw: bytes) -> bool:
    """Whether it is a vector with this content in a folder whose files are all as stated."""
    digests = _stated_files(path.parent)
    return digests.get(path.name) == hashlib.sha256(raw).hexdigest()


@functools.cache
def _stated_files(folder: Path) -> Mapping[str, str]:
    """The digest of each file of a folder that is as stated; none of any other."""
    digests = file_digests(folder)
    stated = _stated().get(f"{folder.relative_to(_SPEC).as_posix()}/")
    return digests if stated == folder_digest(digests) else {}


def _is_of_the_archive(path: Path) -> bool:
    """Whether it is a vector of a wheel's archive, which is stated as one file."""
    folder = _SPEC / "vectors"
    return folder in path.parents and _has_its_archive(folder)


@functools.cache
def _has_its_archive(folder: Path) -> bool:
    archive = archive_of(folder)
    if archive is None:
        return False
    return _stated().get(archive.name) == hashlib.sha256(archive.read_bytes()).hexdigest()


@functools.cache
def _same_schema(schema: str) -> bool:
    path = f"schemas/{schema}.schema.json"
    return _stated().get(path) == hashlib.sha256((_SPEC / path).read_bytes()).hexdigest()


def forget_statement() -> None:
    """Read the statement again when it is next asked: it has been written anew."""
    _stated.cache_clear()
    _same_schema.cache_clear()
    _has_its_archive.cache_clear()
    _stated_files.cache_clear()
