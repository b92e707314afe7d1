"""Files written so that a failure names the file: of a full disk the system tells only that it is.

A file that could not be written whole is removed: half a report could be taken for one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["naming", "write_bytes", "write_text"]


@contextlib.contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """What the system refuses within is told with this file's name, if it has none.

    Raises:
      OSError: as raised within.

    """
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def write_bytes(path: Path, data: bytes) -> None:
    """Write a new file, or replace one.

    Raises:
      OSError: it cannot be written; the error names it.

    """
    with naming(path):
        try:
            path.write_bytes(data)
        except OSError as error:
            if error.filename is None and path.is_file():
                with contextlib.suppress(OSError):
                    path.unlink()
            raise


def write_text(path: Path, text: str, errors: str = "strict") -> None:
    """Write a new text file in UTF-8, or replace one.

    Args:
      path: the file.
      text: its content.
      errors: what is done about letters that have no UTF-8, as `str.encode` takes it.

    Raises:
      OSError: it cannot be written; the error names it.

    """
    write_bytes(path, text.encode("utf-8", errors))
