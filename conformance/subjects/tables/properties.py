"""Histories of lookup tables of every kind, as a model of them says."""

from __future__ import annotations

import random
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import (
    GraphWriter,
    dtype_attr,
    shape_attr,
    text_attr,
)
from sessrun.conformance.generators.resource_histories import History, text
from sessrun.conformance.property import prop
from sessrun.spec.cases.model import Case
from sessrun.spec.forms import Json

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
    "HashTableV2": (
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
    "MutableHashTableV2": (
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
    "MutableDenseHashTableV2": (
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
#: A key of a table.
_Key = bytes | int
_ROWS: Final = "MutableHashTableOfTensorsV2"
_DENSE: Final = "MutableDenseHashTableV2"
_STATIC: Final = "HashTableV2"
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


class _Model:
    """What a table holds.

    Attributes:
      kind: the type of its operation.
      key: the dtype of its keys.
      value: the dtype of its values.
      row: the shape of a value.
      held: its values by key; None before it is filled.
      lost: whether a key was removed from it.
      is_roomy: whether it has many more buckets than there are keys.

    """

    def __init__(self, draw: random.Random, buckets: int) -> None:
        self.draw = draw
        self.is_roomy = buckets > 2 * len(_WORDS)
        self.kind = draw.choice([*_PAIRS, _ROWS])
        pairs = _PAIRS["MutableHashTableV2" if self.kind == _ROWS else self.kind]
        self.key, self.value = draw.choice(pairs).split()
        self.row = (draw.randint(1, 3),) if self.kind == _ROWS else ()
        self.held: dict[_Key, np.ndarray] | None = None if self.kind == _STATIC else {}
        self.lost = False

    def keys(self, count: int) -> list[_Key]:
        """Some keys, often the same ones."""
        return self.draw.choices(_WORDS if self.key == "string" else _NUMBERS, k=count)

    def key_tensor(self, keys: list[_Key], shape: tuple[int, ...] | None = None) -> np.ndarray:
        """The tensor of these keys."""
        shape = (len(keys),) if shape is None else shape
        if self.key == "string":
            return text([key for key in keys if isinstance(key, bytes)], shape)
        return np.array(keys, self.key).reshape(shape)

    def values(self, shape: tuple[int, ...]) -> np.ndarray:
        """A tensor of values, each of the shape of a row."""
        shape = (*shape, *self.row)
        count = int(np.prod(shape, dtype=np.int64))
        if self.value == "string":
            return text(self.draw.choices(_WORDS, k=count), shape)
        drawn = [self.draw.randint(-99, 99) for _ in range(count)]
        numbers = np.array([n > 0 for n in drawn] if self.value == "bool" else drawn)
        return numbers.astype(self.value).reshape(shape)

    def looked_up(
        self, keys: list[_Key], defaults: np.ndarray, shape: tuple[int, ...]
    ) -> np.ndarray:
        """The values of a lookup; `defaults` is one default for all keys, or one for each."""
        assert self.held is not None
        by_key = defaults.shape != self.row
        flat = defaults.reshape(-1, *self.row) if by_key else [defaults[()]] * len(keys)
        dtype = object if self.value == "string" else self.value
        rows = np.empty((len(keys), *self.row), dtype)
        for index, key in enumerate(keys):
            rows[index] = self.held.get(key, flat[index])
        return rows.reshape((*shape, *self.row))


def _graph(model: _Model, buckets: int) -> dict[str, Json]:
    """The graph of a table with every operation on it."""
    writer = GraphWriter()
    key, value = dtype_attr(model.key), dtype_attr(model.value)
    attrs = {"key_dtype": key, "value_dtype": value, "shared_name": text_attr("table")}
    inputs: list[str] = []
    if model.row:
        attrs["value_shape"] = shape_attr(model.row)
    if model.kind == _DENSE:
        attrs["initial_num_buckets"] = {"i": str(buckets)}
        for word, reserved in zip(("empty", "freed"), _RESERVED[model.key], strict=True):
            inputs.append(writer.constant(model.key_tensor([reserved], ()), word))
    table = writer.node(model.kind, inputs, attrs, "table")
    keys = writer.placeholder(model.key, None, "keys")
    values = writer.placeholder(model.value, None, "values")
    pair = {"Tin": key, "Tout": value}
    writer.node("LookupTableFindV2", [table, keys, values], pair, "find")
    writer.node("LookupTableInsertV2", [table, keys, values], pair, "insert")
    writer.node("LookupTableImportV2", [table, keys, values], pair, "restore")
    writer.node("LookupTableRemoveV2", [table, keys], {"Tin": key}, "remove")
    writer.node("LookupTableSizeV2", [table], {}, "size")
    if model.kind == _STATIC:
        pair = {"Tkey": key, "Tval": value}
        writer.node("InitializeTableV2", [table, keys, values], pair, "fill")
    return writer.graph()


class _Life:
    """A table's history."""

    def __init__(self, draw: random.Random, model: _Model) -> None:
        self.history = History()
        self._draw = draw
        self._model = model

    def go_on(self) -> None:
        """Take one step more."""
        chance = self._draw.random()
        if chance < 0.4:
            self._find()
        elif chance < 0.5:
            self._size()
        elif self._model.kind == _STATIC:
            self._fill()
        elif chance < 0.75:
            self._put()
        elif chance < 0.9:
            self._remove()
        else:
            self._odd()

    def _shape(self) -> tuple[int, ...]:
        if self._model.kind == _DENSE:
            return (self._draw.randint(1, 5),)
        return self._draw.choice([(), (0,), (1,), (3,), (5,), (2, 2), (1, 0, 3), (2, 1, 2)])

    def _find(self) -> None:
        model, shape = self._model, self._shape()
        keys = model.keys(int(np.prod(shape, dtype=np.int64)))
        by_key = model.kind not in {_STATIC, _DENSE} and self._draw.random() < 0.3
        defaults = model.values(shape if by_key else ())
        clause = "TABLES-019" if by_key else self._clause_of_find(keys)
        self._look_up(keys, defaults, shape, clause)

    def _clause_of_find(self, keys: list[_Key]) -> str:
        model = self._model
        if model.held is None:
            return "TABLES-003"
        if not keys:
            return "TABLES-012"
        if model.row:
            return "TABLES-020"
        lacks = any(key not in model.held for key in keys)
        return "TABLES-002" if lacks and model.kind == _STATIC else "TABLES-001"

    def _look_up(
        self, keys: list[_Key], defaults: np.ndarray, shape: tuple[int, ...], clause: str
    ) -> None:
        model = self._model
        feeds = {"keys:0": model.key_tensor(keys, shape), "values:0": defaults}
        if model.held is None:
            self.history.run(["find:0"], feeds, error=[9], clause=clause)
        else:
            rows = model.looked_up(keys, defaults, shape)
            self.history.run(["find:0"], feeds, values=[rows], clause=clause)

    def _see(self, keys: list[_Key], clause: str) -> None:
        """Mostly look up the keys that a step has changed, which shows its effect."""
        if keys and self._draw.random() < 0.7:
            self._look_up(keys, self._model.values(()), (len(keys),), clause)

    def _size(self) -> None:
        size = np.array(len(self._model.held or ()), np.int64)
        self.history.run(["size:0"], values=[size], clause="TABLES-008")

    def _pairs(
        self, shape: tuple[int, ...]
    ) -> tuple[list[_Key], np.ndarray, dict[str, np.ndarray]]:
        model = self._model
        keys = model.keys(int(np.prod(shape, dtype=np.int64)))
        values = model.values(shape)
        feeds = {"keys:0": model.key_tensor(keys, shape), "values:0": values}
        return keys, values.reshape(-1, *model.row), feeds

    def _fill(self) -> None:
        model = self._model
        op = self._draw.choice(["fill", "restore"])
        keys, values, feeds = self._pairs((self._draw.randint(1, 4),))
        if model.held is not None:
            if len(keys) == len(model.held):
                clause = "TABLES-004"
                self.history.run([op], feeds, clause=clause)
            else:
                clause = "TABLES-005"
                self.history.run([op], feeds, error=[9], clause=clause)
            self._see(keys, clause)
            return
        pairs: dict[_Key, np.ndarray] = {}
        fits = all(pairs.setdefault(k, v) == v for k, v in zip(keys, values, strict=True))
        if not fits:  # what came before an error stays in, and would decide what comes next
            keys, values, feeds = self._pairs((1,))
            pairs = dict(zip(keys, values, strict=True))
        model.held = pairs
        clause = "TABLES-007" if len(pairs) < len(keys) else "TABLES-001"
        self.history.run([op], feeds, clause=clause)
        self._see(keys, clause)

    def _put(self) -> None:
        model = self._model
        assert model.held is not None
        restores = model.kind != _DENSE and self._draw.random() < 0.25
        shape = (self._draw.randint(0, 4),) if restores else self._shape()
        keys, values, feeds = self._pairs(shape)
        if model.kind == _DENSE and model.lost and model.held.keys() & set(keys):
            return  # TensorFlow may hold such a key twice: see docs/findings/tensorflow.md
        before = set(model.held)
        if restores:
            model.held = {}
        model.held.update(zip(keys, values, strict=True))
        clause = "TABLES-018" if restores else self._clause_of_insertion(before, keys)
        self.history.run(["restore" if restores else "insert"], feeds, clause=clause)
        self._see(sorted(before) if restores and len(before) <= _MOST else keys, clause)

    def _clause_of_insertion(self, before: set[_Key], keys: list[_Key]) -> str:
        if len(set(keys)) < len(keys):
            return "TABLES-015"
        if before & set(keys):
            return "TABLES-014"
        is_dense = self._model.kind == _DENSE
        return "TABLES-031" if is_dense and not self._model.is_roomy else "TABLES-001"

    def _remove(self) -> None:
        model, shape = self._model, self._shape()
        assert model.held is not None
        keys = model.keys(int(np.prod(shape, dtype=np.int64)))
        if model.kind == _DENSE and not model.is_roomy:  # buckets of removed keys count as taken
            keys = [key for key in keys if key not in model.held]
            shape = (len(keys),)
        removes = bool(model.held.keys() & set(keys))
        model.lost = model.lost or removes
        for key in keys:
            model.held.pop(key, None)
        clause = "TABLES-016" if removes else "TABLES-017"
        self.history.run(["remove"], {"keys:0": model.key_tensor(keys, shape)}, clause=clause)
        self._see(keys, clause)

    def _odd(self) -> None:
        """A run that must fail and change nothing."""
        model = self._model
        _, _, feeds = self._pairs((2,))
        if model.kind == _DENSE and self._draw.random() < 0.6:
            reserved = self._draw.choice(_RESERVED[model.key])
            feeds["keys:0"] = model.key_tensor([reserved, reserved])
            fetch = self._draw.choice(["insert", "find:0", "remove"])
            if fetch == "find:0":
                feeds["values:0"] = model.values(())
            elif fetch == "remove":
                del feeds["values:0"]
            self.history.run([fetch], feeds, error=[3], clause="TABLES-030")
            return
        feeds["values:0"] = model.values((3,))
        self.history.run(["insert"], feeds, error=[3], clause="TABLES-021")


@prop("tables", *_CLAUSES, weight=2)
def tables(draw: random.Random, id_: str) -> Case:
    """A table gives what a dictionary gives that has the same history."""
    buckets = draw.choice([4, 8, 64])
    model = _Model(draw, buckets)
    graph = _graph(model, buckets)
    life = _Life(draw, model)
    life.history.open()
    for _ in range(draw.randint(5, 16)):
        life.go_on()
    title = f"A {model.kind} from {model.key} to {model.value} has what was put in."
    return life.history.case(id_, title, graph)
