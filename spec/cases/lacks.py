"""What a case lacked of its backend, as its finding's reason says: `unsupported: op Betainc`."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["NAMED", "is_undeclared", "lack_of"]

#: Capabilities of which a refusal names one of many: each of these is lacking by itself.
NAMED: Final = frozenset({"op", "dtype", "config"})
_DECLINED: Final = re.compile(r"unsupported: (\S+)(?: ([^\s:,;]+))?")
_UNDECLARED: Final = re.compile(
    r"unsupported: (?:operation|capability) .*\(not declared\)\Z", re.DOTALL
)


def lack_of(reason: str) -> str | None:
    """`op Betainc`, `dtype int8`, `config device_count`, or a capability alone; None of none."""
    declined = _DECLINED.match(reason)
    if declined is None:
        return None
    capability, name = declined.groups()
    return f"{capability} {name}" if name and capability in NAMED else str(capability)


def is_undeclared(reason: str) -> bool:
    """Whether a case was not asked since its backend declares not to do what it needs.

    Only a backend that declares its operations is asked so, and no verdict rests on such a case.
    """
    return _UNDECLARED.match(reason) is not None
