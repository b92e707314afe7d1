"""Temporary folders and files of tests; all of them go when the process ends."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any

__all__ = ["TempDir", "TempFile", "get_temp_dir"]


@functools.cache
def get_temp_dir() -> str:
    """The folder of this process for the files of tests, under `$TEST_TMPDIR` if that is set."""
    folder = tempfile.mkdtemp(prefix="sessrun_test_", dir=os.environ.get("TEST_TMPDIR") or None)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class _Temporary:
    """A path that `os.fspath` takes.

    Args:
      path: where it is.

    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    @property
    def full_path(self) -> str:
        """Its absolute path."""
        return str(self._path)

    def __fspath__(self) -> str:
        return self.full_path


class TempFile(_Temporary):
    """A file of a test."""

    def read_text(self, encoding: str = "utf8", errors: str = "strict") -> str:
        """What is in it, as text."""
        return self._path.read_text(encoding=encoding, errors=errors)

    def read_bytes(self) -> bytes:
        """What is in it."""
        return self._path.read_bytes()

    def write_text(
        self, text: str, mode: str = "w", encoding: str = "utf8", errors: str = "strict"
    ) -> None:
        """Write a text, instead of what is in it (`mode` "w") or behind it ("a")."""
        with self._path.open(mode, encoding=encoding, errors=errors) as file:
            file.write(text)

    def write_bytes(self, data: bytes, mode: str = "wb") -> None:
        """Write bytes, instead of what is in it (`mode` "wb") or behind it ("ab")."""
        with self._path.open(mode) as file:
            file.write(data)

    def open_text(
        self, mode: str = "rt", encoding: str = "utf8", errors: str = "strict"
    ) -> AbstractContextManager[IO[Any]]:
        """The open file, for a `with`."""
        return self._path.open(mode, encoding=encoding, errors=errors)

    def open_bytes(self, mode: str = "rb") -> AbstractContextManager[IO[Any]]:
        """The open file, for a `with`."""
        return self._path.open(mode)


class TempDir(_Temporary):
    """A folder of a test."""

    def create_file(
        self,
        file_path: str | None = None,
        content: str | bytes | None = None,
        mode: str = "w",
        encoding: str = "utf8",
        errors: str = "strict",
    ) -> TempFile:
        """Make a file in it, and the folders between.

        Args:
          file_path: its path in this folder; without it, a new name.
          content: what to write into it.
          mode: as of `open`; bytes are always written as such.
          encoding: of a text.
          errors: what to do with characters the encoding does not have.

        """
        if file_path is None:
            handle, name = tempfile.mkstemp(dir=self._path)
            os.close(handle)
            path = Path(name)
        else:
            path = self._path / file_path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        file = TempFile(path)
        if isinstance(content, bytes):
            file.write_bytes(content, mode if "b" in mode else mode + "b")
        elif content is not None:
            file.write_text(content, mode, encoding, errors)
        return file

    def mkdir(self, dir_path: str | None = None) -> TempDir:
        """Make a folder in it: of this path, or of a new name."""
        if dir_path is None:
            return TempDir(tempfile.mkdtemp(dir=self._path))
        path = self._path / dir_path
        path.mkdir(parents=True, exist_ok=True)
        return TempDir(path)
