"""The archive of a certification package: a zip with exactly one form for given files.

Where it is to be published, its small form (`sessrun.reports.compact`) holds the same files.

Entries are stored, sorted by name, with fixed times and attributes. Stored, because then the
bytes depend on no compressor's version: the reader packs what it unpacked and compares, so
whatever hides in a zip (overlapping entries, a second directory, bytes nobody reads) is found,
and nothing can grow when it is unpacked.
"""

from __future__ import annotations

import io
import re
import stat
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sessrun.reports.compact import XZ_MAGIC, CompactError, decompressed, unfold

__all__ = ["MAX_BYTES", "MAX_FILES", "PACKAGE", "PackageError", "pack", "read_archive", "unpack"]

#: The archive's name in the folder that `sessrun certify` writes.
PACKAGE: Final = "package.zip"

#: The largest archive that is read, in bytes, and the most files in one.
MAX_BYTES: Final = 512 * 2**20
MAX_FILES: Final = 20_000
_NAME: Final = re.compile(r"[a-z][a-z]*\.[a-z]+|replays/[A-Za-z0-9][A-Za-z0-9._-]{0,150}\.json")
_DATE: Final = (1980, 1, 1, 0, 0, 0)
_VERSION: Final = 20
_UNIX: Final = 3
_ZIP_MAGIC: Final = b"PK"


class PackageError(ValueError):
    """A package cannot be read: `file` (the package, or a file in it) and `reason`."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file = file
        self.reason = reason

    def __reduce__(self) -> tuple[type[PackageError], tuple[str, str]]:
        return type(self), (self.file, self.reason)


def pack(files: Mapping[str, bytes]) -> bytes:
    """The archive of these files.

    Raises:
      PackageError: a name is not one that a package may hold.

    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            _check_name(name)
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system = _UNIX
            entry.create_version = entry.extract_version = _VERSION
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name])
    return buffer.getvalue()


def read_archive(path: Path) -> dict[str, bytes]:
    """The files of an archive by name.

    Args:
      path: the archive, its small form, or the folder that `sessrun certify` wrote.

    Raises:
      PackageError: it cannot be read, is too large, or `unpack` refuses it.

    """
    if path.is_dir():
        if not (path / PACKAGE).exists():
            raise PackageError(str(path), f"a folder without a {PACKAGE}")
        path /= PACKAGE
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe would wait, a device never end
            raise PackageError(str(path), "it is no plain file")
        size = status.st_size
        if size > MAX_BYTES:
            raise PackageError(str(path), f"it has {size:,} bytes, more than {MAX_BYTES:,}")
        raw = path.read_bytes()
    except OSError as error:
        raise PackageError(str(path), f"cannot be read: {error.strerror or error}") from error
    return unpack(raw, str(path))


def unpack(raw: bytes, source: str) -> dict[str, bytes]:
    """The files of an archive by name, never written anywhere.

    Args:
      raw: a zip archive, or xz of one or of a package's columns.
      source: where it comes from, for errors.

    Raises:
      PackageError: it is no zip, holds a name twice or one that a package may not hold, is
        compressed, too large, or is not byte for byte what `pack` makes of its files.

    """
    if raw.startswith(XZ_MAGIC):
        try:
            raw = decompressed(raw, MAX_BYTES)
            if not raw.startswith(_ZIP_MAGIC):
                return _checked(unfold(raw, MAX_BYTES), source)
        except CompactError as error:
            raise PackageError(source, str(error)) from error
    if not raw.startswith(_ZIP_MAGIC):
        raise PackageError(source, "no package: neither what certify nor what pack writes")
    try:
        files = _entries(raw, source)
    except (
        zipfile.BadZipFile,
        NotImplementedError,
        RuntimeError,
        ValueError,
        OSError,
        EOFError,
        OverflowError,
        struct.error,
    ) as error:
        if isinstance(error, PackageError):
            raise
        raise PackageError(source, f"not a readable zip archive: {error}") from error
    packed = pack(files)
    if packed != raw:
        offset = next(
            (i for i, (a, b) in enumerate(zip(packed, raw, strict=False)) if a != b),
            min(len(packed), len(raw)),
        )
        raise PackageError(source, f"not in the one form of a package: byte {offset} differs")
    return files


def _checked(files: dict[str, bytes], source: str) -> dict[str, bytes]:
    """The files of a small form, sorted, if a package may have such."""
    if len(files) > MAX_FILES:
        raise PackageError(source, f"it holds {len(files):,} files, more than {MAX_FILES:,}")
    for name in files:
        _check_name(name)
    return dict(sorted(files.items()))


def _entries(raw: bytes, source: str) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        entries = archive.infolist()
        if len(entries) > MAX_FILES:
            raise PackageError(source, f"it holds {len(entries):,} files, more than {MAX_FILES:,}")
        if sum(entry.file_size for entry in entries) > len(raw):
            raise PackageError(source, "its files would be larger than itself: a zip bomb")
        files: dict[str, bytes] = {}
        for entry in entries:
            _check_name(entry.filename)
            if entry.filename in files:
                raise PackageError(entry.filename, "it is in the archive twice")
            if entry.compress_type != zipfile.ZIP_STORED:
                raise PackageError(entry.filename, "it is compressed; packages store their files")
            files[entry.filename] = archive.read(entry)
        return files


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise PackageError(ascii(name)[:200], "a package may not hold a file of this name")
