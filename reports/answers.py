"""What a step should have answered beside what it answered, part by part."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sessrun.reports.printable import number, printable, value_text

__all__ = ["answer_rows"]

#: How many parts are shown, and how many characters of each side.
_ROWS: Final = 6
_WIDTH: Final = 400
#: Parts of an answer that are lists of values, one for each fetch.
_LISTS: Final = frozenset({"values"})
#: How the judge says what an oracle gave, where a backend did otherwise.
_VALUE: Final = re.compile(
    r"(values\[[0-9]+\]|values|value|facts)\S*: want (?P<want>.*?), got .*?"
    r"(?P<where> at index .*| \([0-9]+ of [0-9]+ elements differ, .*)?",
    re.DOTALL,
)
_RAISED: Final = re.compile(r"it succeeded, the oracle raised (.*)", re.DOTALL)
_OTHER: Final = re.compile(r"it raised .*, the oracle (\w+) \(code ([0-9]+)\)", re.DOTALL)
_SUCCEEDED: Final = "; the oracle succeeded"
#: A longer reason is not read: a backend has its say in it.
_READ: Final = 2000


def answer_rows(want: Any, got: Any, reason: str = "") -> Iterator[tuple[str, str, str]]:
    """Part, what was wanted of it and what came: those that differ, the first few.

    Args:
      want: the expectation of the step, as JSON; None if it has none.
      got: what was observed, as JSON.
      reason: the judge's words; of an oracle's answer nothing else is recorded.

    """
    wanted, came = _parts(want), _parts(got)
    expected = _of_oracle(reason) if "oracle" in wanted else {}
    if expected:
        wanted = expected
        if not expected.keys().isdisjoint(came):  # other values are not described
            came = {part: came[part] for part in expected if part in came}
    rows = [
        (printable(part, keep=""), wanted.get(part, ""), came.get(part, ""))
        for part in dict.fromkeys((*wanted, *came))
        if wanted.get(part) != came.get(part)
    ]
    yield from rows[:_ROWS]
    if len(rows) > _ROWS:
        yield (number(len(rows) - _ROWS, "more part"), "", "")


def _of_oracle(reason: str) -> dict[str, str]:
    """The parts of an oracle's answer that the reason names; empty if it names none."""
    if reason.endswith(_SUCCEEDED):
        return {"answer": "values"}
    if len(reason) > _READ:
        return {}
    if match := _VALUE.fullmatch(reason):
        return {match[1]: value_text(match["want"] + (match["where"] or ""), _WIDTH)}
    if match := _OTHER.fullmatch(reason):
        return {"classes": match[1], "code": match[2]}
    if match := _RAISED.fullmatch(reason):
        return {"answer": f"a failure: {value_text(match[1], _WIDTH)}"}
    return {}


def _parts(form: Any) -> dict[str, str]:
    """The parts of an expectation or an observation by name, each as text."""
    if not isinstance(form, Mapping):
        return {} if form is None else {"answer": value_text(form, _WIDTH)}
    parts: dict[str, str] = {}
    for key, value in form.items():
        if key in _LISTS and isinstance(value, list):
            parts |= {f"{key}[{i}]": value_text(item, _WIDTH) for i, item in enumerate(value)}
        elif key == "error" and isinstance(value, Mapping):
            # Of `codes` and the like a choice is wanted; what came has one `code`.
            parts |= {str(k).removesuffix("s"): _choice(item) for k, item in value.items()}
        else:
            parts[key] = value_text(value, _WIDTH)
    return parts


def _choice(options: Any) -> str:
    if isinstance(options, list):
        return " or ".join(value_text(option, _WIDTH) for option in options)
    return value_text(options, _WIDTH)
