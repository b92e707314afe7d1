"""The files of a checkpoint: their names, and how all of them are replaced at once.

Data and index are written under temporary names, the data before the index, and then renamed in
that order. So a program that is killed at any moment leaves the old checkpoint or the new one: if
only the data was renamed, the new index still has its temporary name, and `index_path` finds it.
"""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
from collections.abc import Callable, Iterator
from typing import IO, Final, TypeVar

from sessrun.reference import errors
from sessrun.reference.base.kernel_errors import of_code
from sessrun.reference.state.files.file_names import FilePath, file_errors, local_path

__all__ = [
    "data_path",
    "index_path",
    "kernel_errors",
    "local",
    "make_folder",
    "read_index_bytes",
    "settle",
    "write_at_once",
    "write_files_at_once",
]

_UNFINISHED: Final = ".tempstate"

T = TypeVar("T")


def data_path(prefix: str, shard: int, count: int) -> str:
    """The path of data file number `shard` of `count`."""
    return f"{prefix}.data-{shard:05d}-of-{count:05d}"


def index_path(prefix: str) -> str:
    """The path of the index; its temporary name if only its data has been renamed."""
    pending = _pending(prefix)
    return pending[-1] if pending else prefix + ".index"


def _pending(prefix: str) -> list[str]:
    """The temporary names of indices whose data has been renamed."""
    stem = f"{prefix}.index{_UNFINISHED}"
    data = f"{glob.escape(prefix)}.data-*{_UNFINISHED}"
    marks = [path.removeprefix(stem) for path in glob.glob(glob.escape(stem) + "*")]
    return [stem + mark for mark in marks if not glob.glob(data + glob.escape(mark))]


def settle(prefix: str) -> None:
    """Finish the renaming that a killed writer began, before the checkpoint is overwritten."""
    for path in _pending(prefix):
        os.replace(path, prefix + ".index")


def read_index_bytes(prefix: str) -> bytes:
    """The bytes of the index.

    Raises:
      NotFound: there is no such checkpoint.
      KernelError: the index cannot be read.

    """
    path = index_path(prefix)
    with kernel_errors(path):
        try:
            return _read(path)
        except FileNotFoundError:  # another process may have renamed it just now
            return _read(prefix + ".index")


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def make_folder(prefix: str) -> None:
    """Make the folder of a checkpoint, but not its parents; errors show when files are written."""
    with contextlib.suppress(OSError):
        os.mkdir(os.path.dirname(prefix))


def write_files_at_once(
    prefix: str, write: Callable[[IO[bytes]], T], index: Callable[[T], bytes]
) -> None:
    """Write a checkpoint of one data file.

    Args:
      prefix: the path that the files' names begin with; its folder is made if it does not exist.
      write: writes the data.
      index: returns the index, from what `write` returned.

    Raises:
      KernelError: a file cannot be written.
      Exception: as `write` and `index`.

    """
    mark = _UNFINISHED + secrets.token_hex(8)
    data, table = data_path(prefix, 0, 1), prefix + ".index"
    with kernel_errors(prefix):
        make_folder(prefix)
        settle(prefix)
        try:
            with _durable(data + mark) as file:
                written = write(file)
            with _durable(table + mark) as file:
                file.write(index(written))
            os.replace(data + mark, data)
            os.replace(table + mark, table)
        except BaseException:
            for path in (table + mark, data + mark):  # in this order: the index goes first
                with contextlib.suppress(OSError):
                    os.unlink(path)
            raise


def write_at_once(path: str, content: bytes) -> None:
    """Write a file under a temporary name and rename it, so that it never exists in part.

    Raises:
      OSError: the file cannot be written.

    """
    mark = f"{path}{_UNFINISHED}{secrets.token_hex(8)}"
    try:
        with _durable(mark) as file:
            file.write(content)
        os.replace(mark, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(mark)
        raise


@contextlib.contextmanager
def _durable(path: str) -> Iterator[IO[bytes]]:
    """A new file whose content is on the disk (fsync) when the `with` ends."""
    with open(path, "xb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def kernel_errors(path: str) -> Iterator[None]:
    """Convert errors of the operating system about `path` to KernelErrors."""
    try:
        with file_errors(path):
            yield
    except errors.OpError as error:
        raise of_code(error.error_code, error.message) from error


def local(path: FilePath) -> str:
    """The path for the operating system.

    Raises:
      KernelError: the path is not local.

    """
    try:
        return local_path(path)
    except errors.OpError as error:
        raise of_code(error.error_code, error.message) from error
