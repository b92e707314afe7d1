"""Histories of steps on staging areas, staged maps and barriers, checked against models.

No step of a history waits: an element is taken only if it is there, and put only if there is room.
"""

from __future__ import annotations

import random
from typing import Any, Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr, shape_attr, text_attr
from sessrun.conformance.generators.model_answers import answer
from sessrun.conformance.generators.resource_histories import DTYPES, History, drawn, text
from sessrun.conformance.property import prop
from sessrun.spec.cases.model import Case, clauses_of
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.forms import Json
from sessrun.spec.model.barriers import Barrier
from sessrun.spec.model.staging import StagedMap, StagingArea
from sessrun.spec.model.values import WaitsError

_LINE: Final = ("STAGING-001", "STAGING-002", "STAGING-003", "STAGING-004")
_MAP: Final = (
    "STAGING-012",
    "STAGING-013",
    "STAGING-014",
    "STAGING-016",
    "STAGING-017",
    "STAGING-018",
    "STAGING-019",
    "STAGING-020",
    "STAGING-021",
    "STAGING-022",
    "STAGING-023",
)
_BARRIER: Final = (
    "BARRIERS-001",
    "BARRIERS-002",
    "BARRIERS-003",
    "BARRIERS-004",
    "BARRIERS-005",
    "BARRIERS-007",
    "BARRIERS-008",
    "BARRIERS-009",
    "BARRIERS-010",
    "BARRIERS-011",
    "BARRIERS-012",
    "BARRIERS-013",
    "BARRIERS-017",
)
#: Keys of barriers, valid UTF-8: TensorFlow's Python decodes errors, which name the key.
_NAMES: Final = (b"", b"a", b"bb", b"c\0c", "ü".encode() * 30)
_KEYS: Final = (0, 1, -1, 5, 2**40, -(2**40), 77)


def _types(dtypes: list[str]) -> dict[str, Json]:
    return {"list": {"type": [BY_NAME[dtype].enum for dtype in dtypes]}}


def _position(value: int) -> np.ndarray:
    return np.array(value, np.int32)


class _Parts:
    """The dtypes of the components of an area, and elements drawn for them."""

    def __init__(self, draw: random.Random) -> None:
        self.history = History()
        self._draw = draw
        self._dtypes = draw.choices(DTYPES, k=draw.randint(1, 3))

    def _element(self) -> list[np.ndarray]:
        shapes = ((), (2,), (0,), (1, 3))
        return [drawn(self._draw, dtype, self._draw.choice(shapes)) for dtype in self._dtypes]

    def _outputs(self, op: str, first: int = 0) -> list[str]:
        return [f"{op}:{n}" for n in range(first + len(self._dtypes))]

    def _holders(self, writer: GraphWriter) -> list[str]:
        return [writer.placeholder(d, None, f"v{n}") for n, d in enumerate(self._dtypes)]


class _Line(_Parts):
    """The history of a staging area, whose elements come out in the order they went in."""

    def __init__(self, draw: random.Random) -> None:
        super().__init__(draw)
        self._area = StagingArea()

    def graph(self) -> dict[str, Json]:
        """The graph of the area's operations."""
        writer = GraphWriter()
        attrs = {"dtypes": _types(self._dtypes), "shared_name": text_attr("area")}
        writer.node("Stage", self._holders(writer), attrs, "put")
        writer.node("Unstage", (), attrs, "get")
        writer.node("StagePeek", [writer.placeholder("int32", (), "place")], attrs, "peek")
        writer.node("StageSize", (), attrs, "size")
        writer.node("StageClear", (), attrs, "clear")
        return writer.graph()

    def go_on(self) -> None:
        """Add a step to the history."""
        chance, area = self._draw.random(), self._area
        if chance < 0.4 or (chance < 0.8 and not area.elements):
            element = self._element()
            area.put(element)
            feeds = {f"v{n}:0": value for n, value in enumerate(element)}
            self.history.run(["put"], feeds, clause="STAGING-001")
        elif chance < 0.6:
            self.history.run(self._outputs("get"), values=area.take(), clause="STAGING-001")
        elif chance < 0.8:
            position = self._draw.randrange(len(area.elements))
            feeds = {"place:0": _position(position)}
            wanted = area.peek(position)
            self.history.run(self._outputs("peek"), feeds, values=wanted, clause="STAGING-003")
        elif chance < 0.95:
            self._see_size("STAGING-002")
        else:
            area.clear()
            self.history.run(["clear"], clause="STAGING-004")
            self._see_size("STAGING-004")

    def _see_size(self, clause: str) -> None:
        self.history.run(["size:0"], values=self._area.size(), clause=clause)


class _Map(_Parts):
    """The history of a staged map; the components of an element may come and go one by one."""

    def __init__(self, draw: random.Random) -> None:
        super().__init__(draw)
        self._order = draw.choice(("Map", "OrderedMap"))
        is_ordered = self._order == "OrderedMap"
        self._map = StagedMap(components=len(self._dtypes), is_ordered=is_ordered)
        #: The keys of complete elements whose components were put in one by one.
        self._in_parts: set[int] = set()

    def graph(self) -> dict[str, Json]:
        """The graph of the map's operations."""
        writer, order = GraphWriter(), self._order
        attrs = {"dtypes": _types(self._dtypes), "shared_name": text_attr("area")}
        key = writer.placeholder("int64", (), "key")
        where = writer.placeholder("int32", None, "where")
        fed = self._holders(writer)
        fake = {"fake_dtypes": _types(self._dtypes)}
        writer.node(f"{order}Stage", [key, where, *fed], attrs | fake, "put")
        writer.node(f"{order}Unstage", [key, where], attrs, "get")
        writer.node(f"{order}Peek", [key, where], attrs, "peek")
        writer.node(f"{order}UnstageNoKey", [where], attrs, "any")
        for number, dtype in enumerate(self._dtypes):
            one = {"fake_dtypes": _types([dtype])}
            inputs = [key, where, fed[number]]
            writer.node(f"{order}Stage", inputs, attrs | one, f"put{number}")
            one = {**attrs, "dtypes": _types([dtype])}
            writer.node(f"{order}Unstage", [key, where], one, f"get{number}")
        for word, node in (("Size", "size"), ("IncompleteSize", "lacking"), ("Clear", "clear")):
            writer.node(f"{order}{word}", (), attrs, node)
        return writer.graph()

    def go_on(self) -> None:
        """Add a step to the history."""
        complete = self._map.complete
        full = [key for key, parts in complete.items() if len(parts) == len(self._dtypes)]
        chance = self._draw.random()
        if chance < 0.3:
            self._put()
        elif chance < 0.45 and len(self._dtypes) > 1:
            self._put_part()
        elif chance < 0.7 and full:
            self._get(self._draw.choice(full))
        elif chance < 0.8:
            self._get_part()
        elif chance < 0.97:
            self._see_sizes("STAGING-016", "STAGING-017")
        else:
            self._map.clear()
            self._in_parts.clear()
            self.history.run(["clear"], clause="STAGING-023")
            self._see_sizes("STAGING-023", "STAGING-023")

    def _see_sizes(self, complete: str, incomplete: str) -> None:
        """Read both sizes, each for its own clause."""
        clauses = [complete, incomplete]
        self.history.run(["size:0", "lacking:0"], values=self._map.sizes(), clauses=clauses)

    def _fed(self, key: int | None, where: list[int]) -> dict[str, np.ndarray]:
        feeds = {"where:0": np.array(where, np.int32)}
        if key is not None:
            feeds["key:0"] = np.array(key, np.int64)
        return feeds

    def _put(self) -> None:
        held = self._map
        free = [k for k in _KEYS if k not in held.complete and k not in held.incomplete]
        if not free:
            return
        key, element = self._draw.choice(free), self._element()
        positions = list(range(len(element)))
        feeds = self._fed(key, positions)
        feeds |= {f"v{n}:0": value for n, value in enumerate(element)}
        held.put(key, positions, element)
        self.history.run(["put"], feeds, clause="STAGING-012")

    def _put_part(self) -> None:
        held = self._map
        key = self._draw.choice([k for k in _KEYS if k not in held.complete] or [123])
        number = self._draw.randrange(len(self._dtypes))
        value = self._element()[number]
        feeds = self._fed(key, [number]) | {f"v{number}:0": value}
        given = answer(held.put, key, [number], [value])
        if key in held.complete:
            self._in_parts.add(key)
        clause = "STAGING-019" if "error" in given else "STAGING-018"
        self.history.run([f"put{number}"], feeds, clause=clause, **given)

    def _get(self, key: int) -> None:
        positions = list(range(len(self._dtypes)))
        op = self._draw.choice(["get", "peek", "any"])
        if op == "any" and (self._order == "Map" or key != min(self._map.complete)):
            return  # which element a map gives is not defined
        feeds = self._fed(None if op == "any" else key, positions)
        clause = {"get": "STAGING-012", "peek": "STAGING-013", "any": "STAGING-014"}[op]
        if op == "get" and key in self._in_parts:
            clause = "STAGING-018"
        if op == "any":
            values = self._map.take_any(positions)
        else:
            values = (self._map.take if op == "get" else self._map.peek)(key, positions)
        self.history.run(self._outputs(op, int(op == "any")), feeds, values=values, clause=clause)
        self._in_parts &= self._map.complete.keys()

    def _get_part(self) -> None:
        complete = self._map.complete
        if not complete:
            return
        key = self._draw.choice(list(complete))
        number = self._draw.randrange(len(self._dtypes))
        odd = self._draw.random() < 0.2
        positions = [len(self._dtypes)] if odd else [number]
        given = answer(self._map.take, key, positions)
        clause = "STAGING-022" if odd else "STAGING-021" if "error" in given else "STAGING-020"
        feeds = self._fed(key, positions)
        self.history.run([f"get{number}:0"], feeds, clause=clause, **given)
        self._in_parts &= complete.keys()


def _history(draw: random.Random, id_: str, life: Any, title: str) -> Case:
    graph = life.graph()
    life.history.open()
    for _ in range(draw.randint(6, 18)):
        life.go_on()
    while not clauses_of(life.history.steps):  # a call may find no step that is possible
        life.go_on()
    case: Case = life.history.case(id_, title, graph)
    return case


@prop("staging", *_LINE, *_MAP, weight=2)
def staging(draw: random.Random, id_: str) -> Case:
    """A staging area gives what a list gives, a staged map what a dictionary gives."""
    if draw.random() < 0.4:
        title = "A staging area gives its elements as a list does."
        return _history(draw, id_, _Line(draw), title)
    title = "A staged map gives its elements as a dictionary does."
    return _history(draw, id_, _Map(draw), title)


class _Barrier:
    """The history of a barrier of one or two components."""

    def __init__(self, draw: random.Random) -> None:
        self.history = History()
        self._draw = draw
        self._dtypes = draw.choices(DTYPES, k=draw.randint(1, 2))
        self._shapes = [draw.choice([(), (2,), (1, 2)]) for _ in self._dtypes]
        self._barrier = Barrier(tuple(self._dtypes), tuple(self._shapes))

    def graph(self) -> dict[str, Json]:
        """The graph of the barrier's operations."""
        writer = GraphWriter()
        types = _types(self._dtypes)
        shapes = {"list": {"shape": [shape_attr(shape)["shape"] for shape in self._shapes]}}
        barrier = writer.node(
            "Barrier",
            (),
            {
                "component_types": types,
                "shapes": shapes,
                "shared_name": text_attr("barrier"),
            },
            "barrier",
        )
        keys, count = (
            writer.placeholder("string", None, "keys"),
            writer.placeholder("int32", (), "count"),
        )
        for number, dtype in enumerate(self._dtypes):
            values = writer.placeholder(dtype, None, f"v{number}")
            attrs = {"T": dtype_attr(dtype), "component_index": {"i": str(number)}}
            writer.node("BarrierInsertMany", [barrier, keys, values], attrs, f"put{number}")
        for node, few in (("take", False), ("few", True)):
            attrs = {"component_types": types, "allow_small_batch": {"b": few}}
            writer.node("BarrierTakeMany", [barrier, count], attrs, node)
        writer.node("BarrierReadySize", [barrier], {}, "ready")
        writer.node("BarrierIncompleteSize", [barrier], {}, "lacking")
        writer.node("BarrierClose", [barrier], {}, "close")
        attrs = {"cancel_pending_enqueues": {"b": True}}
        writer.node("BarrierClose", [barrier], attrs, "cancel")
        return writer.graph()

    def go_on(self) -> None:
        """Add a step to the history."""
        chance = self._draw.random()
        if chance < 0.55:
            self._put()
        elif chance < 0.75:
            self._take()
        elif chance < 0.94:
            self._see_sizes("BARRIERS-002", "BARRIERS-003")
        else:
            self._close()

    def _see_sizes(self, ready: str, incomplete: str) -> None:
        """Read both sizes, each for its own clause."""
        clauses = [ready, incomplete]
        self.history.run(["ready:0", "lacking:0"], values=self._barrier.sizes(), clauses=clauses)

    def _lacks(self, key: bytes, number: int) -> bool:
        """Whether a component can be inserted under a key."""
        entry = self._barrier.incomplete.get(key)
        return entry is None or number not in entry.parts

    def _put(self) -> None:
        barrier = self._barrier
        number = self._draw.randrange(len(self._dtypes))
        keys = self._draw.sample(_NAMES, self._draw.randint(1, 3))
        new = [key for key in keys if key not in barrier.incomplete]
        keys = [key for key in keys if key not in new[1:]]  # the order of several is not defined
        if barrier.is_closed or not all(self._lacks(key, number) for key in keys):
            # Keys before the one that fails stay in the barrier: one key has none before it.
            keys = keys[:1]
        shape = (len(keys), *self._shapes[number])
        values = drawn(self._draw, self._dtypes[number], shape)
        feeds = {"keys:0": text(keys), f"v{number}:0": values}
        clause = self._clause_of_put(keys, number)
        given = answer(barrier.insert, number, keys, values)
        self.history.run([f"put{number}"], feeds, clause=clause, **given)

    def _clause_of_put(self, keys: list[bytes], number: int) -> str:
        barrier = self._barrier
        if barrier.is_cancelled:
            return "BARRIERS-009"
        if barrier.is_closed and keys[0] not in barrier.incomplete:
            return "BARRIERS-007"
        if not self._lacks(keys[0], number):
            return "BARRIERS-005"
        if barrier.is_closed:
            return "BARRIERS-008"
        again = {entry.key for entry in barrier.ready} & set(keys)
        return "BARRIERS-017" if again else "BARRIERS-001"

    def _take(self) -> None:
        barrier, ready = self._barrier, len(self._barrier.ready)
        may_be_few = self._draw.random() < 0.4
        count = self._draw.randint(1, 3)
        if count > ready and may_be_few and not ready:
            return  # no clause says what a closed and empty barrier gives
        clause = self._clause_of_take(count)
        try:
            given = answer(barrier.take, count, may_be_few=may_be_few)
        except WaitsError:
            return
        op, feeds = "few" if may_be_few else "take", {"count:0": _position(count)}
        if "error" in given:
            self.history.run([f"{op}:1"], feeds, clause="BARRIERS-011", **given)
            return
        fetches = [f"{op}:{n}" for n in range(1, 2 + len(self._dtypes))]
        keys = "BARRIERS-004" if ready > count and clause == "BARRIERS-001" else clause
        clauses = [keys, *[clause] * len(self._dtypes)]
        self.history.run(fetches, feeds, values=given["values"][1:], clauses=clauses)

    def _clause_of_take(self, count: int) -> str:
        if count > len(self._barrier.ready):
            return "BARRIERS-012"
        return "BARRIERS-013" if self._barrier.is_closed else "BARRIERS-001"

    def _close(self) -> None:
        barrier = self._barrier
        op = self._draw.choice(["close", "cancel"])
        if barrier.is_closed and not barrier.incomplete:
            op = "close"  # a second close that cancels hangs in TensorFlow where nothing is left
        given = answer(barrier.close, cancels=op == "cancel")
        clause = "BARRIERS-009" if op == "cancel" else "BARRIERS-007"
        if "error" in given:
            clause = "BARRIERS-010"
        self.history.run([op], clause=clause, **given)


@prop("barriers", *_BARRIER, weight=2)
def barriers(draw: random.Random, id_: str) -> Case:
    """A barrier gives the elements that a model of it has complete, in the order of their keys."""
    title = "A barrier gives what is complete, in the order of the keys."
    return _history(draw, id_, _Barrier(draw), title)
