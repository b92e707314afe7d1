"""The registry of the small programs that are built in two namespaces and compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Program = Callable[[Any], Any]
#: Name to program: a function of the namespace that returns variables, tensors, plain values.
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function
