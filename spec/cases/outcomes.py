"""What a backend can answer to one call: the closed, typed outcomes of the Backend contract."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sessrun.spec.errors import code_of_class
from sessrun.spec.forms import JsonObject

__all__ = ["Call", "Done", "Failure", "Fetched", "Opened", "Outcome", "Unsupported", "failure_of"]

#: Which call of the contract failed; `file`: the case's own step.
Call = Literal[
    "build",
    "open",
    "extend",
    "run",
    "setup",
    "partial",
    "callable",
    "call",
    "devices",
    "reset",
    "close",
    "file",
]


@dataclass(frozen=True, slots=True)
class Opened:
    """A session, a partial run or a callable was opened; `handle` names it from now on."""

    handle: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """The values of a run in the order of its fetches: an ndarray each, None for an operation."""

    values: tuple[np.ndarray | None, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """The call succeeded; `facts` is what it had to tell (device names, placements), as JSON."""

    facts: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failure:
    """The call raised.

    Attributes:
      call: which call of the contract.
      code: 1 to 16 (`sessrun.spec.errors`).
      classes: names of the exception's classes, most derived first, without `object`; the name
        of the `tf.errors` class of the code where the backend has no exceptions.
      node: the graph node that failed, where the backend tells.
      message: for people; never compared.

    """

    call: Call
    code: int
    classes: tuple[str, ...]
    node: str | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The backend declines: it does not offer `capability`. Never a pass."""

    capability: str
    message: str = ""


Outcome = Opened | Fetched | Done | Failure | Unsupported


def failure_of(error: BaseException, call: Call) -> Failure:
    """The Failure an exception means: its classes by name, its code, its node, its message."""
    classes = tuple(cls.__name__ for cls in type(error).__mro__ if cls is not object)
    code = getattr(error, "error_code", None)
    if not isinstance(code, int) or not 1 <= code <= 16:
        code = code_of_class(classes)
    node_def = getattr(error, "node_def", None)
    node = getattr(node_def, "name", None) or None
    return Failure(call, code, classes, node, str(error))
