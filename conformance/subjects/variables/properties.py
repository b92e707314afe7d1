"""Histories of variables of both kinds and every dtype, with what a model says they hold."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

import numpy as np

from sessrun.conformance.property import prop
from sessrun.conformance.subjects.variables import actions
from sessrun.conformance.subjects.variables.arrays import COUNTED, NUMBERS, drawn
from sessrun.conformance.subjects.variables.histories import Held, History
from sessrun.spec.cases.model import Case

_CLAUSE: Final = "VARIABLES-087"


def _run(history: History) -> None:
    """One to five operations, one after the other."""
    draw, done = history.draw, []
    for _ in range(draw.randint(1, 5)):
        held = draw.choice(history.variables)
        done.append(draw.choice(actions.able(history, held))(history, held))
    history.finish(done)


def _fail(history: History) -> None:
    """A run that must fail, and change nothing."""
    held = history.draw.choice(history.variables)
    ways = _WAYS_UNSET if held not in history.held else _WAYS
    history.draw.choice([way for way in ways if _fits(way, held)])(history, held)


def _fits(way: Callable[[History, Held], None], held: Held) -> bool:
    if way in {_wrong_row, _wrong_vector, _wrong_slice, _unset_row}:
        is_refused = held.on_cpu or way not in {_wrong_row, _wrong_vector}
        return is_refused and bool(held.shape) and 0 not in held.shape
    if way in {_wrong_sum, _unset_sum}:
        return held.dtype in NUMBERS
    if way is _at_the_limit:
        return not held.shape and held.dtype in COUNTED
    return way is not _destroy_nothing or held.resource


def _unset_read(history: History, held: Held) -> None:
    history.fail(actions.read_node(history, held), [9])


def _unset_sum(history: History, held: Held) -> None:
    value = drawn(history.draw, held.dtype, held.shape)
    # Fed: TensorFlow's optimizer drops the addition of a constant zero, and its error with it.
    source = history.given(value, open_shape=True)
    history.fail(actions.sum_of(history, held, source), held.unset)


def _unset_row(history: History, held: Held) -> None:
    updates = drawn(history.draw, held.dtype, (1, *held.shape[1:]))
    node = actions.row_update(history, held, "Update", np.array([0], np.int32), updates)
    history.fail(node, held.unset)


def _destroy_nothing(history: History, held: Held) -> None:
    history.fail(actions.destroy(history, held, ignore=False), [5])


def _wrong_value(history: History, held: Held) -> None:
    value = drawn(history.draw, held.dtype, (*held.shape, 2))
    history.fail(actions.assign(history, held, history.given(value, open_shape=True)), [3])


def _wrong_sum(history: History, held: Held) -> None:
    value = drawn(history.draw, held.dtype, (2, *held.shape))
    history.fail(actions.sum_of(history, held, history.given(value, open_shape=True)), [3])


def _wrong_row(history: History, held: Held) -> None:
    draw, row = history.draw, held.shape[0]
    wrong = np.array([draw.choice((row, row + 7, -1, -row))], draw.choice(("int32", "int64")))
    if draw.random() < 0.3:
        history.fail(actions.gather(history, held, wrong), [3])
        return
    updates = np.ones((1, *held.shape[1:])).astype(history.held[held].dtype)
    kind = draw.choice(("Update", "Add")) if held.dtype in NUMBERS else "Update"
    history.fail(actions.row_update(history, held, kind, wrong, updates), [3])


def _wrong_vector(history: History, held: Held) -> None:
    draw = history.draw
    vector = [draw.randrange(size) for size in held.shape]
    axis = draw.randrange(len(vector))
    vector[axis] = draw.choice((held.shape[axis], -1))
    if held.resource and draw.random() < 0.3:
        history.fail(actions.gather_vectors(history, held, np.array([vector], np.int32)), [3])
        return
    updates = drawn(draw, held.dtype, (1,))
    history.fail(
        actions.vector_update(history, held, "Update", np.array([vector], np.int32), updates), [3]
    )


def _wrong_slice(history: History, held: Held) -> None:
    parts = [(slice(None), 0, 0, 1, {"begin_mask": True, "end_mask": True})]
    update = drawn(history.draw, held.dtype, (held.shape[0] + 2, *held.shape[1:]))
    history.fail(actions.slice_update(history, held, parts, update, open_shape=True), [3])


def _at_the_limit(history: History, held: Held) -> None:
    limit = int(history.held[held]) - history.draw.choice((0, 0, 1, 5))
    limit = max(limit, int(np.iinfo(held.dtype).min))
    history.fail(actions.count(history, held, limit), [11])


_WAYS_UNSET: Final = (_unset_read, _unset_sum, _unset_row, _destroy_nothing)
_WAYS: Final = (
    _wrong_value,
    _wrong_sum,
    _wrong_row,
    _wrong_vector,
    _wrong_slice,
    _at_the_limit,
)


@prop("variables", _CLAUSE, weight=2)
def variables(draw: random.Random, id_: str) -> Case:
    """Each variable holds what the operations on it made, in the order of their control inputs."""
    history = History(draw)
    history.make_variables()
    history.steps.append({"do": "open", "session": "s", "graph": "g"})
    for _ in range(draw.randint(6, 14)):
        (_fail if draw.random() < 0.15 else _run)(history)
    done = [actions.read(history, held) for held in history.variables if held in history.held]
    if done:
        history.finish(done)
    title = "Variables hold what the operations on them made, in the order of their control inputs."
    graph = history.writer.graph()
    return Case(id_, title, "engine", (_CLAUSE,), tuple(history.steps), {"g": graph})
