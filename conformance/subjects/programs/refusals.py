"""The values or errors of operations that run in graphs of their own."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from sessrun.conformance.subjects.programs.described import attempt, caught

__all__ = ["hidden", "outcomes_of", "shown"]


def outcomes_of(tf: Any, *makers: Callable[[], Any], device: str | None = None) -> list[Any]:
    """The value of what each function builds in a graph of its own, or the error."""

    def ran(make: Callable[[], Any]) -> Any:
        with tf.Graph().as_default(), tf.device(device), tf.Session() as session:
            return session.run(make())

    return attempt(*(partial(ran, make) for make in makers))


def shown(tf: Any, words: str, *makers: Callable[[], Any]) -> list[Any]:
    """The same, with the part of an error's message that a pattern matches."""
    pattern = re.compile(words)
    return [caught(partial(_shown, tf, pattern, make)) for make in makers]


def _shown(tf: Any, words: re.Pattern[str], make: Callable[[], Any]) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = make()
        try:
            return session.run(outputs)
        except tf.errors.OpError as error:
            said = error.message.partition("\n\t [[{{node")[0]
            match = words.search(said.rstrip().rpartition("\n")[2])
            return [type(error).__name__, error.error_code, match and match[0]]


def hidden(tf: Any, value: Any, dtype: Any = None) -> Any:
    """A tensor of a value whose shape is known in a run only."""
    return tf.placeholder_with_default(tf.constant(value, dtype), None)
