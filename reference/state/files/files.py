"""Files and folders (`tf.gfile`, `tf.io.gfile`): asking, listing, copying, moving, removing.

Only local files are served; a path of any other scheme is an UnimplementedError.
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
    as_given,
    file_errors,
    known_scheme,
    local_path,
    scheme_of,
)
from sessrun.reference.state.files.file_object import FastGFile, GFile
from sessrun.reference.state.files.file_patterns import matching

__all__: list[str] = []


#: Bytes that are copied at once.
_BLOCK: Final = 1 << 20


class FileStatistics(NamedTuple):
    """What is known of a file.

    Attributes:
      length: its bytes.
      mtime_nsec: when it was changed, in nanoseconds since 1970, to the second.
      is_directory: whether it is a folder.

    """

    length: int
    mtime_nsec: int
    is_directory: bool


@public("io.gfile.exists")
def exists(path: Any) -> bool:
    """Whether there is such a file or folder."""
    given = as_given(path)
    return "\0" not in given and os.path.exists(local_path(given))


@public("io.gfile.isdir")
def isdir(path: Any) -> bool:
    """Whether there is such a folder."""
    given = as_given(path)
    return known_scheme(given) and "\0" not in given and os.path.isdir(local_path(given))


@public("io.gfile.listdir")
def listdir(path: Any) -> list[str]:
    """The names in a folder, in order.

    Raises:
      NotFoundError: there is no such folder.

    """
    if not isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {path}")
    with file_errors(path):
        return sorted(os.listdir(local_path(path)))


@public("io.gfile.stat")
def stat(path: Any) -> FileStatistics:
    """What is known of a file or folder.

    Raises:
      NotFoundError: there is none.

    """
    with file_errors(path):
        result = os.stat(local_path(path))
    return FileStatistics(
        result.st_size, int(result.st_mtime) * 1_000_000_000, modes.S_ISDIR(result.st_mode)
    )


@public("io.gfile.mkdir")
def mkdir(path: Any) -> None:
    """Make a folder; what is there already stays as it is.

    Raises:
      NotFoundError: the folder that it is to be in is not there.

    """
    local = local_path(path)
    if local and not os.path.lexists(local):
        with file_errors(path):
            os.mkdir(local)


@public("io.gfile.makedirs")
def makedirs(path: Any) -> None:
    """Make a folder and those it is in, as far as they are not there.

    Raises:
      FailedPreconditionError: one of them is a file.

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
def remove(path: Any) -> None:
    """Remove a file.

    Raises:
      NotFoundError: there is none.
      FailedPreconditionError: it is a folder.

    """
    with file_errors(path):
        os.unlink(local_path(path))


@public("io.gfile.rmtree")
def rmtree(path: Any) -> None:
    """Remove a folder with all that is in it, or a file.

    Raises:
      NotFoundError: there is none.

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


def _check_free(path: Any, overwrite: bool) -> None:
    if not overwrite and exists(path):
        raise errors.AlreadyExistsError(None, None, "file already exists")


@public("io.gfile.copy")
def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file, with its permissions.

    Args:
      src: the file.
      dst: the file it becomes.
      overwrite: whether one that is there is replaced.

    Raises:
      AlreadyExistsError: `dst` is there.
      InvalidArgumentError: `src` is a folder.
      FailedPreconditionError: `dst` is a folder.
      NotFoundError: `src`, or the folder of `dst`, is not there.

    """
    source, target = local_path(src), local_path(dst)
    _check_free(dst, overwrite)
    with file_errors(src):
        permissions = modes.S_IMODE(os.stat(source).st_mode)
    with file_errors(dst):
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, permissions)
    with os.fdopen(descriptor, "wb") as written:
        if os.path.isdir(source):
            raise errors.InvalidArgumentError(None, None, f"{as_given(dst)}; Invalid argument")
        with file_errors(src), open(source, "rb") as read:
            while block := read.read(_BLOCK):
                written.write(block)


@public("io.gfile.rename")
def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Move a file or folder.

    Args:
      src: what is moved.
      dst: its new path, of the same scheme.
      overwrite: whether a file, or an empty folder, that is there is replaced.

    Raises:
      AlreadyExistsError: `dst` is there.
      NotFoundError: `src`, or the folder of `dst`, is not there.
      FailedPreconditionError: one is a folder and the other is not, or a folder is not empty.
      UnimplementedError: the schemes differ.

    """
    _check_free(dst, overwrite)
    source, target = local_path(src), local_path(dst)
    if scheme_of(as_given(src)) != scheme_of(as_given(dst)):
        raise errors.UnimplementedError(None, None, f"Renaming {src} to {dst} not implemented")
    with file_errors(src):
        os.rename(source, target)


@public("io.gfile.glob")
def glob(pattern: Any) -> list[str]:
    """The files and folders that match a pattern, or one of a list of patterns.

    `*` stands for any characters but a slash, `?` for one, `[abc]` and `[!abc]` for one of a set or
    not of it, a backslash takes the next character as it is.
    """
    if isinstance(pattern, str):
        local = local_path(pattern)
        before = pattern[: len(pattern) - len(local)]
        return [before + path for path in matching(local)]
    return [path for one in pattern for path in glob(as_given(one))]


@public("io.gfile.walk")
def walk(
    top: Any, topdown: bool = True, onerror: Callable[[Exception], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """A folder and all below it: for each (its path, its folders, its other files).

    Args:
      top: where it begins.
      topdown: whether a folder comes before those in it.
      onerror: is given the error of a folder that cannot be listed; else it is passed over.

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
def join(path: Any, *paths: Any) -> Any:
    """Parts of a path put together; one that begins with a slash begins the path anew."""
    return os.path.join(path, *paths)


@public("io.gfile.get_registered_schemes")
def get_registered_schemes() -> list[str]:
    """The schemes of paths that are served."""
    return ["file", ""]


@public("gfile.Walk")
def _walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """As `tf.io.gfile.walk`, by the older name of its argument."""
    return walk(top, in_order)


# The older functions name their arguments otherwise.
@public("gfile.Copy")
def _copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """As `tf.io.gfile.copy`."""
    copy(oldpath, newpath, overwrite)


@public("gfile.Rename")
def _rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """As `tf.io.gfile.rename`."""
    rename(oldname, newname, overwrite)


@public("gfile.DeleteRecursively")
def _delete_recursively(dirname: Any) -> None:
    """As `tf.io.gfile.rmtree`."""
    rmtree(dirname)


@public("gfile.Exists")
def _exists(filename: Any) -> bool:
    """As `tf.io.gfile.exists`."""
    return exists(filename)


@public("gfile.Glob")
def _glob(filename: Any) -> list[str]:
    """As `tf.io.gfile.glob`."""
    return glob(filename)


@public("gfile.IsDirectory")
def _is_directory(dirname: Any) -> bool:
    """As `tf.io.gfile.isdir`."""
    return isdir(dirname)


@public("gfile.ListDirectory")
def _list_directory(dirname: Any) -> list[str]:
    """As `tf.io.gfile.listdir`."""
    return listdir(dirname)


@public("gfile.MakeDirs")
def _make_dirs(dirname: Any) -> None:
    """As `tf.io.gfile.makedirs`."""
    makedirs(dirname)


@public("gfile.MkDir")
def _mk_dir(dirname: Any) -> None:
    """As `tf.io.gfile.mkdir`."""
    mkdir(dirname)


@public("gfile.Remove")
def _remove(filename: Any) -> None:
    """As `tf.io.gfile.remove`."""
    remove(filename)


@public("gfile.Stat")
def _stat(filename: Any) -> Any:
    """As `tf.io.gfile.stat`."""
    return stat(filename)


public("gfile.FastGFile")(FastGFile)
public("gfile.GFile", "gfile.Open", "io.gfile.GFile")(GFile)
