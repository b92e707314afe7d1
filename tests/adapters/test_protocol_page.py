"""`docs/protocol.md`: every line on the page is what it claims to be, and the exchange happens."""

import io
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sessrun.adapters.backend import CAPABILITIES
from sessrun.adapters.process import protocol
from sessrun.adapters.process.connection import DROPPED
from sessrun.adapters.process.errors import ProtocolError
from sessrun.adapters.process.exchange import ANSWER_BYTES, NAME_LENGTH
from sessrun.adapters.process.payloads import (
    INLINE_BYTES,
    LINE_BYTES,
    OBSERVATION_BYTES,
    STRINGS,
)
from sessrun.adapters.process.serve import serve
from sessrun.spec.cases.engine import MESSAGE
from sessrun.spec.errors import CODES
from sessrun.spec.schema import load_schema
from sessrun.spec.tensors import MAX_ELEMENTS

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()
BLOCKS = re.findall(r"^```\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
LINES = [line for block in BLOCKS for line in block.splitlines()]


class InTurn(io.BytesIO):
    """Requests, each of which comes when the one before it has been answered."""

    def __init__(self, lines: bytes, answers: io.BytesIO) -> None:
        super().__init__(lines)
        self.answers = answers
        self.read_lines = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        while self.answers.getvalue().count(b"\n") < self.read_lines:
            time.sleep(0.001)
        self.read_lines += 1
        return super().readline(size)


@pytest.mark.parametrize("line", LINES)
def test_every_line_on_the_page_follows_the_schema(line: str) -> None:
    side = {"> ": "request", "< ": "answer"}[line[:2]]
    protocol.read_line(line[2:].encode(), side)


def test_the_exchange_on_the_page_is_what_happens() -> None:
    sent = "".join(line[2:] + "\n" for line in BLOCKS[0].splitlines() if line.startswith("> "))
    want = [json.loads(line[2:]) for line in BLOCKS[0].splitlines() if line.startswith("< ")]
    answers = io.BytesIO()
    requests = InTurn(sent.encode(), answers)
    assert serve("sessrun.adapters.fakes.conforming:backend", requests, answers) == 0
    assert [json.loads(line) for line in answers.getvalue().splitlines()] == want


def test_the_page_shows_every_message_there_is() -> None:
    shown = {
        f"{form['do']}_request" if line.startswith("> ") else f"{form['outcome']}_answer"
        for line in LINES
        for form in [json.loads(line[2:])]
    }
    there = {
        name for name in load_schema("protocol")["$defs"] if name.endswith(("_request", "_answer"))
    }
    assert shown == there


def schema_limits(form: Any) -> Iterator[int]:
    """Every length, number of items and number that the schema bounds."""
    if isinstance(form, dict):
        for key, value in form.items():
            if key in {"maxLength", "maxItems", "maximum"} and isinstance(value, int):
                yield value
            else:
                yield from schema_limits(value)
    elif isinstance(form, list):
        for part in form:
            yield from schema_limits(part)


def test_the_page_lists_every_limit_that_the_code_has() -> None:
    _, _, rest = PAGE.partition("\n## Limits\n")
    section = rest.partition("\n## ")[0]
    codes = len(CODES)  # the greatest code is no limit on how much there may be
    limits = {limit for limit in schema_limits(load_schema("protocol")) if limit != codes}
    assert limits
    limits |= {LINE_BYTES, INLINE_BYTES, ANSWER_BYTES, STRINGS, OBSERVATION_BYTES, MAX_ELEMENTS}
    limits |= {DROPPED, protocol.TEXT, MESSAGE, NAME_LENGTH, *protocol.LISTS.values()}
    listed = {int(number.replace(",", "")) for number in re.findall(r"\b\d[\d,]*\b", section)}
    assert limits - listed == set()
    assert listed - limits == set(), "and no other"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (
            {"do": "close", "session": "s" * 257},
            "at session: 'ssss.* has 257 characters; the limit is 256",
        ),
        (
            {"do": "reset", "containers": ["n" * 65537]},
            "at containers.0: 'nnnn.* has 65,537 characters; the limit is 65,536",
        ),
        (
            {"do": "run", "session": "s", "fetches": [], "options": {}, "feeds": {"n" * 65537: {}}},
            "'nnnn.* has 65,537 characters; the limit is 65,536",
        ),
    ],
)
def test_what_is_too_long_is_refused_with_the_limit(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(ProtocolError, match=reason):
        protocol.read_line(json.dumps({"id": 1, **fields}).encode(), "request")


def test_the_page_names_what_the_code_has() -> None:
    for number in (INLINE_BYTES, LINE_BYTES):
        assert f"{number:,}" in PAGE
    for capability in CAPABILITIES:
        assert f"`{capability}`" in PAGE
    text = " ".join(PAGE.split())
    for row in CODES:
        assert f"{row.code} {row.name.lower().replace('_', ' ')}" in text
    assert f"Version {protocol.VERSIONS[-1]}." in PAGE
