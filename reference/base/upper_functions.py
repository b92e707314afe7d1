"""Functions of packages further up that packages further down call, by their names there.

What is called is decided further up, and few programs need it: `registrations` says for each name
which module is imported at the first call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

__all__ = ["UPPER"]

UPPER: Final[dict[str, Callable[..., Any]]] = {}
