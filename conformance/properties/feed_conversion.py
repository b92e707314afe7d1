"""Feed conversion: kinds of values fed to placeholders of every dtype, against the feed table."""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping
from typing import Any, Final

from sessrun.conformance.authoring.forms import Matcher
from sessrun.conformance.authoring.record import ApiAuthor, Symbol
from sessrun.conformance.properties import prop
from sessrun.spec.cases.model import Case
from sessrun.spec.feeds import FeedCell, FeedRow, load_feed_table

_CLAUSE: Final = "FEED-063"
#: How many pairs of a value and a dtype a case feeds.
_PAIRS: Final = 20


@prop("feed-conversion", _CLAUSE, weight=2)
def feed_conversion(draw: random.Random, id_: str) -> Case:
    """Values of every kind become the tensors that the feed table gives, or are refused."""
    c = ApiAuthor()
    sess = c.tf.Session()
    nodes: dict[str, tuple[Symbol, Symbol]] = {}
    for _ in range(_PAIRS):
        row, dtypes = draw.choice(_steady())
        dtype = draw.choice(dtypes)
        if dtype not in nodes:
            p = c.tf.placeholder(c.tf.as_dtype(dtype), name=dtype)
            nodes[dtype] = p, c.tf.identity(p)
        _feed(c, sess, nodes[dtype], row, row.cells[dtype])
    sess.close()
    return c.case(id_, "A fed value becomes what the feed table says of its kind.", (_CLAUSE,))


@functools.cache
def _steady() -> list[tuple[FeedRow, list[str]]]:
    """The rows of the table, each with the dtypes for which it does not vary."""
    rows = [
        (row, [dtype for dtype, cell in row.cells.items() if cell.varies is None])
        for row in load_feed_table().rows.values()
    ]
    return [(row, dtypes) for row, dtypes in rows if dtypes]


def _feed(
    c: ApiAuthor, sess: Symbol, node: tuple[Symbol, Symbol], row: FeedRow, cell: FeedCell
) -> None:
    """Record a run that feeds the row's value and expects what the cell says."""
    p, y = node
    # The table writes a value as an expression of the case language: it is taken as it stands.
    feeds = {p: Symbol(c, row.form)}
    if cell.tensor is None:
        c.raises(str(cell.error), lambda: sess.run(y, feeds))
    else:
        c.check(sess.run(y, feeds), _tensor(cell.tensor))


def _tensor(form: Mapping[str, Any]) -> Matcher:
    """A matcher of the tensor; a string scalar comes back as bytes."""
    if form["dtype"] == "string" and not form["shape"]:
        return Matcher({"$bytes": form["data"][0]})
    return Matcher({"as_array": {"$array": dict(form)}})
