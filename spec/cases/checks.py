"""Named checks: what cannot be said in the case language, functions under one prefix."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final

from sessrun.spec.cases.expressions import ExpressionError

__all__ = ["CHECKS", "check_of"]

#: The one prefix a named check may have.
CHECKS: Final = "sessrun.conformance.checks."


def check_of(name: str) -> Callable[..., Any]:
    """The named check: a function of a module under `CHECKS`, not one that it imports.

    Raises:
      ExpressionError: there is none.

    """
    module_name, _, function = name.rpartition(".")
    if not name.startswith(CHECKS):
        raise ExpressionError(f"a named check lives under {CHECKS}, not {name!r}")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise ExpressionError(f"no named check {name!r}: {error}") from error
    check = getattr(module, function, None)
    if not callable(check) or getattr(check, "__module__", None) != module_name:
        raise ExpressionError(f"no named check {name!r}")
    found: Callable[..., Any] = check
    return found
