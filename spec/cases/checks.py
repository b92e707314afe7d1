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
    """The named check: a function of a group that the suite registers, not one that it imports.

    Raises:
      ExpressionError: there is none.

    """
    if not name.startswith(CHECKS):
        raise ExpressionError(f"a named check lives under {CHECKS}, not {name!r}")
    group, _, function = name.removeprefix(CHECKS).rpartition(".")
    module = importlib.import_module(CHECKS.removesuffix(".")).group_of(group)
    check: Callable[..., Any] | None = getattr(module, function, None)
    if module is None or check is None or getattr(check, "__module__", None) != module.__name__:
        raise ExpressionError(f"no named check {name!r}")
    return check
