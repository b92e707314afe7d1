"""Histories of steps on staging areas, staged maps and barriers, checked against models.

No step of a history waits: an element is taken only if it is there, and put only if there is room.
"""

from __future__ import annotations

import random
from typing import Any, Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr, shape_attr, text_attr
from sessrun.conformance.generators.resource_histories import DTYPES, History, drawn, text
from sessrun.conformance.property import prop
from sessrun.spec.cases.model import Case, clauses_of
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.forms import Json

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
        self._held: list[list[np.ndarray]] = []

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
        chance, held = self._draw.random(), self._held
        if chance < 0.4 or (chance < 0.8 and not held):
            element = self._element()
            held.append(element)
            feeds = {f"v{n}:0": value for n, value in enumerate(element)}
            self.history.run(["put"], feeds, clause="STAGING-001")
        elif chance < 0.6:
            self.history.run(self._outputs("get"), values=held.pop(0), clause="STAGING-001")
        elif chance < 0.8:
            position = self._draw.randrange(len(held))
            feeds = {"place:0": _position(position)}
            wanted = held[position]
            self.history.run(self._outputs("peek"), feeds, values=wanted, clause="STAGING-003")
        elif chance < 0.95:
            self._see_size("STAGING-002")
        else:
            held.clear()
            self.history.run(["clear"], clause="STAGING-004")
            self._see_size("STAGING-004")

    def _see_size(self, clause: str) -> None:
        self.history.run(["size:0"], values=[_position(len(self._held))], clause=clause)


class _Map(_Parts):
    """The history of a staged map; the components of an element may come and go one by one."""

    def __init__(self, draw: random.Random) -> None:
        super().__init__(draw)
        self._order = draw.choice(("Map", "OrderedMap"))
        self._complete: dict[int, dict[int, np.ndarray]] = {}
        self._incomplete: dict[int, dict[int, np.ndarray]] = {}
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
        whole = [key for key, parts in self._complete.items() if len(parts) == len(self._dtypes)]
        chance = self._draw.random()
        if chance < 0.3:
            self._put()
        elif chance < 0.45 and len(self._dtypes) > 1:
            self._put_part()
        elif chance < 0.7 and whole:
            self._get(self._draw.choice(whole))
        elif chance < 0.8:
            self._get_part()
        elif chance < 0.97:
            self._see_sizes("STAGING-016", "STAGING-017")
        else:
            self._complete, self._incomplete, self._in_parts = {}, {}, set()
            self.history.run(["clear"], clause="STAGING-023")
            self._see_sizes("STAGING-023", "STAGING-023")

    def _see_sizes(self, complete: str, incomplete: str) -> None:
        """Read both sizes, each for its own clause."""
        sizes = [_position(len(self._complete)), _position(len(self._incomplete))]
        clauses = [complete, incomplete]
        self.history.run(["size:0", "lacking:0"], values=sizes, clauses=clauses)

    def _fed(self, key: int | None, where: list[int]) -> dict[str, np.ndarray]:
        feeds = {"where:0": np.array(where, np.int32)}
        if key is not None:
            feeds["key:0"] = np.array(key, np.int64)
        return feeds

    def _put(self) -> None:
        free = [k for k in _KEYS if k not in self._complete and k not in self._incomplete]
        if not free:
            return
        key, element = self._draw.choice(free), self._element()
        feeds = self._fed(key, list(range(len(element))))
        feeds |= {f"v{n}:0": value for n, value in enumerate(element)}
        self._complete[key] = dict(enumerate(element))
        self.history.run(["put"], feeds, clause="STAGING-012")

    def _put_part(self) -> None:
        key = self._draw.choice([k for k in _KEYS if k not in self._complete] or [123])
        number = self._draw.randrange(len(self._dtypes))
        value = self._element()[number]
        feeds = self._fed(key, [number]) | {f"v{number}:0": value}
        parts = self._incomplete.setdefault(key, {})
        if number in parts:
            self.history.run([f"put{number}"], feeds, error=[3], clause="STAGING-019")
            return
        parts[number] = value
        if len(parts) == len(self._dtypes):
            self._complete[key] = self._incomplete.pop(key)
            self._in_parts.add(key)
        self.history.run([f"put{number}"], feeds, clause="STAGING-018")

    def _get(self, key: int) -> None:
        positions = list(range(len(self._dtypes)))
        op = self._draw.choice(["get", "peek", "any"])
        wanted = [part for _, part in sorted(self._complete[key].items())]
        if op == "any":
            if self._order == "Map" or key != min(self._complete):
                return  # which element a map gives is not defined
            wanted = [np.array(key, np.int64), *wanted]
        feeds = self._fed(None if op == "any" else key, positions)
        clause = {"get": "STAGING-012", "peek": "STAGING-013", "any": "STAGING-014"}[op]
        if op == "get" and key in self._in_parts:
            clause = "STAGING-018"
        fetches = self._outputs(op, int(op == "any"))
        self.history.run(fetches, feeds, values=wanted, clause=clause)
        if op != "peek":
            del self._complete[key]
            self._in_parts.discard(key)

    def _get_part(self) -> None:
        if not self._complete:
            return
        key = self._draw.choice(list(self._complete))
        number = self._draw.randrange(len(self._dtypes))
        parts, odd = self._complete[key], self._draw.random() < 0.2
        feeds = self._fed(key, [len(self._dtypes)] if odd else [number])
        if odd or number not in parts:
            clause = "STAGING-022" if odd else "STAGING-021"
            self.history.run([f"get{number}:0"], feeds, error=[3], clause=clause)
            return
        wanted = [parts.pop(number)]
        self.history.run([f"get{number}:0"], feeds, values=wanted, clause="STAGING-020")
        if not parts:
            del self._complete[key]
            self._in_parts.discard(key)


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
        self._incomplete: dict[bytes, tuple[int, dict[int, np.ndarray]]] = {}
        self._ready: list[tuple[int, int, bytes, dict[int, np.ndarray]]] = []
        self._index = self._number = 0
        self._is_closed = self._is_cancelled = False

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
        sizes = [_position(len(self._ready)), _position(len(self._incomplete))]
        clauses = [ready, incomplete]
        self.history.run(["ready:0", "lacking:0"], values=sizes, clauses=clauses)

    def _put(self) -> None:
        number = self._draw.randrange(len(self._dtypes))
        keys = self._draw.sample(_NAMES, self._draw.randint(1, 3))
        new = [key for key in keys if key not in self._incomplete]
        keys = [key for key in keys if key not in new[1:]]  # the order of several is not defined
        if self._is_closed or any(number in self._incomplete.get(k, (0, {}))[1] for k in keys):
            keys = keys[
                :1
            ]  # keys before the one that fails stay in the barrier: one key has none before it
        shape = (len(keys), *self._shapes[number])
        values = drawn(self._draw, self._dtypes[number], shape)
        feeds = {"keys:0": text(keys), f"v{number}:0": values}
        is_new = keys[0] not in self._incomplete
        if self._is_cancelled or (self._is_closed and is_new):
            clause = "BARRIERS-009" if self._is_cancelled else "BARRIERS-007"
            self.history.run([f"put{number}"], feeds, error=[1], clause=clause)
        elif number in self._incomplete.get(keys[0], (0, {}))[1]:
            self.history.run([f"put{number}"], feeds, error=[3], clause="BARRIERS-005")
        else:
            clause = self._clause_of_put(keys)
            self._insert(number, keys, values)
            self.history.run([f"put{number}"], feeds, clause=clause)

    def _clause_of_put(self, keys: list[bytes]) -> str:
        if self._is_closed:
            return "BARRIERS-008"
        again = {key for *_, key, _ in self._ready} & set(keys)
        return "BARRIERS-017" if again else "BARRIERS-001"

    def _insert(self, number: int, keys: list[bytes], values: np.ndarray) -> None:
        any_new = False
        for key, row in zip(keys, values, strict=True):
            any_new |= key not in self._incomplete
            index, parts = self._incomplete.setdefault(key, (self._index, {}))
            parts[number] = np.asarray(row, values.dtype)
            if len(parts) == len(self._dtypes):
                del self._incomplete[key]
                self._number += 1
                self._ready.append((index, self._number, key, parts))
        self._index += any_new

    def _take(self) -> None:
        self._ready.sort(key=lambda element: element[:2])
        few = self._draw.random() < 0.4
        count = self._draw.randint(1, 3)
        feeds = {"count:0": _position(count)}
        op = "few" if few else "take"
        ready = len(self._ready)
        if count > ready and not self._is_closed:
            return  # it would wait
        incomplete = len(self._incomplete)
        if count > ready and (incomplete or not few or not ready):
            if count > ready + incomplete and not few:
                self.history.run([f"{op}:1"], feeds, error=[11], clause="BARRIERS-011")
            return  # it would wait for incomplete elements
        clause = self._clause_of_take(count)
        taken, self._ready = self._ready[:count], self._ready[count:]
        wanted = [text([key for _, _, key, _ in taken])]
        for number, dtype in enumerate(self._dtypes):
            rows = [parts[number] for *_, parts in taken]
            held = np.empty(
                (len(rows), *self._shapes[number]), object if dtype == "string" else dtype
            )
            for index, row in enumerate(rows):
                held[index] = row if row.ndim else row[()]
            wanted.append(held)
        fetches = [f"{op}:{n}" for n in range(1, 2 + len(self._dtypes))]
        keys = "BARRIERS-004" if ready > count and clause == "BARRIERS-001" else clause
        clauses = [keys, *[clause] * len(self._dtypes)]
        self.history.run(fetches, feeds, values=wanted, clauses=clauses)

    def _clause_of_take(self, count: int) -> str:
        if count > len(self._ready):
            return "BARRIERS-012"
        return "BARRIERS-013" if self._is_closed else "BARRIERS-001"

    def _close(self) -> None:
        op = self._draw.choice(["close", "cancel"])
        if self._is_closed and not self._incomplete:
            op = "close"  # a second close that cancels hangs in TensorFlow where nothing is left
        if self._is_cancelled or (self._is_closed and op == "close"):
            self.history.run([op], error=[1], clause="BARRIERS-010")
            return
        self._is_closed = True
        if op == "cancel":
            self._is_cancelled = True
            self._incomplete.clear()
        self.history.run([op], clause="BARRIERS-009" if op == "cancel" else "BARRIERS-007")


@prop("barriers", *_BARRIER, weight=2)
def barriers(draw: random.Random, id_: str) -> Case:
    """A barrier gives the elements that a model of it has complete, in the order of their keys."""
    title = "A barrier gives what is complete, in the order of the keys."
    return _history(draw, id_, _Barrier(draw), title)
