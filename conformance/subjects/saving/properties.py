"""Checkpoints: tensors saved whole, in slices, in shards, and restored in any order and part.

What is expected is what was saved: the arrays are kept beside the case while it is drawn. A save
that replaces another makes the older tensors go; what is not there, or is of another dtype, is
refused. Tensors travel as feeds, so that the graph says only what is done with them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr
from sessrun.conformance.property import prop
from sessrun.spec import tensors
from sessrun.spec.cases.forms import Expect, Step
from sessrun.spec.cases.model import Case, clauses_of
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.forms import JsonObject
from sessrun.spec.tensor_slices import TensorSlice

__all__ = ["CUT", "NAMES", "UNCUT", "array_of", "cuts_of", "spec_of", "wanted_of", "within"]

_RESTORED: Final = "SAVING-097"
_LACKING: Final = "SAVING-009"
_OTHER_DTYPE: Final = "SAVING-010"
_NOWHERE: Final = "SAVING-011"
#: Dtypes of which slices are restored, and those that TensorFlow restores only whole.
CUT: Final = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "int4",
    "uint4",
)
UNCUT: Final = (
    "string",
    "string",
    "float16",
    "uint16",
    "uint32",
    "uint64",
    "float8_e5m2",
    "float8_e4m3fn",
)
NAMES: Final = (
    "v",
    "w",
    "net/kernel",
    "net/kernel/Adam",
    "a b",
    "ü",
    "v:0",
    "-",
    "0",
    "net",
    "x.index",
    "\x01",
    "long" * 40,
    "v_1",
    "V",
)
_TEXTS: Final = (b"", b"\0", b"a\0b", b"\xff\xfe", b"text", b"\0" * 130, b"x" * 300)


@dataclass(slots=True)
class _Saved:
    """A tensor and the slices that it is saved in; a tensor saved as one piece has no slice."""

    name: str
    dtype: str
    array: np.ndarray
    parts: list[TensorSlice]


@dataclass(slots=True)
class _Story:
    """A case while it is drawn.

    Attributes:
      draw: the source of chance.
      writer: its graph.
      steps: its steps.
      there: what each checkpoint holds.

    """

    draw: random.Random
    writer: GraphWriter = field(default_factory=GraphWriter)
    steps: list[Step] = field(default_factory=list)
    there: dict[str, list[_Saved]] = field(default_factory=dict)
    _count: int = 0

    def fresh(self, word: str) -> str:
        """A name for a node."""
        self._count += 1
        return f"{word}{self._count}"

    def run(
        self, fetches: list[str], feeds: dict[str, JsonObject], expect: Expect, clause: str
    ) -> None:
        """Add a run, whose failure shows a clause false."""
        step: Step = {"do": "run", "session": "s", "fetches": fetches, "expect": expect}
        step["clause"] = clause
        if feeds:
            step["feeds"] = feeds
        self.steps.append(step)

    def texts(self, values: Sequence[str]) -> str:
        """Add a vector of strings; its node."""
        flat = np.empty(len(values), object)
        flat[:] = [value.encode() for value in values]
        return self.writer.constant(flat, self.fresh("texts"))

    def prefix(self) -> str:
        """Add what a prefix is fed to; its node."""
        return self.writer.placeholder("string", (), self.fresh("prefix"))


def _path(name: str) -> JsonObject:
    return {"dtype": "string", "shape": [], "data": [{"$path": name}]}


def array_of(draw: random.Random, dtype: str, *, cut: bool) -> np.ndarray:
    """Values of a dtype, of any bits; `cut`: there are at least two along each axis."""
    rank = draw.choice((1, 2, 2, 3)) if cut else draw.choice((0, 0, 1, 1, 2, 3, 5))
    sizes = [draw.randint(2, 5) if cut else draw.choice((0, 1, 1, 2, 3)) for _ in range(rank)]
    count = int(np.prod(sizes))
    if dtype == "string":
        flat = np.empty(count, object)
        flat[:] = [draw.choice(_TEXTS) for _ in range(count)]
        return flat.reshape(sizes)
    row = BY_NAME[dtype]
    if dtype == "bool":
        return np.array([draw.random() < 0.5 for _ in range(count)], bool).reshape(sizes)
    if dtype in {"int4", "uint4"}:
        low = -8 if dtype == "int4" else 0
        numbers = [draw.randint(low, low + 15) for _ in range(count)]
        return np.array(numbers, np.int8).astype(row.numpy).reshape(sizes)
    return np.frombuffer(draw.randbytes(count * row.itemsize), row.numpy).reshape(sizes)


def cuts_of(draw: random.Random, shape: tuple[int, ...]) -> list[TensorSlice]:
    """Parts that make up a tensor, cut along one axis or two."""
    axes = draw.sample(range(len(shape)), draw.randint(1, min(2, len(shape))))
    parts: list[list[tuple[int, int] | None]] = [[None] * len(shape)]
    for axis in axes:
        places = sorted(draw.sample(range(1, shape[axis]), draw.randint(1, shape[axis] - 1)))
        pairs = list(zip([0, *places], [*places, shape[axis]], strict=True))
        parts = [
            [(start, end - start) if i == axis else extent for i, extent in enumerate(part)]
            for part in parts
            for start, end in pairs
        ]
    draw.shuffle(parts)
    return [TensorSlice(tuple(part)) for part in parts]


def _tensors(draw: random.Random) -> list[_Saved]:
    tensors = []
    for name in draw.sample(NAMES, draw.randint(1, 5)):
        cut = draw.random() < 0.4
        dtype = draw.choice(CUT) if cut or draw.random() < 0.4 else draw.choice(UNCUT)
        array = array_of(draw, dtype, cut=cut)
        tensors.append(_Saved(name, dtype, array, cuts_of(draw, array.shape) if cut else []))
    return tensors


def spec_of(array: np.ndarray, part: TensorSlice) -> str:
    """The text of a slice of an array."""
    return f"{' '.join(map(str, array.shape))} {part}"


def within(array: np.ndarray, part: TensorSlice) -> np.ndarray:
    """The values of a slice."""
    return array[tuple(slice(*bound) for bound in part.bounds(array.shape))]


def _pieces(saved: Sequence[_Saved]) -> list[tuple[str, str, str, np.ndarray]]:
    """For each piece its name, dtype, slice and values."""
    pieces = []
    for tensor in saved:
        if not tensor.parts:
            pieces.append((tensor.name, tensor.dtype, "", tensor.array))
        for part in tensor.parts:
            values = within(tensor.array, part)
            pieces.append((tensor.name, tensor.dtype, spec_of(tensor.array, part), values))
    return pieces


def _save(story: _Story, prefix: str, pieces: Sequence[tuple[str, str, str, np.ndarray]]) -> None:
    """Save pieces by one operation."""
    target = story.prefix()
    holders = [story.writer.placeholder(dtype, None, story.fresh("t")) for _, dtype, _, _ in pieces]
    inputs = [
        target,
        story.texts([name for name, *_ in pieces]),
        story.texts([spec for _, _, spec, _ in pieces]),
        *holders,
    ]
    kinds = [dtype_attr(dtype)["type"] for _, dtype, _, _ in pieces]
    op = story.writer.node(
        "SaveV2", inputs, {"dtypes": {"list": {"type": kinds}}}, story.fresh("save")
    )
    feeds = {
        f"{name}:0": tensors.encode(piece[3]) for name, piece in zip(holders, pieces, strict=True)
    }
    story.run([op], feeds | {f"{target}:0": _path(prefix)}, {"values": [None]}, _RESTORED)


def _save_in_shards(story: _Story, prefix: str, saved: Sequence[_Saved]) -> None:
    """Save pieces as several checkpoints, and merge these into one."""
    draw = story.draw
    pieces = _pieces(saved)
    draw.shuffle(pieces)
    count = draw.randint(1, min(3, len(pieces)))
    names = [f"{prefix}_temp/{number}" for number in range(count)]
    for number, name in enumerate(names):
        _save(story, name, pieces[number::count])
    prefixes = [story.prefix() for _ in names]
    axis = story.writer.node(
        "Pack",
        prefixes,
        {"N": {"i": str(count)}, "T": dtype_attr("string"), "axis": {"i": "0"}},
        story.fresh("pack"),
    )
    target = story.prefix()
    op = story.writer.node(
        "MergeV2Checkpoints",
        [axis, target],
        {"delete_old_dirs": {"b": True}, "allow_missing_files": {"b": False}},
        story.fresh("merge"),
    )
    feeds = {f"{node}:0": _path(name) for node, name in zip(prefixes, names, strict=True)}
    story.run([op], feeds | {f"{target}:0": _path(prefix)}, {"values": [None]}, _RESTORED)


def wanted_of(draw: random.Random, dtype: str, array: np.ndarray) -> tuple[str, np.ndarray]:
    """A slice to restore of a tensor, empty for all of it, and its values."""
    able = dtype in CUT and array.ndim > 0 and 0 not in array.shape
    if not able or draw.random() < 0.4:
        return "", array
    extents: list[tuple[int, int] | None] = []
    for size in array.shape:
        start = draw.randrange(size)
        extents.append(draw.choice((None, (start, draw.randint(1, size - start)))))
    part = TensorSlice(tuple(extents))
    return spec_of(array, part), within(array, part)


def _restore(
    story: _Story,
    prefix: str,
    rows: Sequence[tuple[str, str, str]],
    expect: Expect,
    clause: str = _RESTORED,
) -> None:
    """Restore (name, dtype, slice) by one operation."""
    target = story.prefix()
    inputs = [target, story.texts([row[0] for row in rows]), story.texts([row[2] for row in rows])]
    kinds = [dtype_attr(dtype)["type"] for _, dtype, _ in rows]
    op = story.writer.node(
        "RestoreV2", inputs, {"dtypes": {"list": {"type": kinds}}}, story.fresh("load")
    )
    fetches = [f"{op}:{index}" for index in range(len(rows))]
    story.run(fetches, {f"{target}:0": _path(prefix)}, expect, clause)


def _restore_some(story: _Story, prefix: str) -> None:
    draw = story.draw
    chosen = draw.choices(story.there[prefix], k=draw.randint(1, 5))
    parts = [wanted_of(draw, tensor.dtype, tensor.array) for tensor in chosen]
    rows = [
        (tensor.name, tensor.dtype, spec) for tensor, (spec, _) in zip(chosen, parts, strict=True)
    ]
    values = [{"$array": tensors.encode(array)} for _, array in parts]
    _restore(story, prefix, rows, {"values": values})


def _refuse(story: _Story, prefix: str) -> None:
    """Restore something that the checkpoint lacks, which must be refused."""
    draw = story.draw
    tensor = draw.choice(story.there[prefix])
    match draw.randrange(3):
        case 0:
            taken = {one.name for one in story.there[prefix]}
            name = draw.choice([name for name in (*NAMES, "lacking") if name not in taken])
            row = (name, "float32", "")
            _restore(story, prefix, [row], {"error": {"codes": [5]}}, _LACKING)
        case 1:
            other = draw.choice(
                [kind for kind in ("int32", "string", "float64", "bool") if kind != tensor.dtype]
            )
            row = (tensor.name, other, "")
            _restore(story, prefix, [row], {"error": {"codes": [3]}}, _OTHER_DTYPE)
        case _:
            row = (tensor.name, tensor.dtype, "")
            _restore(story, f"{prefix}-none", [row], {"error": {"codes": [5]}}, _NOWHERE)


@prop("checkpoints", _RESTORED, _LACKING, _OTHER_DTYPE, _NOWHERE, weight=2)
def checkpoints(draw: random.Random, id_: str) -> Case:
    """Whatever is saved is restored, in any order and part; what is not there is refused."""
    story = _Story(draw)
    story.steps.append({"do": "open", "session": "s", "graph": "g"})
    for _ in range(draw.randint(1, 3)):
        prefix = draw.choice(("x", "y", "d/x"))
        saved = _tensors(draw)
        if draw.random() < 0.4:
            _save_in_shards(story, prefix, saved)
        else:
            pieces = _pieces(saved)
            draw.shuffle(pieces)
            _save(story, prefix, pieces)
        story.there[prefix] = saved
        for _ in range(draw.randint(1, 2)):
            _restore_some(story, draw.choice(sorted(story.there)))
        if draw.random() < 0.5:
            _refuse(story, draw.choice(sorted(story.there)))
    title = "Tensors are saved whole, in slices and in shards, and restored as they were."
    graphs = {"g": story.writer.graph()}
    steps = tuple(story.steps)
    return Case(id_, title, "engine", clauses_of(steps), steps, graphs, files={"d": None})
