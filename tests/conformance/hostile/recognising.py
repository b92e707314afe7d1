"""An echo that needs no recording: it knows vectors by their structure from the installed spec.

Names and values aside, an API case that it is sent is one of the vectors, whose expectations it
tells, with the names that it was sent in the place of the vector's.
"""

import functools
from typing import Any

from hostile.echoing import echo
from hostile.structural import Words, without_values

from sessrun.adapters.backend import Description, unsupported
from sessrun.adapters.minimal import MinimalEngine
from sessrun.spec.cases.engine import observation
from sessrun.spec.cases.model import Observation, asked, content_hash
from sessrun.spec.loader import load_vectors


def backend() -> MinimalEngine:
    return Recognising()


class Recognising(MinimalEngine):
    def describe(self) -> Description:
        return Description("recognising", "1", frozenset({"api"}))

    def interpret_api(self, case: Any, _: Any) -> list[Observation]:
        words = Words()
        known = vectors().get(key_of(words, case))
        if known is None:
            return [observation("0", unsupported("expectations"))]
        answers: list[Observation] = words.named(known)
        return answers


@functools.cache
def vectors() -> dict[str, Any]:
    """What each vector expects, in numbers of words, by its structure."""
    found = {}
    for case in load_vectors().values():
        if case.surface == "api":
            words = Words()
            key = key_of(words, asked(case))
            found[key] = words.told(echo(case.steps))
    return found


def key_of(words: Words, case: Any) -> str:
    return content_hash(without_values(words.numbered(case.to_json())))
