"""Arithmetic without numpy's floating-point warnings: an inf or NaN is a value here."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Final, TypeVar, TypeVarTuple

import numpy as np

__all__ = ["QUIET", "quietly", "quietly_within"]

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")


class _Quiet(threading.local):
    """A context of each thread in which numpy does not warn.

    Attributes:
      run: `run(function, *arguments)` calls in that context, which takes 0.03 µs more than a call.
        It raises RuntimeError within a run of the same thread: then `quietly_within` takes over.

    """

    def __init__(self) -> None:
        context = contextvars.copy_context()
        context.run(np.seterr, all="ignore")
        self.run = context.run


QUIET: Final = _Quiet()


def quietly(function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    """Call without numpy's floating-point warnings.

    A context with `errstate` set once per thread costs 0.3 µs a run, `with errstate` 1.5 µs.
    """
    try:
        return QUIET.run(function, *arguments)
    except RuntimeError as error:
        return quietly_within(error, function, *arguments)


def quietly_within(
    error: RuntimeError, function: Callable[[*Arguments], Result], *arguments: *Arguments
) -> Result:
    """Call without numpy's floating-point warnings in a run inside a run of this thread.

    Args:
      error: that `QUIET.run` has raised; one of another cause is raised again.
      function: the function.
      *arguments: its arguments.

    """
    if "already entered" not in str(error):
        raise error
    with np.errstate(all="ignore"):
        return function(*arguments)
