"""Errors that the command line prints in one line, without a traceback."""

from __future__ import annotations

import errno

__all__ = ["UserError", "in_one_line", "is_of_output", "reported_errors"]


class UserError(Exception):
    """What the user asked for cannot be done; the message says why and what to do."""


def reported_errors() -> tuple[type[BaseException], ...]:
    """The errors whose message is all that a user needs."""
    from sessrun.adapters.process.errors import WorkerError
    from sessrun.adapters.registry import AdapterError
    from sessrun.conformance.execution import ResumeError
    from sessrun.conformance.plan import PlanError
    from sessrun.reports.archive import PackageError
    from sessrun.reports.diff import DiffError
    from sessrun.reports.signature import SigningError
    from sessrun.spec.schema import SpecError

    return (
        UserError,
        AdapterError,
        DiffError,
        PackageError,
        PlanError,
        ResumeError,
        SigningError,
        SpecError,
        WorkerError,
        OSError,
    )


def is_of_output(error: BaseException) -> bool:
    """Whether the disk is full, and no file is named: files always are, standard output never."""
    full = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
    return isinstance(error, OSError) and error.errno in full and error.filename is None


def in_one_line(error: BaseException) -> str:
    """The error in one line: its first, and the end of the log that follows it, if one does.

    A backend has its say in both: what would steer a terminal is shown as an escape.
    """
    from sessrun.reports.printable import printable, shortened

    where = ": standard output" if is_of_output(error) else ""
    first, *log = [line for line in str(error).splitlines() if line.strip()] or [repr(error)]
    first = printable(first) + where
    return f"{first} (its log ends: {shortened(log[-1].strip(), 200)})" if log else first
