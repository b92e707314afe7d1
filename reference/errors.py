"""The errors of the namespace (`tf.errors`): OpError and its sixteen classes, by `spec.errors`.

A check before a run (feeding, building) that TensorFlow answers by ValueError or TypeError is
answered by `InvalidArgumentValueError` or `InvalidArgumentTypeError`, which are that built-in
and `InvalidArgumentError` both (the rulings: "Errors that are both").
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from sessrun.reference.public import public
from sessrun.spec.errors import BY_CLASS, CODES

__all__ = [
    "ABORTED",
    "ALREADY_EXISTS",
    "CANCELLED",
    "DATA_LOSS",
    "DEADLINE_EXCEEDED",
    "FAILED_PRECONDITION",
    "INTERNAL",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "OK",
    "OUT_OF_RANGE",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
    "UNKNOWN",
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "InvalidArgumentTypeError",
    "InvalidArgumentValueError",
    "NotFoundError",
    "OpError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
    "bad_argument",
    "bad_type",
    "bad_value",
    "error_code_from_exception_type",
    "exception_type_from_error_code",
    "make",
    "of_code",
    "raise_exception_on_not_ok_status",
]


@public("OpError")
class OpError(Exception):
    """An operation failed, or a run as a whole.

    Args:
      node_def: the NodeDef of the operation that failed, or None.
      op: the Operation, where the graph has it, or None.
      message: what happened.
      error_code: one of the codes of `spec.errors`.

    """

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int, *args: Any) -> None:
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        self._payloads = dict(args[0]) if args and isinstance(args[0], Mapping) else {}

    @property
    def message(self) -> str:
        """What happened."""
        return self._message

    @property
    def op(self) -> Any:
        """The Operation that failed, or None."""
        return self._op

    @property
    def error_code(self) -> int:
        """The error code, 1 to 16."""
        return self._error_code

    @property
    def node_def(self) -> Any:
        """The NodeDef of the operation that failed, or None."""
        return self._node_def

    @property
    def experimental_payloads(self) -> Mapping[str, Any]:
        """Further facts about the failure by key; usually empty."""
        return self._payloads

    def __reduce__(self) -> tuple[Any, ...]:
        # A graph does not travel between processes, so the Operation stays behind.
        return type(self), (self._node_def, None, self._message, self._error_code)

    def __str__(self) -> str:
        """The message, and where the operation was made unless the message tells it."""
        site = getattr(self._op, "site", None)
        if site is None or str(site) in str(self._message):
            return str(self._message)
        return f"{self._message}\n\nOriginal stack trace for '{self._op.name}':\n{site}\n"


class _CodedError(OpError):
    """What the classes that say their code have in common; each of them is an OpError itself."""

    code: int

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        OpError.__init__(self, node_def, op, message, self.code, *args)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._node_def, None, self._message)


def _make(name: str) -> type[_CodedError]:
    row = BY_CLASS[name]
    body = {
        "__doc__": row.meaning,
        "__module__": __name__,
        "code": row.code,
        "__init__": _CodedError.__init__,
        "__reduce__": _CodedError.__reduce__,
    }
    return cast("type[_CodedError]", type(row.cls, (OpError,), body))


CancelledError: Final = _make("CancelledError")
UnknownError: Final = _make("UnknownError")

if TYPE_CHECKING:

    class InvalidArgumentError(_CodedError):
        """An argument is invalid in itself."""

else:
    InvalidArgumentError = _make("InvalidArgumentError")

DeadlineExceededError: Final = _make("DeadlineExceededError")
NotFoundError: Final = _make("NotFoundError")
AlreadyExistsError: Final = _make("AlreadyExistsError")
PermissionDeniedError: Final = _make("PermissionDeniedError")
ResourceExhaustedError: Final = _make("ResourceExhaustedError")
FailedPreconditionError: Final = _make("FailedPreconditionError")
AbortedError: Final = _make("AbortedError")
OutOfRangeError: Final = _make("OutOfRangeError")
UnimplementedError: Final = _make("UnimplementedError")
InternalError: Final = _make("InternalError")
UnavailableError: Final = _make("UnavailableError")
DataLossError: Final = _make("DataLossError")
UnauthenticatedError: Final = _make("UnauthenticatedError")

OK: Final = 0
(
    CANCELLED,
    UNKNOWN,
    INVALID_ARGUMENT,
    DEADLINE_EXCEEDED,
    NOT_FOUND,
    ALREADY_EXISTS,
    PERMISSION_DENIED,
    RESOURCE_EXHAUSTED,
    FAILED_PRECONDITION,
    ABORTED,
    OUT_OF_RANGE,
    UNIMPLEMENTED,
    INTERNAL,
    UNAVAILABLE,
    DATA_LOSS,
    UNAUTHENTICATED,
) = (row.code for row in CODES)


class InvalidArgumentValueError(InvalidArgumentError, ValueError):
    """A value or a shape is wrong, found before anything ran; TensorFlow raises ValueError."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message)


class InvalidArgumentTypeError(InvalidArgumentError, TypeError):
    """A dtype or a type is wrong, found before anything ran; TensorFlow raises TypeError."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message)


def bad_argument(message: str) -> InvalidArgumentError:
    """The error for an invalid argument of a session's method, which belongs to no operation."""
    return InvalidArgumentError(None, None, message)


def bad_value(message: str, op: Any = None) -> InvalidArgumentValueError:
    """The error for a wrong value or shape."""
    return InvalidArgumentValueError(None, op, message)


def bad_type(message: str, op: Any = None) -> InvalidArgumentTypeError:
    """The error for a wrong dtype or type."""
    return InvalidArgumentTypeError(None, op, message)


_BY_CODE: Final[Mapping[int, type[_CodedError]]] = MappingProxyType(
    {
        cls.code: cls
        for cls in (
            CancelledError,
            UnknownError,
            InvalidArgumentError,
            DeadlineExceededError,
            NotFoundError,
            AlreadyExistsError,
            PermissionDeniedError,
            ResourceExhaustedError,
            FailedPreconditionError,
            AbortedError,
            OutOfRangeError,
            UnimplementedError,
            InternalError,
            UnavailableError,
            DataLossError,
            UnauthenticatedError,
        )
    }
)
_BY_CLASS: Final = {cls: code for code, cls in _BY_CODE.items()}


def exception_type_from_error_code(error_code: int) -> type[_CodedError]:
    """The class of an error code.

    Raises:
      KeyError: there is no such code.

    """
    return _BY_CODE[error_code]


def error_code_from_exception_type(cls: type) -> Any:
    """The code of a class; a warning and an UnknownError object, not raised, for any other."""
    try:
        return _BY_CLASS[cls]
    except KeyError:
        warnings.warn("Unknown class exception", stacklevel=2)
        return make(UNKNOWN, "Unknown class exception")


def make(code: int, message: str, node_def: Any = None, op: Any = None) -> OpError:
    """The error of a code; codes without a class give UnknownError with that code."""
    cls = _BY_CODE.get(code)
    if cls is None:
        return OpError(node_def, op, message, code)
    return cls(node_def, op, message)


def of_code(node_def: Any, op: Any, message: str, error_code: int) -> OpError:
    """The error of a code; a warning and an UnknownError for a code that has no class."""
    if error_code not in _BY_CODE:
        warnings.warn(f"Unknown error code: {error_code}", stacklevel=2)
        return make(UNKNOWN, message, node_def, op)
    return make(error_code, message, node_def, op)


@contextmanager
def raise_exception_on_not_ok_status() -> Iterator[object]:
    """Yields the status that functions of TensorFlow's C API would set; here none does."""
    yield object()
