"""Which data files of the spec have been checked, so that nobody checks them again.

Checking 1,900 vectors against their schema takes seconds; reading them takes a fraction of one.
`spec/checked.sha256` states, as `sha256sum` writes it, the digests of the schemas and of every file
that was checked against them. A reader compares the digests: a file that is not as stated, or
whose schema is not, is checked anew in full. Nothing rests on the statement but the time.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sessrun.spec.vector_files import archive_of

__all__ = ["STATEMENT", "forget_statement", "is_stated"]

_SPEC: Final = Path(__file__).parent
#: Where the digests stand: a line `digest  path` for each file.
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
    stated = _stated().get(name) == hashlib.sha256(raw).hexdigest()
    return (stated or _is_of_the_archive(path)) and _same_schema(schema)


@functools.cache
def _stated() -> Mapping[str, str]:
    """The digests of the statement by path; none if there is no statement."""
    try:
        lines = STATEMENT.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    return {path: digest for digest, _, path in (line.partition("  ") for line in lines)}


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
