"""A row of the table: a public function, its arguments, and how near its values must be."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Symbol
from sessrun.conformance.subjects.composites.drawing import Drawing, Kind, Name, Slices
from sessrun.spec.cases.model import Case
from sessrun.spec.dtypes import row_of_numpy

__all__ = [
    "FLOATS",
    "NEAR",
    "STYLES",
    "WIDE",
    "Row",
    "case_of_row",
    "items",
    "named",
    "run",
    "tensor",
]

FLOATS: Final = ("float32", "float32", "float16", "bfloat16", "float64")
WIDE: Final = ("float32", "float64")
STYLES: Final = ("plain", "plain", "large", "special", "empty")
#: How near values must be: TensorFlow computes the parts of a composite in the argument's dtype.
NEAR: Final[Mapping[str, str]] = {
    "float16": "close(1e-2, 4e-3)",
    "bfloat16": "close(6e-2, 3e-2)",
    "float32": "close(1e-4, 1e-5)",
    "float64": "close(1e-9, 1e-10)",
}


#: From the author, a result and what was drawn to what is fetched of the result.
Fetched: TypeAlias = Callable[[ApiAuthor, Symbol, Drawing], Recordable]
#: Placeholders, and what each is fed.
Feeds: TypeAlias = list[tuple[Symbol, np.ndarray]]


@dataclass(frozen=True, slots=True)
class Row:
    """A function of the table.

    Attributes:
      function: its public name, such as `nn.softmax`.
      clause: the clause that its cases can show false; it may depend on the arguments.
      arguments: the kind of each argument by name, in the order in which they are drawn.
      dtypes: the dtypes that its numbers may have.
      styles: what its numbers may be like.
      near: how near its values must be, by dtype; `NEAR` if None.
      is_static: whether shapes are known while the graph is built.
      fetched: the part of the result that is fetched; None for the result itself.
      static_clause: the clause of the static shapes, dtypes and names of the result.

    """

    function: str
    clause: str | Callable[[Drawing], str]
    arguments: Mapping[str, Kind]
    dtypes: Sequence[str] = FLOATS
    styles: Sequence[str] = STYLES
    near: Mapping[str, str] | str | None = None
    is_static: bool = False
    fetched: Fetched | None = None
    static_clause: str = "COMPOSITES-027"

    def contract(self, dtype: str) -> str:
        """The numeric contract for arguments of a dtype."""
        return self.near if isinstance(self.near, str) else (self.near or NEAR)[dtype]


def drawn_row(draw: random.Random, row: Row) -> Drawing:
    """The arguments of one call."""
    drawing = Drawing(draw, draw.choice(row.dtypes), draw.choice(row.styles))
    for name, kind in row.arguments.items():
        drawing.values[name] = kind(drawing)
    return drawing


def tensor(
    c: ApiAuthor, draw: random.Random, value: np.ndarray, feeds: Feeds, *, is_static: bool
) -> Symbol:
    """Record a tensor that holds the array: a constant, or a placeholder that is fed it.

    Args:
      c: the author of the case.
      draw: chooses how.
      value: the array.
      feeds: pairs of a placeholder and what it is fed; this one's is added.
      is_static: whether its shape is to be known while the graph is built.

    """
    row = row_of_numpy(value.dtype)
    assert row is not None
    dtype = getattr(c.tf, row.name)
    ways = ("constant", "known") if is_static else ("constant", "known", "known", "partly")
    way = draw.choice(ways)
    if way == "constant":
        return c.tf.constant(value, dtype)
    shape = [n if way == "known" or draw.random() < 0.5 else None for n in value.shape]
    placeholder = c.tf.placeholder(dtype, shape)
    feeds.append((placeholder, value))
    return placeholder


def _argument(
    c: ApiAuthor, draw: random.Random, value: Any, feeds: Feeds, *, is_static: bool
) -> Recordable:
    if isinstance(value, np.ndarray):
        return tensor(c, draw, value, feeds, is_static=is_static)
    if isinstance(value, Slices):
        rows = tensor(c, draw, value.values, feeds, is_static=is_static)
        return c.tf.IndexedSlices(
            rows, c.tf.constant(value.indices), c.tf.constant(list(value.shape), c.tf.int64)
        )
    if isinstance(value, list) and any(isinstance(x, np.ndarray | Slices) for x in value):
        return [_argument(c, draw, item, feeds, is_static=is_static) for item in value]
    return named(c, value.path) if isinstance(value, Name) else value


def named(c: ApiAuthor, path: str) -> Symbol:
    """The symbol of a public name."""
    symbol = c.tf
    for part in path.split("."):
        symbol = getattr(symbol, part)
    return symbol


def items(count: int) -> Fetched:
    """What is fetched of a result whose first items are values, and others may be None."""

    def fetched(_: ApiAuthor, result: Symbol, __: Drawing) -> list[Symbol]:
        return [result[index] for index in range(count)]

    return fetched


def case_of_row(draw: random.Random, id_: str, row: Row) -> Case:
    """A case: the row's function on drawn arguments, in a run, against the oracle."""
    drawing = drawn_row(draw, row)
    feeds: Feeds = []
    c = ApiAuthor()
    arguments = {
        name: _argument(c, draw, value, feeds, is_static=row.is_static)
        for name, value in drawing.values.items()
    }
    result = named(c, row.function)(**arguments)
    fetched = result if row.fetched is None else row.fetched(c, result, drawing)
    c.static_types_as_by_oracle(fetched, row.static_clause)
    clause = row.clause if isinstance(row.clause, str) else row.clause(drawing)
    run(c, fetched, feeds, row.contract(drawing.dtype))
    c.blame(clause)
    title = f"{row.function} of {drawing.style} numbers in {drawing.dtype} gives what it says."
    return c.case(id_, title)


def run(c: ApiAuthor, fetched: Recordable, feeds: Feeds, contract: str) -> None:
    """Record a run in a session of its own, compared with the oracle's."""
    session = c.tf.Session()
    c.against_oracle(session.run(fetched, dict(feeds)), contract)
