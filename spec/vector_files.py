"""Where vectors are read from: the folder of a checkout, or the archive that a wheel has instead.

Two thousand small files are a third of a wheel, and of what it installs; in one archive, which
`setup.py` packs of them, they are a sixteenth of it. A vector has the same path in either.
"""

from __future__ import annotations

import functools
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

__all__ = ["archive_of", "vector_bytes", "vector_files"]


def archive_of(folder: Path) -> Path | None:
    """The archive that stands for the folder of the vectors; None where there is the folder."""
    return None if folder.is_dir() else folder.with_name(f"{folder.name}.tar.xz")


def vector_files(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Path and content of each vector, sorted by subject and slug."""
    archive = archive_of(folder)
    if archive is None:
        paths = folder.glob("*/*.json")
        for path in sorted(paths, key=lambda path: path.with_suffix("").as_posix()):
            yield path, path.read_bytes()
    else:
        yield from _archived(archive, folder).items()


def vector_bytes(folder: Path, id_: str) -> tuple[Path, bytes] | None:
    """Path and content of the vector `subject/slug`; None if there is none."""
    path, archive = folder / f"{id_}.json", archive_of(folder)
    if archive is None:
        return (path, path.read_bytes()) if path.is_file() else None
    raw = _archived(archive, folder).get(path)
    return None if raw is None else (path, raw)


@functools.cache
def _archived(archive: Path, folder: Path) -> Mapping[Path, bytes]:
    """The content of each file of the archive, by the path that it has in the folder."""
    contents = {}
    with tarfile.open(archive, "r:xz") as members:
        for member in members:
            file = members.extractfile(member)
            if file is not None:
                contents[folder / member.name] = file.read()
    return MappingProxyType(contents)
