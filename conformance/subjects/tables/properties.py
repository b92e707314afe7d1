"""Histories of lookup tables of every kind, as a model of them says."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import (
    GraphWriter,
    dtype_attr,
    shape_attr,
    text_attr,
)
from sessrun.conformance.generators.model_answers import Answer, answer
from sessrun.conformance.generators.resource_histories import History, text
from sessrun.conformance.property import prop
from sessrun.spec.cases.model import Case
from sessrun.spec.forms import Json
from sessrun.spec.model.tables import DENSE, ROWS, STATIC, Table

_CLAUSES: Final = (
    "TABLES-001",
    "TABLES-002",
    "TABLES-003",
    "TABLES-004",
    "TABLES-005",
    "TABLES-007",
    "TABLES-008",
    "TABLES-012",
    "TABLES-014",
    "TABLES-015",
    "TABLES-016",
    "TABLES-017",
    "TABLES-018",
    "TABLES-019",
    "TABLES-020",
    "TABLES-021",
    "TABLES-030",
    "TABLES-031",
)
#: For each kind of table the dtypes of keys and values that it takes.
_PAIRS: Final = {
    STATIC: (
        "int32 int32",
        "int32 float32",
        "int32 float64",
        "int32 string",
        "int64 int32",
        "int64 int64",
        "int64 float32",
        "int64 float64",
        "int64 string",
        "string int32",
        "string int64",
        "string float32",
        "string float64",
        "string bool",
        "string string",
    ),
    "MutableHashTable": (
        "int32 int32",
        "int32 float32",
        "int32 float64",
        "int64 int32",
        "int64 int64",
        "int64 float32",
        "int64 float64",
        "int64 string",
        "string int32",
        "string int64",
        "string float32",
        "string float64",
        "string bool",
    ),
    DENSE: (
        "int32 int32",
        "int32 float32",
        "int32 float64",
        "int64 int32",
        "int64 int64",
        "int64 float32",
        "int64 float64",
        "int64 bool",
        "string int32",
        "string int64",
        "string float32",
        "string float64",
        "string bool",
    ),
}
#: A key that is drawn.
_Key = bytes | int
_WORDS: Final = (b"", b"a", b"bb", b"c\0c", b"\xff", b"a" * 40, "Grüße".encode(), b"z")
_NUMBERS: Final = (0, 1, -1, 5, 77, -(2**31), 2**31 - 1, 12)
#: How many keys are looked up at most after a table was replaced as a whole.
_MOST: Final = 6
#: The keys that a table of buckets keeps for itself.
_RESERVED: Final[dict[str, tuple[_Key, _Key]]] = {
    "string": (b"<empty>", b"<freed>"),
    "int32": (-7, -8),
    "int64": (-7, -8),
}


class _Drawn:
    """A drawn table, and keys and values for it.

    Attributes:
      table: the table of the model.
      lost: whether a key was removed from it.
      is_roomy: whether it has many more buckets than there are keys.

    """

    def __init__(self, draw: random.Random, buckets: int) -> None:
        self.draw = draw
        self.is_roomy = buckets > 2 * len(_WORDS)
        kind = draw.choice([*_PAIRS, ROWS])
        key, value = draw.choice(_PAIRS["MutableHashTable" if kind == ROWS else kind]).split()
        row = (draw.randint(1, 3),) if kind == ROWS else ()
        reserved = _RESERVED[key] if kind == DENSE else ()
        self.table = Table(kind, key, value, row, reserved=reserved)
        self.lost = False

    @property
    def all_keys(self) -> Sequence[_Key]:
        """All keys that are drawn."""
        return _WORDS if self.table.key_dtype == "string" else _NUMBERS

    @property
    def is_empty(self) -> bool:
        """Whether it is one that is filled once, and is not yet."""
        return self.table.kind == STATIC and not self.table.is_filled

    def keys(self, count: int) -> list[_Key]:
        """Some keys, often the same ones."""
        return self.draw.choices(self.all_keys, k=count)

    def key_tensor(self, keys: list[_Key], shape: tuple[int, ...] | None = None) -> np.ndarray:
        """The tensor of these keys."""
        shape = (len(keys),) if shape is None else shape
        if self.table.key_dtype == "string":
            return text([key for key in keys if isinstance(key, bytes)], shape)
        return np.array(keys, self.table.key_dtype).reshape(shape)

    def values(self, shape: tuple[int, ...]) -> np.ndarray:
        """A tensor of values, each of the shape of a row."""
        shape = (*shape, *self.table.row)
        count = int(np.prod(shape, dtype=np.int64))
        if self.table.value_dtype == "string":
            return text(self.draw.choices(_WORDS, k=count), shape)
        drawn = [self.draw.randint(-99, 99) for _ in range(count)]
        numbers = np.array([n > 0 for n in drawn] if self.table.value_dtype == "bool" else drawn)
        return numbers.astype(self.table.value_dtype).reshape(shape)


def _graph(drawn: _Drawn, buckets: int) -> dict[str, Json]:
    """The graph of a table with every operation on it."""
    writer, table = GraphWriter(), drawn.table
    key, value = dtype_attr(table.key_dtype), dtype_attr(table.value_dtype)
    attrs = {"key_dtype": key, "value_dtype": value, "shared_name": text_attr("table")}
    inputs: list[str] = []
    if table.row:
        attrs["value_shape"] = shape_attr(table.row)
    if table.kind == DENSE:
        attrs["initial_num_buckets"] = {"i": str(buckets)}
        for word, reserved in zip(("empty", "freed"), _RESERVED[table.key_dtype], strict=True):
            inputs.append(writer.constant(drawn.key_tensor([reserved], ()), word))
    handle = writer.node(f"{table.kind}V2", inputs, attrs, "table")
    keys = writer.placeholder(table.key_dtype, None, "keys")
    values = writer.placeholder(table.value_dtype, None, "values")
    pair = {"Tin": key, "Tout": value}
    writer.node("LookupTableFindV2", [handle, keys, values], pair, "find")
    writer.node("LookupTableInsertV2", [handle, keys, values], pair, "insert")
    writer.node("LookupTableImportV2", [handle, keys, values], pair, "restore")
    writer.node("LookupTableRemoveV2", [handle, keys], {"Tin": key}, "remove")
    writer.node("LookupTableSizeV2", [handle], {}, "size")
    if table.kind == STATIC:
        pair = {"Tkey": key, "Tval": value}
        writer.node("InitializeTableV2", [handle, keys, values], pair, "fill")
    return writer.graph()


class _Life:
    """A table's history."""

    def __init__(self, draw: random.Random, drawn: _Drawn) -> None:
        self.history = History()
        self._draw = draw
        self._drawn = drawn
        self._table = drawn.table

    def go_on(self) -> None:
        """Take one step more."""
        chance = self._draw.random()
        if chance < 0.4:
            self._find()
        elif chance < 0.5:
            size = self._table.size()
            self.history.run(["size:0"], values=size, clause="TABLES-008")
        elif self._table.kind == STATIC:
            self._fill()
        elif chance < 0.75:
            self._put()
        elif chance < 0.9:
            self._remove()
        else:
            self._odd()

    def _shape(self) -> tuple[int, ...]:
        if self._table.kind == DENSE:
            return (self._draw.randint(1, 5),)
        return self._draw.choice([(), (0,), (1,), (3,), (5,), (2, 2), (1, 0, 3), (2, 1, 2)])

    def _keys(self, shape: tuple[int, ...]) -> list[_Key]:
        return self._drawn.keys(int(np.prod(shape, dtype=np.int64)))

    def _held(self, keys: Iterable[_Key]) -> set[_Key]:
        """Those of the keys that the table has."""
        return {key for key in keys if key in self._table.pairs}

    def _find(self) -> None:
        drawn, shape = self._drawn, self._shape()
        keys = self._keys(shape)
        by_key = self._table.kind not in {STATIC, DENSE} and self._draw.random() < 0.3
        defaults = drawn.values(shape if by_key else ())
        clause = "TABLES-019" if by_key else self._clause_of_find(keys)
        self._look_up(keys, defaults, shape, clause)

    def _clause_of_find(self, keys: list[_Key]) -> str:
        if self._drawn.is_empty:
            return "TABLES-003"
        if not keys:
            return "TABLES-012"
        if self._table.row:
            return "TABLES-020"
        lacks = any(key not in self._table.pairs for key in keys)
        return "TABLES-002" if lacks and self._table.kind == STATIC else "TABLES-001"

    def _look_up(
        self, keys: list[_Key], defaults: np.ndarray, shape: tuple[int, ...], clause: str
    ) -> None:
        tensor = self._drawn.key_tensor(keys, shape)
        feeds = {"keys:0": tensor, "values:0": defaults}
        self._run("find:0", feeds, answer(self._table.find, tensor, defaults), clause)

    def _run(self, fetch: str, feeds: Mapping[str, np.ndarray], given: Answer, clause: str) -> None:
        self.history.run([fetch], feeds, clause=clause, **given)

    def _see(self, keys: list[_Key], clause: str) -> None:
        """Mostly look up the keys that a step has changed, which shows its effect."""
        if keys and self._draw.random() < 0.7:
            self._look_up(keys, self._drawn.values(()), (len(keys),), clause)

    def _pairs(self, shape: tuple[int, ...]) -> tuple[list[_Key], np.ndarray, np.ndarray]:
        """Keys, their tensor, and a tensor of values."""
        keys = self._keys(shape)
        values = self._drawn.values(shape)
        return keys, self._drawn.key_tensor(keys, shape), values

    def _fill(self) -> None:
        table, was_filled = self._table, self._table.is_filled
        op = self._draw.choice(["fill", "restore"])
        keys, tensor, values = self._pairs((self._draw.randint(1, 4),))
        given = answer(table.fill, tensor, values)
        if was_filled:
            clause = "TABLES-005" if "error" in given else "TABLES-004"
        else:
            if "error" in given:  # what came before it stays in, and would decide what comes next
                keys, tensor, values = self._pairs((1,))
                given = answer(table.fill, tensor, values)
            clause = "TABLES-007" if len(table.pairs) < len(keys) else "TABLES-001"
        self._run(op, {"keys:0": tensor, "values:0": values}, given, clause)
        self._see(keys, clause)

    def _put(self) -> None:
        table, drawn = self._table, self._drawn
        restores = table.kind != DENSE and self._draw.random() < 0.25
        shape = (self._draw.randint(0, 4),) if restores else self._shape()
        keys, tensor, values = self._pairs(shape)
        if table.kind == DENSE and drawn.lost and self._held(keys):
            return  # TensorFlow may hold such a key twice: see docs/findings/tensorflow.md
        before = self._held(drawn.all_keys)
        clause = "TABLES-018" if restores else self._clause_of_insertion(keys)
        given = answer(table.replace if restores else table.insert, tensor, values)
        op = "restore" if restores else "insert"
        self._run(op, {"keys:0": tensor, "values:0": values}, given, clause)
        self._see(sorted(before) if restores and len(before) <= _MOST else keys, clause)

    def _clause_of_insertion(self, keys: list[_Key]) -> str:
        if len(set(keys)) < len(keys):
            return "TABLES-015"
        if self._held(keys):
            return "TABLES-014"
        is_dense = self._table.kind == DENSE
        return "TABLES-031" if is_dense and not self._drawn.is_roomy else "TABLES-001"

    def _remove(self) -> None:
        drawn, shape = self._drawn, self._shape()
        keys = self._keys(shape)
        if self._table.kind == DENSE and not drawn.is_roomy:
            keys = [key for key in keys if key not in self._table.pairs]
            shape = (len(keys),)  # buckets of removed keys count as taken
        removes = bool(self._held(keys))
        drawn.lost = drawn.lost or removes
        clause = "TABLES-016" if removes else "TABLES-017"
        tensor = drawn.key_tensor(keys, shape)
        self._run("remove", {"keys:0": tensor}, answer(self._table.remove, tensor), clause)
        self._see(keys, clause)

    def _odd(self) -> None:
        """A run that must fail and change nothing."""
        table, drawn = self._table, self._drawn
        _, keys, values = self._pairs((2,))
        if table.kind == DENSE and self._draw.random() < 0.6:
            reserved = self._draw.choice(_RESERVED[table.key_dtype])
            keys = drawn.key_tensor([reserved, reserved])
            fetch = self._draw.choice(["insert", "find:0", "remove"])
            if fetch == "insert":
                given = answer(table.insert, keys, values)
            elif fetch == "find:0":
                values = drawn.values(())
                given = answer(table.find, keys, values)
            else:
                given = answer(table.remove, keys)
            feeds = {"keys:0": keys} | ({} if fetch == "remove" else {"values:0": values})
            self._run(fetch, feeds, given, "TABLES-030")
            return
        values = drawn.values((3,))
        feeds = {"keys:0": keys, "values:0": values}
        self._run("insert", feeds, answer(table.insert, keys, values), "TABLES-021")


@prop("tables", *_CLAUSES, weight=2)
def tables(draw: random.Random, id_: str) -> Case:
    """A table gives what a dictionary gives that has the same history."""
    buckets = draw.choice([4, 8, 64])
    drawn = _Drawn(draw, buckets)
    graph = _graph(drawn, buckets)
    life = _Life(draw, drawn)
    life.history.open()
    for _ in range(draw.randint(5, 16)):
        life.go_on()
    table = drawn.table
    title = f"A {table.kind}V2 from {table.key_dtype} to {table.value_dtype} has what was put in."
    return life.history.case(id_, title, graph)
