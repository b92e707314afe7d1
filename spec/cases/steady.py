"""What of an observation is the same on every run: a record must not differ but for times.

Two things may differ though a backend does the same again. *Messages* are for people and never
compared: addresses, temporary folders, places in source files and process numbers are taken out.
*Values that the case leaves open* (`keep`, `like`, `anything`, no expectation at all: random
numbers, above all) keep dtype and shape; their content becomes a number of first appearance, so
that equal contents stay equal and others different, which is all that a matcher may ask.

A record also stays small, whatever a backend answers: what is too large is left out.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from typing import Final, Literal

from sessrun.spec.cases.forms import Expect, Step, members
from sessrun.spec.cases.judge import Finding
from sessrun.spec.cases.model import Case, Observation, canonical_json, walk
from sessrun.spec.forms import Json, JsonObject
from sessrun.spec.tensors import Held

__all__ = ["KEEP_BYTES", "finding_form", "is_kept", "steady_observations", "steady_text"]

#: What a record keeps of a case's observations, and of a value in a finding, in bytes of JSON.
KEEP_BYTES: Final = 65536
_SHOWN_BYTES: Final = 8192
_REASON: Final = 2000
_TEXT: Final = 4096

_SOURCE: Final = r"[\w.-]+\.(?:py|pyx|c|cc|cpp|h|so|js|mjs)\b"
_CHANGES: Final = (
    (re.compile(r"0x[0-9a-fA-F]{6,}"), "0x…"),
    (re.compile(rf"(?<![\w.])(?:/[\w.+@~-]+)+/({_SOURCE})"), r"\1"),
    (re.compile(rf'({_SOURCE}"?)(?:, line |:)\d+(?::\d+)?'), r"\1"),
    (re.compile(r"(?i)\b(pid|tid|process|thread)([ =:#]+)\d+"), r"\1\2…"),
)
#: What an observation of a step that the case does not have is held against.
_NO_STEP: Final[Step] = {"do": ""}
_OPEN: Final = ("like", "keep", "same_as", "differs_from")


def steady_text(text: str) -> str:
    """A message without what changes from run to run; of a very long one, of its beginning."""
    text = text[:_TEXT]  # the patterns take time with the square of a word's length
    for folder in {tempfile.gettempdir(), "/tmp"}:  # noqa: S108 - named to be taken out
        text = re.sub(re.escape(folder) + r"/[\w./+@~-]*", "(a temporary file)", text)
    for pattern, instead in _CHANGES:
        text = pattern.sub(instead, text)
    return text


def is_kept(observations: Sequence[Observation]) -> bool:
    """Whether a record keeps the observations of a case: they are small."""
    forms = [members(entry) for entry in observations]
    return not _holds(forms) and len(canonical_json(forms)) <= KEEP_BYTES


def _holds(form: Json) -> bool:
    """Whether there is a large tensor in it, whose elements have no JSON form yet."""
    if isinstance(form, Held):
        return True
    parts = form.values() if isinstance(form, dict) else form if isinstance(form, list) else ()
    return any(map(_holds, parts))


def finding_form(finding: Finding) -> dict[str, Json]:
    """A finding as a record keeps it."""
    got = finding.got
    if _holds(got):
        got = f"more than {KEEP_BYTES:,} bytes of JSON, left out here"
    elif (size := len(canonical_json(got))) > _SHOWN_BYTES:
        got = f"{size:,} bytes of JSON, left out here"
    reason = steady_text(finding.reason)[:_REASON]
    form: dict[str, Json] = {"step": finding.step, "reason": reason}
    form |= {"want": finding.want, "got": got}
    return form | {"clause": finding.clause} if finding.clause else form


def steady_observations(case: Case, seen: Sequence[Observation]) -> list[Observation]:
    """The observations of a case, messages and open values made steady; `seen` is not changed."""
    steps = dict(walk(case.steps))
    contents: dict[bytes, int] = {}
    return [_steady(entry, steps.get(entry.get("step", ""), _NO_STEP), contents) for entry in seen]


def _steady(entry: Observation, step: Step, contents: dict[bytes, int]) -> Observation:
    entry = entry.copy()
    if isinstance(entry.get("message"), str):
        entry["message"] = steady_text(entry["message"])
    expect = step.get("expect", {})
    keys: tuple[Literal["value", "values"], ...] = ("value", "values")
    for key in keys:
        if key not in entry:
            continue
        options = [option for option in (expect, *expect.get("any_of", ())) if key in option]
        if not options and "oracle" not in expect and not _must_fail(expect):
            entry[key] = _opened(entry[key], contents)
        for option in options:
            entry[key] = _matched(option[key], entry[key], contents)
    return entry


def _must_fail(expect: Expect) -> bool:
    """Whether no value conforms: one that came all the same is shown, not left open."""
    return all("error" in option for option in expect.get("any_of") or [expect])


def _matched(want: Json, got: Json, contents: dict[bytes, int]) -> Json:
    """`got`, open where the matcher `want` leaves it open."""
    if isinstance(want, list):
        if not isinstance(got, list) or len(got) != len(want):
            return got
        return [_matched(w, g, contents) for w, g in zip(want, got, strict=True)]
    if not isinstance(want, dict) or not want:
        return got
    key = next(iter(want))
    if key == "anything":
        return "left open"
    if key == "clause":
        return _matched(want["is"], got, contents)
    if key in _OPEN:
        return _opened(got, contents)
    if key == "one_of":
        for option in want[key]:
            got = _matched(option, got, contents)
        return got
    return _matched_form(key, want, got, contents)


def _matched_form(key: str, want: JsonObject, got: Json, contents: dict[bytes, int]) -> Json:
    if not key.startswith("$") or not isinstance(got, dict) or set(got) != {key}:
        return got
    body, seen = want[key], got[key]
    if key in {"$namedtuple", "$attrs"} and isinstance(seen, dict) and isinstance(body, dict):
        values = _matched(body.get("values"), seen.get("values"), contents)
        return {key: {**seen, "values": values}}
    return {key: _matched(body, seen, contents)} if isinstance(body, list) else got


def _opened(got: Json, contents: dict[bytes, int]) -> Json:
    """`got` with the content of each tensor in it replaced by its number of first appearance."""
    if isinstance(got, list):
        return [_opened(item, contents) for item in got]
    if not isinstance(got, dict):
        return got
    for key in ("$array", "$scalar"):
        tensor = got.get(key)
        if isinstance(tensor, dict) and "data" in tensor:
            number = contents.setdefault(canonical_json(tensor), len(contents) + 1)
            return {key: {**tensor, "data": f"content {number}, left open"}}
    return {key: _opened(item, contents) for key, item in got.items()}
