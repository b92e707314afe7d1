"""Why a case went wrong, without what differs from case to case: names, numbers, ids, shapes.

Cases of one cause are mended together. What is not offered is named: the operation, the dtype, the
key of the configuration, or else the capability alone. A message of the backend is its own
cause, whichever case brought it forth. Any other wrong answer is of the one operation that its case
asks, or of the family of its case, the fixed cases and their variants taken together.
"""

from __future__ import annotations

import re
from typing import Final

from sessrun.reports.plan import PlannedCase
from sessrun.spec.cases.lacks import NAMED, lack_of
from sessrun.spec.dtypes import BY_NAME

__all__ = ["cause_of", "named_lacks"]

#: What the judge says around a message of the backend.
_MESSAGE: Final = re.compile(
    r"it (?:raised|failed with) (\S+): (.*?)(?:; the oracle succeeded)?\Z", re.DOTALL
)
#: Results whose reason is what became of the backend, not of the case.
_OF_THE_BACKEND: Final = frozenset({"crash", "timeout", "error", "infra_error", "missing"})

_DTYPES: Final = "|".join(sorted(BY_NAME, key=len, reverse=True))
#: What stays as it is though it holds digits: a dtype, the code of an error.
_KEPT: Final = rf"\b(?:np\.)?(?:{_DTYPES})\b|\bcodes? \d+(?: or \d+)*(?:, not \d+(?: or \d+)*)?"
_VARYING: Final = re.compile(
    rf"(?P<kept>{_KEPT})"
    r"|(?P<quoted>'[^']*'|\"[^\"]*\")"
    r"|(?P<named>\b[Nn](?:ame|ode):? (?=\S))[^\s:,;]+"
    r"|(?P<path>[\w.+-]*(?:/[\w.+-]+)+)"
    r"|(?P<number>[-+]?(?:0x[0-9a-f]+|\b\d[\d_.]*(?:e[-+]?\d+)?|\binf\b))"
    r"|(?P<name>\b[A-Za-z_]\w*\d\w*)",
    re.IGNORECASE,
)
_SHOWN: Final = {"quoted": "'…'", "path": "…", "number": "#", "name": "…"}
_LIST: Final = re.compile(r"\[[#,\s.…()\[\]-]*\]")
#: Where two tensors first differ, and in how many elements.
_WHERE: Final = re.compile(r"(?: at index \[…\])?(?: \(# of # elements differ, contract (\w+).*)")
#: How many characters of a reason are read, and how many distinguish one cause from another.
_WORDS: Final = 2000
_TELLING: Final = 200


def cause_of(case: PlannedCase, result: str, reason: str) -> str:
    """The cause in words, equal for cases that went wrong alike.

    Args:
      case: the planned case.
      result: the case's result.
      reason: why, as its finding says.

    """
    lack = lack_of(reason) if result == "unsupported" else None
    if lack is not None:
        return lack
    message = _MESSAGE.match(reason[:_WORDS])
    if message is not None:
        return f"{message[1]}: {_normal(message[2])}"
    words = _normal(reason)
    return words if result in _OF_THE_BACKEND else f"{_origin(case)}: {words}"


def _origin(case: PlannedCase) -> str:
    """What the case is about: its one operation with its dtypes, or else its family."""
    if case.demand is not None and len(case.demand.operations) == 1:
        ((name, dtypes),) = case.demand.operations.items()
        return f"{name} of {' and '.join(dtypes)}"
    return case.family.removeprefix("variant/")


def named_lacks(cause: str) -> tuple[str, str] | None:
    """`("op", "Betainc")` of a cause that names what is not offered; None of any other."""
    capability, _, name = cause.partition(" ")
    return (capability, name) if capability in NAMED and name and " " not in name else None


def _normal(reason: str) -> str:
    words = _LIST.sub("[…]", _VARYING.sub(_replaced, reason[:_WORDS]))
    return " ".join(_WHERE.sub(r" (\1)", words).split())[:_TELLING]


def _replaced(match: re.Match[str]) -> str:
    if match["kept"]:
        return match["kept"]
    if match["named"]:
        return f"{match['named']}…"
    return next(shown for kind, shown in _SHOWN.items() if match[kind])
