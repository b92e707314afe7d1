"""What can go wrong between host and worker.

`ProtocolError` is raised where a line is read that is no message, and handled on that side;
`ExchangeError` where the other side has made the exchange folder useless.
The three `WorkerError`s are raised by the host to the runner: they are about the process, not
about what the backend computed, so no outcome of the Backend contract stands for them.

- `WorkerTimeout`: a request was not answered within its deadline. The worker has been killed.
- `WorkerCrash`: the process ended by itself: a signal, an exit.
- `WorkerContractError`: it said something that the protocol does not allow. It has been killed.

`CaseRefusedError` is raised to the runner too: the worker calls an API case ill-formed. It lives.
"""

from __future__ import annotations

from sessrun.adapters.errors import AdapterError
from sessrun.spec.cases.expressions import ExpressionError

__all__ = [
    "AdapterError",
    "CaseRefusedError",
    "ExchangeError",
    "ProtocolError",
    "WorkerContractError",
    "WorkerCrash",
    "WorkerError",
    "WorkerTimeout",
]


class ProtocolError(ValueError):
    """A line, a file reference or a tensor breaks the protocol; the message says how."""


class ExchangeError(ProtocolError):
    """A file cannot be put into the exchange folder, because of what the other side did to it."""


class CaseRefusedError(ExpressionError):
    """A worker says that the API case it was sent is ill-formed; no other check has said so."""


class WorkerError(Exception):
    """The worker failed, as a process.

    Attributes:
      message: what happened, in words that are the same on every run.
      log: the end of what the worker wrote to stderr.

    """

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message, log)
        self.message = message
        self.log = log

    def __str__(self) -> str:
        return self.message


class WorkerTimeout(WorkerError):  # noqa: N818 - it names what happened
    """A request was not answered within its deadline."""


class WorkerContractError(WorkerError):
    """The worker broke the protocol."""


class WorkerCrash(WorkerError):  # noqa: N818 - it names what happened
    """The worker's process ended.

    Attributes:
      signal: the name of the signal it died of (`SIGSEGV`), or None.
      exit_code: its exit status, or None if a signal ended it.

    """

    def __init__(
        self,
        message: str,
        log: str = "",
        signal: str | None = None,
        exit_code: int | None = None,
    ) -> None:
        super().__init__(message, log)
        self.signal = signal
        self.exit_code = exit_code
