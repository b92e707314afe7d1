"""Names of local files, and the errors of the operating system as errors of the namespace."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from sessrun.reference import errors
from sessrun.reference.base.text import as_text

__all__ = ["FilePath", "as_given", "file_errors", "known_scheme", "local_path", "scheme_of"]

#: A path as programs give it.
FilePath = str | bytes | os.PathLike[str]

_URI: Final = re.compile(r"(?P<scheme>[a-zA-Z][0-9a-zA-Z.]*)://(?P<host>[^/]*)")

#: The codes for the operating system's numbers of errors; for any other it is UNKNOWN.
_CODES: Final[Mapping[int, tuple[str, ...]]] = {
    errors.INVALID_ARGUMENT: ("EINVAL", "ENAMETOOLONG", "E2BIG", "EFAULT", "ESPIPE", "ENOTTY"),
    errors.NOT_FOUND: ("ENOENT", "ENODEV", "ENXIO", "ESRCH"),
    errors.ALREADY_EXISTS: ("EEXIST", "EALREADY"),
    errors.PERMISSION_DENIED: ("EPERM", "EACCES", "EROFS"),
    errors.FAILED_PRECONDITION: (
        "ENOTEMPTY",
        "EISDIR",
        "ENOTDIR",
        "EBADF",
        "EBUSY",
        "ETXTBSY",
        "EPIPE",
    ),
    errors.RESOURCE_EXHAUSTED: ("ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "EMLINK", "ENOMEM"),
    errors.OUT_OF_RANGE: ("EFBIG", "EOVERFLOW", "ERANGE"),
    errors.UNIMPLEMENTED: ("ENOSYS", "ENOTSUP", "EXDEV"),
    errors.UNAVAILABLE: ("EAGAIN", "EINTR", "ENOLCK", "ENOLINK"),
    errors.ABORTED: ("EDEADLK", "ESTALE"),
}
_BY_NUMBER: Final = {
    getattr(errno, name): code
    for code, names in _CODES.items()
    for name in names
    if hasattr(errno, name)
}


def as_given(path: FilePath) -> str:
    """A path as text.

    Raises:
      TypeError: the path is neither text, bytes nor a path object.

    """
    return as_text(path.__fspath__() if isinstance(path, os.PathLike) else path)


def scheme_of(path: str) -> str:
    """The scheme before `://`, empty if there is none."""
    match = _URI.match(path)
    return match["scheme"] if match else ""


def known_scheme(path: str) -> bool:
    """Whether a path is that of a local file."""
    return scheme_of(path) in {"", "file"}


def local_path(path: FilePath) -> str:
    """The path for the operating system, without `file://`.

    Raises:
      TypeError: the argument is not a path.
      UnimplementedError: its file system is not supported.
      NotFoundError: the path contains a zero byte, which no file name does.

    """
    given = as_given(path)
    if not known_scheme(given):
        raise errors.UnimplementedError(
            None, None, f"File system scheme {scheme_of(given)!r} not implemented (file: {given!r})"
        )
    if "\0" in given:
        raise errors.NotFoundError(None, None, f"{given}; {os.strerror(errno.ENOENT)}")
    return _URI.sub("", given, count=1)


@contextmanager
def file_errors(path: FilePath) -> Iterator[None]:
    """Convert errors of the operating system about `path` to those of the namespace."""
    try:
        yield
    except OSError as error:
        code = _BY_NUMBER.get(error.errno or 0, errors.UNKNOWN)
        raise errors.make(code, f"{as_given(path)}; {error.strerror}") from error
