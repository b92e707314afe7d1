"""Fed values of admitted and of refused shapes, with a counter that tells whether a run began."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr
from sessrun.conformance.property import prop
from sessrun.spec import tensors
from sessrun.spec.cases.forms import Expect, Step
from sessrun.spec.cases.model import Case, clauses_of
from sessrun.spec.forms import Json

_DTYPES: Final = ("float32", "float64", "int32", "int64")
_RUNS: Final = 5
_NOT_BEGUN: Final = "FEED-026"

#: The dimensions of a placeholder, None where unknown; None instead where its rank is.
_Dims = list[int | None] | None
_Shape = tuple[int, ...]


def _graph(dtype: str, dims: _Dims) -> dict[str, Json]:
    """Give a placeholder `p`, its negation `y`, and a counter: `init`, `bump`, `count`."""
    writer = GraphWriter()
    writer.placeholder(dtype, dims, "p")
    writer.node("Neg", ["p"], {"T": dtype_attr(dtype)}, "y")
    scalar = {"shape": {"shape": {}}, "dtype": dtype_attr("int32")}
    writer.node("VarHandleOp", (), scalar | {"shared_name": {"s": ""}}, "counter")
    writer.constant(np.array(0, np.int32), "zero")
    writer.constant(np.array(1, np.int32), "one")
    kind = {"dtype": dtype_attr("int32")}
    writer.node("AssignVariableOp", ["counter", "zero"], kind, "init")
    writer.node("AssignAddVariableOp", ["counter", "one"], kind, "bump")
    writer.node("ReadVariableOp", ["counter"], kind, "count")
    return writer.graph()


def _admitted(draw: random.Random, dims: _Dims) -> _Shape:
    """A shape that these dimensions admit."""
    if dims is None:
        return tuple(draw.randint(0, 3) for _ in range(draw.randint(0, 6)))
    return tuple(draw.randint(0, 4) if size is None else size for size in dims)


def _known(draw: random.Random, least: int, rank: int) -> list[int]:
    return [draw.randint(least, 4) for _ in range(rank)]


def _another_size(draw: random.Random) -> tuple[_Dims, _Shape]:
    """A shape in which a known dimension has another size, not 1."""
    dims: list[int | None] = [*_known(draw, 0, draw.randint(1, 4))]
    index = draw.randrange(len(dims))
    wrong = draw.choice([size for size in (0, 2, 3, 4, 5) if size != dims[index]])
    for other in range(len(dims)):
        if other != index and draw.random() < 0.3:
            dims[other] = None
    shape = list(_admitted(draw, dims))
    shape[index] = wrong
    return dims, tuple(shape)


def _another_rank(draw: random.Random) -> tuple[_Dims, _Shape]:
    """A shape with one dimension more, or with two dimensions joined to one."""
    if draw.random() < 0.5:
        sizes = _known(draw, 2, draw.randint(2, 4))
        return [*sizes], (sizes[0] * sizes[1], *sizes[2:])
    dims = [size if draw.random() < 0.7 else None for size in _known(draw, 0, draw.randint(0, 3))]
    shape = list(_admitted(draw, dims))
    shape.insert(draw.randint(0, len(shape)), draw.randint(1, 3))
    return dims, tuple(shape)


def _to_broadcast(draw: random.Random) -> tuple[_Dims, _Shape]:
    """A shape with a dimension of 1 instead of a larger one, or without leading dimensions."""
    sizes = _known(draw, 2, draw.randint(1, 4))
    shape = list(sizes)
    if draw.random() < 0.5:
        shape[draw.randrange(len(shape))] = 1
    else:
        shape = shape[draw.randint(1, len(shape)) :]
    return [*sizes], tuple(shape)


#: What is wrong with a shape, by the clause that refuses it.
_WRONG: Final[dict[str, Callable[[random.Random], tuple[_Dims, _Shape]]]] = {
    "FEED-021": _another_size,
    "FEED-022": _another_rank,
    "FEED-023": _to_broadcast,
}


def _run(dtype: str, shape: _Shape, draw: random.Random, clause: str, *, refused: bool) -> Step:
    """A run that fetches the negation and the counter's update; the clause says what it gives."""
    size = int(np.prod(shape, dtype=np.int64))
    value = np.array([draw.randint(-9, 9) for _ in range(size)], dtype).reshape(shape)
    values = [{"$array": tensors.encode(np.asarray(np.negative(value)))}, None]
    fetches = draw.choice((["y:0", "bump"], ["bump", "y:0"]))
    expect: Expect = (
        {"error": {"codes": [3]}}
        if refused
        else {"values": values if fetches[0] == "y:0" else values[::-1]}
    )
    return {
        "do": "run",
        "session": "s",
        "fetches": fetches,
        "feeds": {"p:0": tensors.encode(value)},
        "expect": expect,
        "clause": clause,
    }


def _count(value: int, clause: str = _NOT_BEGUN) -> Step:
    """A run that fetches the counter: a refused run has not begun, and leaves it as it was."""
    form = {"$array": tensors.encode(np.array(value, np.int32))}
    return {
        "do": "run",
        "session": "s",
        "fetches": ["count:0"],
        "expect": {"values": [form]},
        "clause": clause,
    }


def _case(
    id_: str,
    title: str,
    graph: dict[str, Json],
    runs: list[Step],
) -> Case:
    start: list[Step] = [
        {"do": "open", "session": "s", "graph": "g"},
        {"do": "run", "session": "s", "fetches": ["init"]},
    ]
    steps: list[Step] = [*start, *runs, {"do": "close", "session": "s"}]
    return Case(id_, title, "engine", clauses_of(steps), tuple(steps), {"g": graph})


@prop("feeds-of-wrong-shapes", "FEED-021", "FEED-022", "FEED-023", "FEED-026")
def feeds_of_wrong_shapes(draw: random.Random, id_: str) -> Case:
    """A fed value of another size or rank is refused and leaves the state as it was."""
    clause, make = draw.choice(list(_WRONG.items()))
    dtype = draw.choice(_DTYPES)
    dims, wrong = make(draw)
    runs: list[Step] = []
    count = 0
    for _ in range(_RUNS):
        refused = draw.random() < 0.6
        shape = wrong if refused else _admitted(draw, dims)
        count += not refused
        runs += [_run(dtype, shape, draw, clause, refused=refused), _count(count)]
    runs += [_run(dtype, wrong, draw, clause, refused=True), _count(count)]
    title = "A value of a wrong shape is refused, and the run has not begun."
    return _case(id_, title, _graph(dtype, dims), runs)


@prop("feeds-of-admitted-shapes", "FEED-024", "FEED-025")
def feeds_of_admitted_shapes(draw: random.Random, id_: str) -> Case:
    """An unknown dimension takes every size, an unknown rank every rank."""
    dtype = draw.choice(_DTYPES)
    dims: _Dims = None
    if draw.random() < 0.7:
        sizes = _known(draw, 0, draw.randint(1, 4))
        dims = [size if draw.random() < 0.4 else None for size in sizes]
        dims[draw.randrange(len(dims))] = None
    shapes = [_admitted(draw, dims) for _ in range(_RUNS)]
    clause = "FEED-025" if dims is None else "FEED-024"
    runs = [_run(dtype, shape, draw, clause, refused=False) for shape in shapes]
    title = "A value of an admitted shape is taken, in every run anew."
    return _case(id_, title, _graph(dtype, dims), [*runs, _count(_RUNS, clause)])
