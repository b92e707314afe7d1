"""`docs/protocol.md`: every line on the page is what it claims to be, and the exchange happens."""

import io
import json
import re
import time
from pathlib import Path

import pytest

from sessrun.adapters.backend import CAPABILITIES
from sessrun.adapters.process import protocol
from sessrun.adapters.process.payloads import INLINE_BYTES, LINE_BYTES
from sessrun.adapters.process.serve import serve
from sessrun.spec.errors import CODES
from sessrun.spec.schema import load_schema

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
    there = {name for name in load_schema("protocol")["$defs"]
             if name.endswith(("_request", "_answer"))}  # fmt: skip
    assert shown == there


def test_the_page_names_what_the_code_has() -> None:
    for number in (INLINE_BYTES, LINE_BYTES):
        assert f"{number:,}" in PAGE
    for capability in CAPABILITIES:
        assert f"`{capability}`" in PAGE
    text = " ".join(PAGE.split())
    for row in CODES:
        assert f"{row.code} {row.name.lower().replace('_', ' ')}" in text
    assert f"Version {protocol.VERSIONS[-1]}." in PAGE
