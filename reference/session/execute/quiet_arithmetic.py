"""Arithmetic without numpy's floating-point warnings: an inf or NaN is a value here."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Final, TypeVarTuple

import numpy as np

__all__ = ["quietly"]

Arguments = TypeVarTuple("Arguments")

_LOCAL: Final = threading.local()


def quietly(function: Callable[[*Arguments], None], *arguments: *Arguments) -> None:
    """Call without numpy's floating-point warnings.

    A context with `errstate` set once per thread costs 0.02 µs a run, `with errstate` 1.5 µs.
    """
    try:
        within = _LOCAL.within
    except AttributeError:
        context = contextvars.copy_context()
        context.run(np.seterr, all="ignore")
        within = _LOCAL.within = context.run
    try:
        within(function, *arguments)
    except RuntimeError as error:
        if "already entered" not in str(error):
            raise
        with np.errstate(all="ignore"):  # a run inside a run of this thread
            function(*arguments)
