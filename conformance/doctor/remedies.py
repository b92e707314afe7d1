"""What to do about a worker that was lost, or whose answer broke the contract: by what was said."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from sessrun.conformance.doctor.question import CONTRACT

__all__ = ["remedy"]

_LIFE: Final = "docs/protocol.md, The life of a backend"


class _Remedy(NamedTuple):
    """What to do about a loss whose message fits a pattern."""

    pattern: str
    advice: str
    section: str = CONTRACT


#: The first that fits counts.
_REMEDIES: Final = (
    _Remedy(
        r"unexpected keyword argument|required (keyword-only|positional) argument",
        "Methods are called with keyword arguments: give parameters the names of the table.",
    ),
    _Remedy(
        r"has no form on the wire",
        "Return an outcome (Opened, Fetched, Done, Failure, Unsupported); the values of Fetched "
        "are ndarrays, strings object arrays of bytes.",
    ),
    _Remedy(
        r"\d+ values for \d+ fetches",
        "Return one value for each fetch, in their order, None for an operation.",
    ),
    _Remedy(
        r"was answered with",
        "open, setup and callable answer Opened; run, partial and call Fetched; the others Done.",
    ),
    _Remedy(
        r"not JSON|no answer of this protocol|a line of (more than )?\d+ bytes",
        "Standard output is for answers only, each a line of JSON: print to standard error.",
        "docs/protocol.md, Lines",
    ),
    _Remedy(
        r"no answer to \w+ within",
        "The call does not return. Look for a lock, a wait or an endless loop; --deadline gives "
        "a slow engine longer.",
        _LIFE,
    ),
    _Remedy(
        r"died of \w+",
        "The engine took its process with it: check what is handed to native code (names, "
        "dtypes, shapes, null pointers) before the call.",
        _LIFE,
    ),
    _Remedy(
        r"exited with status|closed its output",
        "The process ended by itself: only the request shutdown, or the end of standard input, "
        "may end it.",
        _LIFE,
    ),
    _Remedy(
        r"the worker reports \(backend\)",
        "An exception escaped. Return a Failure (failure_of makes one of an exception), or raise "
        "EngineError or NotOfferedError below ClientLayer.",
    ),
)


def remedy(message: str) -> tuple[str, str]:
    """What to do about a loss, and the section that says more; empty if nothing is known."""
    fits = (known for known in _REMEDIES if re.search(known.pattern, message))
    known = next(fits, _Remedy("", "", ""))
    return known.advice, known.section
