"""The sixteen error codes of a run: numbers, names, class names and meanings; the one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

__all__ = ["BY_CLASS", "BY_CODE", "BY_NAME", "CODES", "ErrorCode", "code_of_class"]


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One code: its number, its name on the wire, its class in `tf.errors`, its meaning."""

    code: int
    name: str
    cls: str
    meaning: str


CODES: Final = tuple(
    ErrorCode(*row)
    for row in (
        (1, "CANCELLED", "CancelledError", "The operation or step was cancelled."),
        (2, "UNKNOWN", "UnknownError", "No more specific code is known."),
        (3, "INVALID_ARGUMENT", "InvalidArgumentError", "An argument is invalid in itself."),
        (4, "DEADLINE_EXCEEDED", "DeadlineExceededError", "The deadline passed first."),
        (5, "NOT_FOUND", "NotFoundError", "A requested entity does not exist."),
        (6, "ALREADY_EXISTS", "AlreadyExistsError", "An entity to be created exists."),
        (7, "PERMISSION_DENIED", "PermissionDeniedError", "The caller may not do this."),
        (8, "RESOURCE_EXHAUSTED", "ResourceExhaustedError", "A resource is used up."),
        (9, "FAILED_PRECONDITION", "FailedPreconditionError", "The state forbids it now."),
        (10, "ABORTED", "AbortedError", "A concurrent action aborted it."),
        (11, "OUT_OF_RANGE", "OutOfRangeError", "Iteration past the valid input range."),
        (12, "UNIMPLEMENTED", "UnimplementedError", "Valid, but not implemented."),
        (13, "INTERNAL", "InternalError", "An invariant of the runtime is broken."),
        (14, "UNAVAILABLE", "UnavailableError", "The runtime cannot be reached now."),
        (15, "DATA_LOSS", "DataLossError", "Data is lost or corrupted for good."),
        (16, "UNAUTHENTICATED", "UnauthenticatedError", "No valid credentials were given."),
    )
)

BY_CODE: Final[Mapping[int, ErrorCode]] = MappingProxyType({row.code: row for row in CODES})
BY_NAME: Final[Mapping[str, ErrorCode]] = MappingProxyType({row.name: row for row in CODES})
BY_CLASS: Final[Mapping[str, ErrorCode]] = MappingProxyType({row.cls: row for row in CODES})

# What a built-in that a Python layer raises before the engine is reached says on the engine
# surface, which knows codes only (claim A000-04).
_BUILTIN: Final = {"ValueError": 3, "TypeError": 3, "KeyError": 5, "RuntimeError": 9}


def code_of_class(names: tuple[str, ...]) -> int:
    """The code of an exception, given the names of its classes, most derived first.

    A `tf.errors` class has its own code; ValueError and TypeError are 3, KeyError 5,
    RuntimeError 9; anything else is 2 (UNKNOWN).
    """
    for name in names:
        if name in BY_CLASS:
            return BY_CLASS[name].code
    return next((_BUILTIN[name] for name in names if name in _BUILTIN), 2)
