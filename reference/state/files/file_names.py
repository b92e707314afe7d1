"""Names of local files, and the errors of the operating system as errors of the namespace."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from sessrun.reference import errors
from sessrun.reference.base.text import as_text

__all__ = ["as_given", "file_errors", "known_scheme", "local_path", "scheme_of"]

_URI: Final = re.compile(r"(?P<scheme>[a-zA-Z][0-9a-zA-Z.]*)://(?P<host>[^/]*)")

#: The codes for the numbers that the operating system gives; any other is UNKNOWN.
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


def as_given(path: Any) -> str:
    """A path, given as text, bytes or an object of paths, as text.

    Raises:
      TypeError: it is nothing of these.

    """
    return as_text(path.__fspath__() if hasattr(path, "__fspath__") else path)


def scheme_of(path: str) -> str:
    """The scheme before `://`, empty if there is none."""
    match = _URI.match(path)
    return match["scheme"] if match else ""


def known_scheme(path: str) -> bool:
    """Whether a path is one of a local file."""
    return scheme_of(path) in {"", "file"}


def local_path(path: Any) -> str:
    """The path as the operating system takes it, without `file://`.

    Raises:
      TypeError: it is no path.
      UnimplementedError: it is of a file system that is not there.
      NotFoundError: it has a zero byte in it, as no file's name has.

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
def file_errors(path: Any) -> Iterator[None]:
    """Errors of the operating system about `path` become those of the namespace."""
    try:
        yield
    except OSError as error:
        code = _BY_NUMBER.get(error.errno or 0, errors.UNKNOWN)
        raise errors.make(code, f"{as_given(path)}; {error.strerror}") from error
