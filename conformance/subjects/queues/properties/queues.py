"""Queues of all kinds, used in runs one after another and in runs that wait for one another.

The expected values are those of the spec's model of a queue. A run that waits does so in
a thread of its own, and its answer is the same however late that begins.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final, ParamSpec

import numpy as np
import numpy.typing as npt

from sessrun.conformance.property import prop
from sessrun.conformance.subjects.queues.graphs import Terms, queue_graph
from sessrun.conformance.subjects.queues.lives import Life, batch_of, draw_terms
from sessrun.spec import tensors
from sessrun.spec.cases.forms import Expect, Step
from sessrun.spec.cases.model import Case
from sessrun.spec.model.queues import Element
from sessrun.spec.model.values import FailedError

_CLAUSES: Final = ("QUEUES-002",)
Arguments = ParamSpec("Arguments")
#: What a run is to do: its fetches, its feeds, and what it is to give or to fail with.
_Run = tuple[list[str], Mapping[str, np.ndarray | np.generic], Expect]


class _Using:
    """One queue node of one session, and the runs on it."""

    def __init__(self, draw: random.Random, node: str, life: Life) -> None:
        self._draw = draw
        self._node = node
        self._life = life
        self._terms: Terms = life.terms

    def go_on(self) -> list[Step]:
        """The next step, or the steps of a run that waits; none names its session yet."""
        draw, life = self._draw, self._life
        chance = draw.random()
        if chance < 0.10:
            return [_step(self._refused())]
        if chance < 0.22:
            return [_step(self._looked())]
        if chance < 0.28:
            return [_step(self._close())]
        if chance < 0.42 and not life.queue.is_closed:
            waiting = self._waiting()
            if waiting:
                return waiting
        if draw.random() < 0.5 and (life.queue.is_closed or life.room > 0):
            return [_step(self._put())]
        return [_step(self._take())]

    # --- runs that end at once ------------------------------------------------------------

    def _put(self, count: int | None = None) -> _Run:
        """Enqueue as many elements as there is room for; into a closed queue, any number."""
        draw, life = self._draw, self._life
        if count is None and draw.random() < 0.5:
            elements = [life.fresh(draw)]
            fetches, feeds = [f"{self._node}/put"], self._fed("x", elements[0])
        else:
            if count is None:
                count = draw.randint(0, 3 if life.queue.is_closed else min(4, life.room))
            elements = life.fresh_rows(draw, count)
            fetches, feeds = [f"{self._node}/puts"], self._rows(elements)
        return fetches, feeds, _expected(life.queue.put, list(elements))

    def _rows(self, elements: Sequence[Element]) -> dict[str, np.ndarray]:
        shaped = elements or [self._life.fresh(self._draw, 1)]
        columns = [np.stack(column)[: len(elements)] for column in zip(*shaped, strict=True)]
        return self._fed("rows", columns)

    def _fed(self, word: str, parts: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        return {f"{self._node}/{word}{index}:0": part for index, part in enumerate(parts)}

    def _take(self) -> _Run:
        """Dequeue elements that are there; from a closed queue, any number."""
        draw, life = self._draw, self._life
        action = draw.choice(("take", "takes", "up_to"))
        if action == "up_to" and self._terms.kind == "priority":
            action = "takes"  # TensorFlow loses what a closed PriorityQueue has too few of
        is_closed = life.queue.is_closed
        if action == "take" and (life.ready or is_closed):
            try:
                (element,) = life.queue.take([], 1)
            except FailedError as error:
                return [f"{self._node}/take:0"], {}, _fails(error)
            return self._answered("take", element, {})
        action = "takes" if action == "take" else action
        count = draw.randint(0, life.ready + (2 if is_closed else 0))
        return self._several(action, count)

    def _several(self, action: str, count: int) -> _Run:
        """Take so many at once, none of which has to be waited for."""
        queue = self._life.queue
        feeds = {f"{self._node}/n:0": np.int32(count)}
        try:
            queue.check_batch(count)
            elements = queue.take([], count, least=1 if action == "up_to" else None)
        except FailedError as error:
            return [f"{self._node}/{action}:0"], feeds, _fails(error)
        return self._answered(action, batch_of(self._terms, elements), feeds)

    def _answered(
        self, action: str, parts: Sequence[np.ndarray], feeds: Mapping[str, np.ndarray | np.generic]
    ) -> _Run:
        """A dequeue and its values, for some of the components in any order."""
        order = list(range(len(parts)))
        self._draw.shuffle(order)
        order = order[: self._draw.randint(1, len(order))]
        fetches = [f"{self._node}/{action}:{index}" for index in order]
        return fetches, feeds, _values([parts[index] for index in order])

    def _looked(self) -> _Run:
        queue = self._life.queue
        if self._draw.random() < 0.6:
            return [f"{self._node}/size:0"], {}, _values([np.int32(len(queue.elements))])
        return [f"{self._node}/closed:0"], {}, _values([np.bool_(queue.is_closed)])

    def _close(self) -> _Run:
        action = self._draw.choice(("close", "cancel"))
        expected = _expected(self._life.queue.close, cancels=action == "cancel")
        return [f"{self._node}/{action}"], {}, expected

    def _refused(self) -> _Run:
        """A run that must fail, or must be missing a feed, and changes nothing."""
        draw, life = self._draw, self._life
        parts = list(life.fresh(draw, 1))
        match draw.randrange(4):
            case 0:
                action = draw.choice(("takes", "up_to"))
                return self._several(action, -draw.randint(1, 9))
            case 1 if self._terms.fed_components[0][1] is not None:
                parts[0] = np.stack([parts[0]] * 2)[np.newaxis]  # two more dimensions
                expected = _expected(life.queue.put, [tuple(parts)])
                return [f"{self._node}/put"], self._fed("x", parts), expected
            case 2 if len(parts) > 1:
                rows = [np.stack([part] * (2 + (index == 0))) for index, part in enumerate(parts)]
                return [f"{self._node}/puts"], self._fed("rows", rows), _REFUSED
        return [f"{self._node}/put"], {}, _REFUSED

    # --- runs that wait -------------------------------------------------------------------

    def _waiting(self) -> list[Step]:
        """A run that waits in a thread, and the runs that end its wait; empty if none can wait."""
        draw, life = self._draw, self._life
        match draw.randrange(4):
            case 0 if life.in_batches and life.room > 0:
                return self._taker_served()
            case 1 if life.room < 4:
                return self._putter_served()
            case 2 if life.in_batches and self._terms.kind != "priority":
                return self._taker_closed()
            case 3 if not life.queue.elements:
                life.queue.close(cancels=False)
                missing: _Run = ([f"{self._node}/take:0"], {}, _expected(life.queue.take, [], 1))
                return _beside(draw, missing, [self._only("close")])
        return []

    def _only(self, action: str) -> _Run:
        return [f"{self._node}/{action}"], {}, _values([None])

    def _taker_served(self) -> list[Step]:
        """A dequeue of more elements than there are, and then enqueues of the missing ones."""
        life = self._life
        lacking = self._draw.randint(1, min(3, life.room))
        want = len(life.queue.elements) + lacking - self._terms.reserve
        if want < 1:
            return []
        put = self._put(lacking)
        return _beside(self._draw, self._several("takes", want), [put])

    def _putter_served(self) -> list[Step]:
        """An enqueue of more elements than there is room for, and then dequeues that make room."""
        life = self._life
        if self._terms.kind in {"priority", "shuffle"} or not life.in_batches:
            return []
        elements = life.fresh_rows(self._draw, life.room + self._draw.randint(1, 3))
        put = [f"{self._node}/puts"], self._rows(elements), _values([None])
        excess = max(1, len(elements) - life.room)
        rows = batch_of(self._terms, life.exchange(elements, excess))
        feeds = {f"{self._node}/n:0": np.int32(excess)}
        return _beside(self._draw, put, [self._answered("takes", rows, feeds)])

    def _taker_closed(self) -> list[Step]:
        """A dequeue of more elements than there are, and then a close."""
        life = self._life
        want = len(life.queue.elements) + self._draw.randint(1, 3)
        life.queue.close(cancels=False)
        action = self._draw.choice(("takes", "up_to"))
        return _beside(self._draw, self._several(action, want), [self._only("close")])


def _values(values: Sequence[npt.ArrayLike | None]) -> Expect:
    forms = [None if v is None else {"$array": tensors.encode(np.asarray(v))} for v in values]
    return {"values": forms}


def _fails(error: FailedError) -> Expect:
    return {"error": {"codes": [error.code]}}


#: A run that must fail without any effect on the queue.
_REFUSED: Final[Expect] = {"error": {"codes": [3]}}


def _expected(
    operation: Callable[Arguments, object], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Expect:
    """What a run must give that does an operation on the model and fetches no value."""
    try:
        operation(*args, **kwargs)
    except FailedError as error:
        return _fails(error)
    return _values([None])


def _step(run: _Run) -> Step:
    fetches, feeds, expect = run
    step: Step = {"do": "run", "fetches": fetches, "expect": expect}
    if feeds:
        step["feeds"] = {name: tensors.encode(np.asarray(v)) for name, v in feeds.items()}
    return step


def _beside(draw: random.Random, waiting: _Run, runs: Sequence[_Run]) -> list[Step]:
    """A run in a thread, the runs beside it, and its answer."""
    step = _step(waiting)
    expect = step.pop("expect")
    start: Step = {"do": "start", "thread": "t", "step": step}
    if draw.random() < 0.3:
        start["grace_s"] = 0.01
    return [start, *map(_step, runs), {"do": "join", "thread": "t", "expect": expect}]


def _in_session(step: Step, session: str) -> Step:
    if step["do"] == "start":
        return {**step, "step": _in_session(step["step"], session)}
    return {**step, "session": session} if step["do"] == "run" else step


@prop("queues", *_CLAUSES, weight=2)
def queues(draw: random.Random, id_: str) -> Case:
    """Queues hold what was put in and not taken out, each kind in its order."""
    terms = [draw_terms(draw, "q" if draw.random() < 0.3 else "")]
    if draw.random() < 0.5:
        terms.append(terms[0] if terms[0].shared_name else draw_terms(draw, ""))
    steps: list[Step] = []
    using: list[tuple[str, _Using]] = []
    for session in ("s", "t")[: draw.choice((1, 1, 2))]:
        steps.append({"do": "open", "session": session, "graph": "g"})
        lives: dict[str, Life] = {}
        for number, queue_terms in enumerate(terms):
            life = lives.setdefault(queue_terms.shared_name or str(number), Life(queue_terms))
            using.append((session, _Using(draw, f"queue{number}", life)))
    for _ in range(draw.randint(6, 24)):
        session, one = draw.choice(using)
        steps += [_in_session(step, session) for step in one.go_on()]
    title = "What comes out of queues is what went in, in the order of their kind."
    return Case(id_, title, "engine", _CLAUSES, tuple(steps), {"g": queue_graph(terms)})
