"""The exchange folder: where host and worker put what is too large for a line.

Names from the other side are checked to stay inside, and only plain files are opened: a link
or a pipe under an innocent name is refused. The folder is opened once, so that nothing put in
its place later is ever looked at.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import stat
import weakref
from pathlib import Path
from typing import Final

from sessrun.adapters.process.errors import ExchangeError, ProtocolError
from sessrun.adapters.process.forms import FileReference
from sessrun.spec.writing import naming

__all__ = ["ANSWER_BYTES", "NAME_LENGTH", "Exchange"]

#: What the files of one answer may hold together: a file costs its writer nothing (it may be
#: all holes), but whoever reads it needs several times its size of memory.
ANSWER_BYTES: Final = 2**26

#: How long a file's name may be.
NAME_LENGTH: Final = 100
_NAME: Final = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_.-]{{0,{NAME_LENGTH - 1}}}")


class Exchange:
    """One side's view of the folder.

    Args:
      folder: the folder; the host makes and removes it.
      prefix: how this side's file names start, so that the sides never collide.

    """

    def __init__(self, folder: Path, prefix: str) -> None:
        self.folder: Final = folder
        self._held: int | None = None
        self._prefix = prefix
        self._numbers = itertools.count(1)

    def hold(self) -> int:
        """Open the folder, if that has not been done: its descriptor."""
        if self._held is None:
            self._held = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            # Not before the last thread that waits for an answer has gone.
            weakref.finalize(self, os.close, self._held)
        return self._held

    def write(self, data: bytes) -> FileReference:
        """Write a new file: its reference `{file, nbytes}`.

        Raises:
          ExchangeError: the other side has put something in its place, or removed the folder.
          OSError: this machine's fault: the disk is full, say.

        """
        name = f"{self._prefix}{next(self._numbers)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        try:
            descriptor = os.open(name, flags, 0o600, dir_fd=self.hold())
        except (FileExistsError, FileNotFoundError, PermissionError) as error:
            raise ExchangeError(f"{name!r} in the exchange folder: {error.strerror}") from error
        with naming(self.folder / name), os.fdopen(descriptor, "wb") as file:
            file.write(data)
        return {"file": name, "nbytes": len(data)}

    def read(self, reference: FileReference) -> bytes:
        """The content of a file that the other side wrote.

        Raises:
          ProtocolError: the name could leave the folder, no plain file is there, or its size is
            not `nbytes`.

        """
        name, nbytes = reference["file"], reference["nbytes"]
        if not _NAME.fullmatch(name):
            raise ProtocolError(f"{name!r} is no name of a file in the exchange folder")
        try:
            # Without O_NONBLOCK the opening of a named pipe would wait for its writer.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            descriptor = os.open(name, flags, dir_fd=self.hold())
        except OSError as error:
            raise ProtocolError(f"{name!r} in the exchange folder: {error.strerror}") from error
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size != nbytes:
            os.close(descriptor)
            raise ProtocolError(f"{name!r} is no plain file of {nbytes} bytes")
        with os.fdopen(descriptor, "rb") as file:
            return file.read(nbytes)

    def remove(self, name: str) -> None:
        """Delete a file; it may be gone already, or be something that cannot be deleted so."""
        if _NAME.fullmatch(name):
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=self.hold())
