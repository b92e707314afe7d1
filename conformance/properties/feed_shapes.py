"""Shapes of feeds: random placeholders fed values of fitting and of unfitting shapes."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr
from sessrun.conformance.properties import prop
from sessrun.spec import tensors
from sessrun.spec.cases.model import Case

#: A declared shape: None for an unknown rank, None in it for an unknown dimension.
Shape = tuple[int | None, ...] | None
Sizes = tuple[int, ...]

_SIZES: Final = (0, 1, 2, 3)
_DTYPES: Final = ("float32", "int64", "bool", "string")
_REFUSED: Final = {"error": {"codes": [3]}}
_CLAUSES: Final = ("FEED-021", "FEED-022", "FEED-023", "FEED-024", "FEED-025", "FEED-026")


@prop("feed-shapes", *_CLAUSES)
def feed_shapes(draw: random.Random, id_: str) -> Case:
    """Placeholders take the shapes that fit them and refuse the others before anything runs."""
    clause = draw.choice(_CLAUSES)
    # What is refused is refused before anything runs, whatever is wrong with the shape.
    kind = draw.choice(_CLAUSES[:3]) if clause == "FEED-026" else clause
    trial = _Trial(draw, kind, counted=clause == "FEED-026")
    for index in range(draw.randint(1, 3)):
        trial.declare(f"p{index}")
    trial.start()
    for _ in range(6):
        trial.run(wrong=kind in _CLAUSES[:3] and draw.random() < 0.6)
    trial.finish()
    title = "A fed value's shape fits the placeholder's, or nothing runs."
    return Case(id_, title, "engine", (clause,), tuple(trial.steps), {"g": trial.writer.graph()})


@dataclass(slots=True)
class _Trial:
    """A graph of placeholders and a counter, and the runs of one session."""

    draw: random.Random
    kind: str
    counted: bool
    writer: GraphWriter = field(default_factory=GraphWriter)
    shapes: dict[str, tuple[str, Shape]] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)
    count: int = 0

    def declare(self, name: str) -> None:
        """Write a placeholder of a drawn dtype and shape, and its identity."""
        dtype, shape = self.draw.choice(_DTYPES), _declared(self.draw, self.kind)
        self.writer.placeholder(dtype, shape, name)
        self.writer.node("Identity", [name], {"T": dtype_attr(dtype)}, f"{name}_same")
        self.shapes[name] = dtype, shape

    def start(self) -> None:
        """Write the counter if there is one, open the session, initialise."""
        if self.counted:
            _counter(self.writer)
        self.steps.append({"do": "open", "session": "s", "graph": "g"})
        if self.counted:
            self.steps.append(_run(["counter_init"], {}, {}))

    def run(self, *, wrong: bool) -> None:
        """Feed every placeholder, one of them wrongly if asked; fetch all, and count."""
        odd = self.draw.choice(list(self.shapes)) if wrong else None
        values = {}
        for name, (dtype, shape) in self.shapes.items():
            sizes = _fitting(self.draw, shape)
            if name == odd and shape is not None:
                sizes = _unfitting(self.draw, self.kind, shape)
            values[name] = _value(self.draw, dtype, sizes)
        names = self.draw.sample(list(self.shapes), len(self.shapes))
        fetches = [f"{name}_same:0" for name in names]
        wanted = [values[name] for name in names]
        if self.counted:
            fetches.insert(0, "counter_bump:0")
            wanted.insert(0, np.array(self.count + 1, np.int32))
            self.count += not wrong
        expect = _REFUSED if wrong else {"values": [{"$array": tensors.encode(v)} for v in wanted]}
        feeds = {f"{name}:0": tensors.encode(values[name]) for name in values}
        self.steps.append(_run(fetches, feeds, expect))

    def finish(self) -> None:
        """Read the counter: it has counted the runs that were not refused."""
        if self.counted:
            wanted = {"$array": tensors.encode(np.array(self.count, np.int32))}
            self.steps.append(_run(["counter:0"], {}, {"values": [wanted]}))
        self.steps.append({"do": "close", "session": "s"})


def _run(fetches: list[str], feeds: dict[str, Any], expect: dict[str, Any]) -> dict[str, Any]:
    step: dict[str, Any] = {"do": "run", "session": "s", "fetches": fetches}
    if feeds:
        step["feeds"] = feeds
    if expect:
        step["expect"] = expect
    return step


def _counter(writer: GraphWriter) -> None:
    """Write an int32 reference variable at 0, its initializer and an addition of 1."""
    of_int = {"T": dtype_attr("int32")}
    variable = {"dtype": dtype_attr("int32"), "shape": {"shape": {}}}
    writer.node("VariableV2", (), variable, "counter")
    for name, op, value in (("init", "Assign", 0), ("bump", "AssignAdd", 1)):
        operand = writer.constant(np.array(value, np.int32), f"counter_{name}_value")
        writer.node(op, ["counter", operand], of_int, f"counter_{name}")


def _declared(draw: random.Random, kind: str) -> Shape:
    """A shape that can be fed wrongly in the way of this kind, or of an unknown rank."""
    if kind == "FEED-025":
        return None
    rank = draw.randint(0 if kind == "FEED-022" else 1, 4)
    shape = [draw.choice((None, *_SIZES)) for _ in range(rank)]
    if kind == "FEED-021":
        shape[draw.randrange(rank)] = draw.choice(_SIZES)
    if kind == "FEED-024":
        shape[draw.randrange(rank)] = None
    return tuple(shape)


def _fitting(draw: random.Random, shape: Shape) -> Sizes:
    """Sizes that the declared shape admits."""
    if shape is None:
        return tuple(draw.choice(_SIZES) for _ in range(draw.randint(0, 5)))
    return tuple(draw.choice(_SIZES) if size is None else size for size in shape)


def _unfitting(draw: random.Random, kind: str, shape: tuple[int | None, ...]) -> Sizes:
    """Sizes that the declared shape does not admit, in the way of the kind."""
    sizes = list(_fitting(draw, shape))
    if kind == "FEED-021":
        _contradict(draw, sizes, [i for i, size in enumerate(shape) if size is not None])
    elif kind == "FEED-023":
        _make_broadcastable(draw, sizes, shape)
    elif len(shape) > 1 and shape[-1] is not None and draw.random() < 0.5:
        # A lower rank; the last size is contradicted so that no broadcasting would help.
        _contradict(draw, sizes, [len(sizes) - 1])
        del sizes[: draw.randint(1, len(sizes) - 1)]
    else:
        for _ in range(draw.randint(1, 2)):
            sizes.insert(draw.randint(0, len(sizes)), draw.choice(_SIZES))
    return tuple(sizes)


def _contradict(draw: random.Random, sizes: list[int], places: list[int]) -> None:
    """Change one of these sizes to another, but not to 1, which could be broadcast."""
    place = draw.choice(places)
    sizes[place] = draw.choice([size for size in (*_SIZES, 4) if size not in {1, sizes[place]}])


def _make_broadcastable(
    draw: random.Random, sizes: list[int], shape: tuple[int | None, ...]
) -> None:
    """Change sizes to what broadcasting would make fit: a size of 1, or leading ones left out."""
    known = [i for i, size in enumerate(shape) if size not in {None, 1}]
    if known and draw.random() < 0.6:
        sizes[draw.choice(known)] = 1
    else:
        del sizes[: draw.randint(1, len(sizes))]


def _value(draw: random.Random, dtype: str, sizes: Sizes) -> np.ndarray:
    """An array of drawn elements."""
    count = int(np.prod(sizes, dtype=np.int64))
    numbers = [draw.randint(-99, 99) for _ in range(count)]
    if dtype == "string":
        items = np.empty(count, object)
        items[:] = [str(number).encode() for number in numbers]
        return items.reshape(sizes)
    return np.array(numbers, np.int64).astype(dtype).reshape(sizes)
