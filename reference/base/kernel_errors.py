"""The errors of kernels: KernelError, and a subclass for each code of `sessrun.spec.errors`.

A subclass has the name of its class in `tf.errors`, without `Error`. A run turns the error of a
kernel into that class (`session/execute/steps.py`).
"""

# ruff: noqa: N818 - the suffix `Error` distinguishes the classes of `tf.errors` from these

from __future__ import annotations

from typing import ClassVar, Final

from sessrun.spec.errors import BY_CLASS

__all__ = [
    "Aborted",
    "AlreadyExists",
    "Cancelled",
    "DataLoss",
    "DeadlineExceeded",
    "FailedPrecondition",
    "Internal",
    "InvalidArgument",
    "KernelError",
    "NotFound",
    "OutOfRange",
    "PermissionDenied",
    "ResourceExhausted",
    "Unauthenticated",
    "Unavailable",
    "Unimplemented",
    "Unknown",
    "of_code",
]

_BY_CODE: Final[dict[int, type[KernelError]]] = {}


class KernelError(Exception):
    """An error that a kernel raises: one of the subclasses below.

    Attributes:
      code: the number of its code, of the class.
      message: what happened; the run adds the node.

    """

    code: ClassVar[int]

    def __init_subclass__(cls) -> None:
        cls.code = BY_CLASS[f"{cls.__name__}Error"].code
        _BY_CODE[cls.code] = cls

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Cancelled(KernelError):
    """The operation or step was cancelled."""


class Unknown(KernelError):
    """No more specific code is known."""


class InvalidArgument(KernelError):
    """An argument is invalid in itself."""


class DeadlineExceeded(KernelError):
    """The deadline passed first."""


class NotFound(KernelError):
    """A requested entity does not exist."""


class AlreadyExists(KernelError):
    """An entity to be created exists."""


class PermissionDenied(KernelError):
    """The caller may not do this."""


class ResourceExhausted(KernelError):
    """A resource is used up."""


class FailedPrecondition(KernelError):
    """The state forbids it now."""


class Aborted(KernelError):
    """A concurrent action aborted it."""


class OutOfRange(KernelError):
    """Iteration past the valid input range."""


class Unimplemented(KernelError):
    """Valid, but not implemented."""


class Internal(KernelError):
    """An invariant of the runtime is broken."""


class Unavailable(KernelError):
    """The runtime cannot be reached now."""


class DataLoss(KernelError):
    """Data is lost or corrupted for good."""


class Unauthenticated(KernelError):
    """No valid credentials were given."""


def of_code(code: int, message: str) -> KernelError:
    """The kernel's error of the same code as another error, as one of `tf.errors`."""
    return _BY_CODE[code](message)
