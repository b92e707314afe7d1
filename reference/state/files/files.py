"""Files and folders (`tf.gfile`, `tf.io.gfile`): asking, listing, copying, moving, removing.

Only local files are supported; a path of any other scheme raises UnimplementedError.
"""

from __future__ import annotations

import os
import stat as modes
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from sessrun.reference import errors
from sessrun.reference.base.text import as_str_any
from sessrun.reference.public import public
from sessrun.reference.state.files.file_names import (
    FilePath,
    as_given,
    file_errors,
    known_scheme,
    local_path,
    scheme_of,
)
from sessrun.reference.state.files.file_object import FastGFile, GFile
from sessrun.reference.state.files.file_patterns import matching

#: Bytes that are copied at once.
_BLOCK: Final = 1 << 20


class FileStatistics(NamedTuple):
    """The result of `stat`.

    Attributes:
      length: the size in bytes.
      mtime_nsec: the time of the last change in nanoseconds since 1970, rounded to seconds.
      is_directory: whether it is a folder.

    """

    length: int
    mtime_nsec: int
    is_directory: bool


@public("io.gfile.exists")
def exists(path: FilePath) -> bool:
    """Whether a file or folder exists."""
    given = as_given(path)
    return "\0" not in given and os.path.exists(local_path(given))


@public("io.gfile.isdir")
def isdir(path: FilePath) -> bool:
    """Whether a path is that of a folder."""
    given = as_given(path)
    return known_scheme(given) and "\0" not in given and os.path.isdir(local_path(given))


@public("io.gfile.listdir")
def listdir(path: FilePath) -> list[str]:
    """The names in a folder, in order.

    Raises:
      NotFoundError: there is no such folder.

    """
    if not isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {path!s}")
    with file_errors(path):
        return sorted(os.listdir(local_path(path)))


@public("io.gfile.stat")
def stat(path: FilePath) -> FileStatistics:
    """The size, the time and the kind of a file or folder.

    Raises:
      NotFoundError: the path does not exist.

    """
    with file_errors(path):
        result = os.stat(local_path(path))
    return FileStatistics(
        result.st_size, int(result.st_mtime) * 1_000_000_000, modes.S_ISDIR(result.st_mode)
    )


@public("io.gfile.mkdir")
def mkdir(path: FilePath) -> None:
    """Make a folder, unless something of that name exists.

    Raises:
      NotFoundError: its parent does not exist.

    """
    local = local_path(path)
    if local and not os.path.lexists(local):
        with file_errors(path):
            os.mkdir(local)


@public("io.gfile.makedirs")
def makedirs(path: FilePath) -> None:
    """Make a folder and those of its parents that do not exist.

    Raises:
      FailedPreconditionError: a part of the path is a file.

    """
    local = local_path(path)
    step = local
    while step and step != "/":
        if os.path.lexists(step) and not os.path.isdir(step):
            raise errors.FailedPreconditionError(None, None, f"{step} is not a directory")
        step = os.path.dirname(step)
    if local:
        with file_errors(path):
            os.makedirs(local, exist_ok=True)


@public("io.gfile.remove")
def remove(path: FilePath) -> None:
    """Remove a file.

    Raises:
      NotFoundError: the file does not exist.
      FailedPreconditionError: the path is that of a folder.

    """
    with file_errors(path):
        os.unlink(local_path(path))


@public("io.gfile.rmtree")
def rmtree(path: FilePath) -> None:
    """Remove a folder with all its contents, or a file.

    Raises:
      NotFoundError: the path does not exist.

    """
    local = local_path(path)
    if not os.path.lexists(local):
        raise errors.NotFoundError(None, None, f"{as_given(path)} not found")
    import shutil  # noqa: PLC0415 - few programs need it, and it takes its time

    with file_errors(path):
        if os.path.isdir(local) and not os.path.islink(local):
            shutil.rmtree(local)
        else:
            os.unlink(local)


def _check_free(path: FilePath, overwrite: bool) -> None:
    if not overwrite and exists(path):
        raise errors.AlreadyExistsError(None, None, "file already exists")


@public("io.gfile.copy")
def copy(src: FilePath, dst: FilePath, overwrite: bool = False) -> None:
    """Copy a file, with its permissions.

    Args:
      src: the file.
      dst: the path of the copy.
      overwrite: whether an existing file is replaced.

    Raises:
      AlreadyExistsError: `dst` exists.
      InvalidArgumentError: `src` is a folder.
      FailedPreconditionError: `dst` is a folder.
      NotFoundError: `src`, or the folder of `dst`, does not exist.

    """
    source, target = local_path(src), local_path(dst)
    _check_free(dst, overwrite)
    with file_errors(src):
        permissions = modes.S_IMODE(os.stat(source).st_mode)
    with file_errors(dst):
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, permissions)
    with os.fdopen(descriptor, "wb") as written:
        if os.path.isdir(source):
            raise errors.bad_argument(f"{as_given(dst)}; Invalid argument")
        with file_errors(src), open(source, "rb") as read:
            while block := read.read(_BLOCK):
                written.write(block)


@public("io.gfile.rename")
def rename(src: FilePath, dst: FilePath, overwrite: bool = False) -> None:
    """Move a file or folder.

    Args:
      src: the file or folder.
      dst: its new path, of the same scheme.
      overwrite: whether an existing file, or empty folder, is replaced.

    Raises:
      AlreadyExistsError: `dst` exists.
      NotFoundError: `src`, or the folder of `dst`, does not exist.
      FailedPreconditionError: a folder replaces a file, a file a folder, or a folder is not empty.
      UnimplementedError: the schemes differ.

    """
    _check_free(dst, overwrite)
    source, target = local_path(src), local_path(dst)
    if scheme_of(as_given(src)) != scheme_of(as_given(dst)):
        raise errors.UnimplementedError(None, None, f"Renaming {src!s} to {dst!s} not implemented")
    with file_errors(src):
        os.rename(source, target)


@public("io.gfile.glob")
def glob(pattern: Any) -> list[str]:
    """The files and folders that match a pattern, or one of a list of patterns.

    `*` stands for any characters but a slash, `?` for one, `[abc]` for one of a set, `[!abc]` for
    one that is not in it; a backslash quotes the next character.
    """
    if isinstance(pattern, str):
        local = local_path(pattern)
        before = pattern[: len(pattern) - len(local)]
        return [before + path for path in matching(local)]
    return [path for one in pattern for path in glob(as_given(one))]


@public("io.gfile.walk")
def walk(
    top: FilePath, topdown: bool = True, onerror: Callable[[Exception], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """A folder and all folders below it: the path of each, its folders, its other files.

    Args:
      top: the first folder.
      topdown: whether a folder comes before those in it.
      onerror: called with the error of a folder that cannot be listed; such folders are skipped.

    """
    folder = as_str_any(as_given(top) if hasattr(top, "__fspath__") else top)
    try:
        names = listdir(folder)
    except errors.NotFoundError as error:
        if onerror:
            onerror(error)
        return
    folders = [name for name in names if isdir(join(folder, name))]
    here = (folder, folders, [name for name in names if name not in folders])
    if topdown:
        yield here
    for name in folders:
        yield from walk(join(folder, name), topdown, onerror)
    if not topdown:
        yield here


@public("io.gfile.join")
def join(path: FilePath, *paths: Any) -> Any:
    """Join parts of a path; a part that begins with a slash drops those before it."""
    return os.path.join(path, *paths)


@public("io.gfile.get_registered_schemes")
def get_registered_schemes() -> list[str]:
    """The supported schemes of paths."""
    return ["file", ""]


@public("gfile.Walk")
def _walk(top: FilePath, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """As `tf.io.gfile.walk`, by the older name of its argument."""
    return walk(top, in_order)


# The older functions name their arguments otherwise.
@public("gfile.Copy")
def _copy(oldpath: FilePath, newpath: FilePath, overwrite: bool = False) -> None:
    """As `tf.io.gfile.copy`."""
    copy(oldpath, newpath, overwrite)


@public("gfile.Rename")
def _rename(oldname: FilePath, newname: FilePath, overwrite: bool = False) -> None:
    """As `tf.io.gfile.rename`."""
    rename(oldname, newname, overwrite)


@public("gfile.DeleteRecursively")
def _delete_recursively(dirname: FilePath) -> None:
    """As `tf.io.gfile.rmtree`."""
    rmtree(dirname)


@public("gfile.Exists")
def _exists(filename: FilePath) -> bool:
    """As `tf.io.gfile.exists`."""
    return exists(filename)


@public("gfile.Glob")
def _glob(filename: FilePath) -> list[str]:
    """As `tf.io.gfile.glob`."""
    return glob(filename)


@public("gfile.IsDirectory")
def _is_directory(dirname: FilePath) -> bool:
    """As `tf.io.gfile.isdir`."""
    return isdir(dirname)


@public("gfile.ListDirectory")
def _list_directory(dirname: FilePath) -> list[str]:
    """As `tf.io.gfile.listdir`."""
    return listdir(dirname)


@public("gfile.MakeDirs")
def _make_dirs(dirname: FilePath) -> None:
    """As `tf.io.gfile.makedirs`."""
    makedirs(dirname)


@public("gfile.MkDir")
def _mk_dir(dirname: FilePath) -> None:
    """As `tf.io.gfile.mkdir`."""
    mkdir(dirname)


@public("gfile.Remove")
def _remove(filename: FilePath) -> None:
    """As `tf.io.gfile.remove`."""
    remove(filename)


@public("gfile.Stat")
def _stat(filename: FilePath) -> FileStatistics:
    """As `tf.io.gfile.stat`."""
    return stat(filename)


public("gfile.FastGFile")(FastGFile)
public("gfile.GFile", "gfile.Open", "io.gfile.GFile")(GFile)
