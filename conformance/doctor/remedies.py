"""What to do about a worker that was lost, or whose answer broke the contract: by what was said."""

from __future__ import annotations

import re
from typing import Final

from sessrun.conformance.doctor.question import CONTRACT

__all__ = ["remedy"]

_PROCESS: Final = "docs/protocol.md, Lines"

#: What is said of a loss, what to do, and where the documentation says more; the first that fits.
_REMEDIES: Final = (
    (r"unexpected keyword argument|required (keyword-only|positional) argument",
     "Methods are called with keyword arguments: give the parameters the names of the table.",
     CONTRACT),
    (r"has no form on the wire",
     "Return an outcome (Opened, Fetched, Done, Failure, Unsupported); the values of Fetched are "
     "ndarrays, strings object arrays of bytes.",
     CONTRACT),
    (r"\d+ values for \d+ fetches",
     "Return one value for each fetch, in their order, None for an operation.",
     CONTRACT),
    (r"was answered with",
     "open, setup and callable answer Opened; run, partial and call Fetched; the others Done.",
     CONTRACT),
    (r"not JSON|no answer of this protocol|a line of (more than )?\d+ bytes",
     "Standard output is for answers only, each a line of JSON: print to standard error.",
     _PROCESS),
    (r"no answer to \w+ within",
     "The call does not return. Look for a lock, a wait or an endless loop; --deadline gives a slow "
     "engine longer.",
     "docs/protocol.md, The life of a backend"),
    (r"died of \w+",
     "The engine took its process with it: check what is handed to native code (names, dtypes, "
     "shapes, null pointers) before the call.",
     "docs/protocol.md, The life of a backend"),
    (r"exited with status|closed its output",
     "The process ended by itself: only the request shutdown, or the end of standard input, may "
     "end it.",
     "docs/protocol.md, The life of a backend"),
    (r"the worker reports \(backend\)",
     "An exception escaped. Return a Failure (failure_of makes one of an exception), or raise "
     "EngineError or NotOfferedError below ClientLayer.",
     CONTRACT),
)  # fmt: skip


def remedy(message: str) -> tuple[str, str]:
    """What to do about a loss, and the section that says more; empty if nothing is known."""
    for pattern, advice, section in _REMEDIES:
        if re.search(pattern, message):
            return advice, section
    return "", ""
