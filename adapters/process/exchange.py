"""The exchange folder: where host and worker put what is too large for a line.

Names from the other side are checked to stay inside, and only plain files are opened: a link
or a pipe under an innocent name is refused.
"""

from __future__ import annotations

import itertools
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sessrun.adapters.process.errors import ProtocolError

__all__ = ["MAX_BYTES", "Exchange"]

#: Longest file that is read: a message of 2 GiB in any coding, and no more.
MAX_BYTES: Final = 2**32

_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


class Exchange:
    """One side's view of the folder.

    Args:
      folder: the folder; the host makes and removes it.
      prefix: how this side's file names start, so that the sides never collide.

    """

    def __init__(self, folder: Path, prefix: str) -> None:
        self.folder: Final = folder
        self._prefix = prefix
        self._numbers = itertools.count(1)

    def write(self, data: bytes) -> dict[str, Any]:
        """Write a new file: its reference `{file, nbytes}`."""
        name = f"{self._prefix}{next(self._numbers)}"
        with (self.folder / name).open("xb") as file:
            file.write(data)
        return {"file": name, "nbytes": len(data)}

    def read(self, reference: Mapping[str, Any]) -> bytes:
        """The content of a file that the other side wrote.

        Raises:
          ProtocolError: the name could leave the folder, no plain file is there, or its size is
            not `nbytes` or over `MAX_BYTES`.

        """
        name, nbytes = reference["file"], reference["nbytes"]
        if not _NAME.fullmatch(name):
            raise ProtocolError(f"{name!r} is no name of a file in the exchange folder")
        if nbytes > MAX_BYTES:
            raise ProtocolError(f"{name!r} has {nbytes} bytes; the limit is {MAX_BYTES}")
        try:
            # Without O_NONBLOCK the opening of a named pipe would wait for its writer.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            descriptor = os.open(self.folder / name, flags)
        except OSError as error:
            raise ProtocolError(f"{name!r} in the exchange folder: {error.strerror}") from error
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size != nbytes:
                raise ProtocolError(f"{name!r} is no plain file of {nbytes} bytes")
            return file.read(nbytes)

    def remove(self, name: str) -> None:
        """Delete a file; it may be gone already."""
        if _NAME.fullmatch(name):
            (self.folder / name).unlink(missing_ok=True)
