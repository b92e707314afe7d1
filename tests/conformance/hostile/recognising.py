"""An echo that needs no recording: it knows vectors by their structure from the installed spec.

Names and values aside, an API case that it is sent is one of the vectors, whose expectations it
tells, with the names that it was sent in the place of the vector's. `#FILE` keeps what it knows for
the next worker.
"""

import functools
import json
from pathlib import Path
from typing import Any

from hostile.echoing import echo
from hostile.structural import Words, without_values

from sessrun.adapters.backend import Description, unsupported
from sessrun.adapters.minimal import MinimalEngine
from sessrun.spec.cases.engine import observation
from sessrun.spec.cases.model import Observation, asked, content_hash
from sessrun.spec.loader import load_vectors


def backend(argument: str) -> MinimalEngine:
    return Recognising(Path(argument))


class Recognising(MinimalEngine):
    def __init__(self, path: Path) -> None:
        self.path = path

    def describe(self) -> Description:
        return Description("recognising", "1", frozenset({"api"}))

    def interpret_api(self, case: Any, _: Any) -> list[Observation]:
        words = Words()
        known = vectors(self.path).get(key_of(words, case))
        if known is None:
            return [observation("0", unsupported("expectations"))]
        answers: list[Observation] = words.named(known)
        return answers


@functools.cache
def vectors(path: Path) -> dict[str, Any]:
    """What each vector expects, in numbers of words, by its structure."""
    if path.exists():
        expected: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return expected
    expected = {}
    for case in load_vectors().values():
        if case.surface == "api":
            words = Words()
            key = key_of(words, asked(case))
            expected[key] = words.told(echo(case.steps))
    path.write_text(json.dumps(expected), "utf-8")
    return expected


def key_of(words: Words, case: Any) -> str:
    return content_hash(without_values(words.numbered(case.to_json())))
