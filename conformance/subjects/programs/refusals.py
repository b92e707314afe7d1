"""What an operation itself says when a run refuses it, without the node and the stack around it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from sessrun.conformance.subjects.programs.described import caught

__all__ = ["hidden", "told"]


def told(tf: Any, words: str, *makers: Callable[[], Any]) -> list[Any]:
    """What each makes, run in a graph of its own.

    Of an error there are the class, the code and what of its message a pattern matches.
    """
    pattern = re.compile(words)
    return [caught(functools.partial(_told, tf, pattern, make)) for make in makers]


def _told(tf: Any, words: re.Pattern[str], make: Callable[[], Any]) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        made = make()
        try:
            return session.run(made)
        except tf.errors.OpError as error:
            said = error.message.partition("\n\t [[{{node")[0]
            found = words.search(said.rstrip().rpartition("\n")[2])
            return [type(error).__name__, error.error_code, found and found[0]]


def hidden(tf: Any, value: Any, dtype: Any = None) -> Any:
    """A tensor of a value whose shape only a run sees."""
    return tf.placeholder_with_default(tf.constant(value, dtype), None)
