"""GFile: a file that is read or written, opened when it is first used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO, Final, Self

from sessrun.reference import errors
from sessrun.reference.base.text import as_bytes, as_text
from sessrun.reference.state.files.file_names import FilePath, file_errors, local_path

__all__ = ["FastGFile", "GFile"]

_MODES: Final = frozenset({"r", "w", "a", "r+", "w+", "a+"})


class GFile:
    """A local file; text is UTF-8.

    Reading and writing have separate streams, so a file opened for both reads what is on the disk.
    A closed file is opened anew by the next call that needs it, from its beginning.

    Args:
      name: its path, with or without `file://`.
      mode: r, w, a, r+, w+ or a+, and b for bytes. Modes w, w+ and also r+ empty the file at the
        first write; a and a+ append.

    Raises:
      InvalidArgumentError: `mode` is another one.

    """

    def __init__(self, name: FilePath, mode: str = "r") -> None:
        self._name = name
        self._mode = mode
        self._is_binary = "b" in mode
        kind = mode.replace("b", "")
        if kind not in _MODES:
            raise errors.bad_argument(f"mode {mode!r} is none of r, w, a, r+, w+, a+")
        self._may_read = kind not in {"w", "a"}
        self._may_write = kind != "r"
        self._reader: IO[bytes] | None = None
        self._writer: IO[bytes] | None = None

    @property
    def name(self) -> FilePath:
        """The path as it was given."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode as it was given."""
        return self._mode

    def _opened(self, mode: str) -> IO[bytes]:
        path = local_path(self._name)
        with file_errors(self._name):
            return open(path, mode)

    def _for_reading(self) -> IO[bytes]:
        if self._reader is None:
            if not self._may_read:
                raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
            self._reader = self._opened("rb")
        return self._reader

    def _for_writing(self) -> IO[bytes]:
        if self._writer is None:
            if not self._may_write:
                raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
            self._writer = self._opened("ab" if "a" in self._mode else "wb")
        return self._writer

    def _in_mode(self, content: bytes) -> str | bytes:
        """The content as bytes if the mode has a b, else as text."""
        return content if self._is_binary else as_text(content)

    def size(self) -> int:
        """The number of bytes of the file on the disk."""
        path = local_path(self._name)
        with file_errors(self._name):
            return os.stat(path).st_size

    def write(self, file_content: str | bytes) -> None:
        """Write text or bytes."""
        writer = self._for_writing()
        with file_errors(self._name):
            writer.write(as_bytes(file_content))

    def read(self, n: int = -1) -> str | bytes:
        """The next `n` bytes, as text unless the mode has a b; by default all that are left."""
        reader = self._for_reading()
        if not isinstance(n, int):
            raise TypeError(f"A number of bytes is an integer, not {n!r}.")
        with file_errors(self._name):
            return self._in_mode(reader.read(n))

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Set the position of the next read.

        Args:
          offset: bytes from the position that `whence` says.
          whence: 0 the beginning, 1 the present position, 2 the end.
          position: the old name of `offset`.

        Raises:
          TypeError: neither an offset nor a position is given, or both are.
          InvalidArgumentError: `whence` is another number, or the position is negative.
          OutOfRangeError: the position is after the end; the next read is then at the end.

        """
        reader = self._for_reading()
        if (offset is None) == (position is None):
            raise TypeError("seek() takes either an offset or a position.")
        target = position if offset is None else offset
        if not isinstance(target, int):
            raise TypeError(f"A place is a number of bytes, not {target!r}.")
        if whence not in {0, 1, 2}:
            raise errors.bad_argument(f"whence {whence!r} is none of 0, 1, 2")
        current = reader.tell()
        end = reader.seek(0, os.SEEK_END)  # also drops the stream's buffer
        target += (0, current, end)[whence]
        if target < 0:
            reader.seek(current)
            raise errors.bad_argument(f"There is no place {target} in a file")
        reader.seek(min(target, end))
        if target > end:
            raise errors.OutOfRangeError(None, None, "reached end of file")

    def readline(self) -> str | bytes:
        """The next line with its end; empty after the last."""
        reader = self._for_reading()
        with file_errors(self._name):
            return self._in_mode(reader.readline())

    def readlines(self) -> list[str | bytes]:
        """All lines that are left, with their ends."""
        return list(self)

    def tell(self) -> int:
        """The position of the next read; of a file opened only to write, the position of that."""
        return (self._for_reading() if self._may_read else self._for_writing()).tell()

    def seekable(self) -> bool:
        """True: any position of a file can be set."""
        return True

    def flush(self) -> None:
        """Hand the buffered bytes to the operating system."""
        if self._writer is not None:
            with file_errors(self._name):
                self._writer.flush()

    def close(self) -> None:
        """Write the buffered bytes and close the file."""
        reader, writer = self._reader, self._writer
        self._reader = self._writer = None
        with file_errors(self._name):
            for stream in (reader, writer):
                if stream is not None:
                    stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[str | bytes]:
        return self

    def __next__(self) -> str | bytes:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__

    def __del__(self) -> None:
        if getattr(self, "_writer", None) or getattr(self, "_reader", None):
            self.close()


class FastGFile(GFile):
    """The older name of GFile."""
