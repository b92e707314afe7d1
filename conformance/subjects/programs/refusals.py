"""The values or errors of operations that run in graphs of their own."""

from __future__ import annotations

import re
from functools import partial

from sessrun.conformance.subjects.programs.described import attempt, caught
from sessrun.conformance.subjects.programs.program import Action, Plain
from sessrun.spec.cases.arguments import DTypeLike
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor, Value

__all__ = ["hidden", "outcomes_of", "shown"]


def outcomes_of(tf: Namespace, *makers: Action, device: str | None = None) -> list[Plain]:
    """The value of what each function builds in a graph of its own, or the error."""

    def ran(make: Action) -> Value:
        with tf.Graph().as_default(), tf.device(device), tf.Session() as session:
            return session.run(make())

    return attempt(*(partial(ran, make) for make in makers))


def shown(tf: Namespace, words: str, *makers: Action) -> list[Plain]:
    """As `outcomes_of`, but an error with the part of its message that matches a pattern."""
    pattern = re.compile(words)
    return [caught(partial(_shown, tf, pattern, make)) for make in makers]


def _shown(tf: Namespace, words: re.Pattern[str], make: Action) -> Value:
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = make()
        try:
            return session.run(outputs)
        except tf.errors.OpError as error:
            said = error.message.partition("\n\t [[{{node")[0]
            match = words.search(said.rstrip().rpartition("\n")[2])
            return [type(error).__name__, error.error_code, match and match[0]]


def hidden(tf: Namespace, value: Plain, dtype: DTypeLike | None = None) -> Tensor:
    """A tensor of a value whose shape is known in a run only."""
    return tf.placeholder_with_default(tf.constant(value, dtype), None)
