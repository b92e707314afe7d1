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
#: How many values a case feeds, all to placeholders of one dtype.
_VALUES: Final = 20
#: What numpy made of values before it had version 2 the table does not say.
_RELEASE: Final = {"numpy": 2}


@prop("feed-conversion", _CLAUSE, weight=2)
def feed_conversion(draw: random.Random, id_: str) -> Case:
    """Values of every kind become the tensors that the feed table gives, or are refused."""
    dtype = draw.choice(list(_steady()))
    c = ApiAuthor()
    sess = c.tf.Session()
    p = c.tf.placeholder(c.tf.as_dtype(dtype), name=dtype)
    node = p, c.tf.identity(p)
    for _ in range(_VALUES):
        row = draw.choice(_steady()[dtype])
        _feed(c, sess, node, row, row.cells[dtype])
    sess.close()
    title = "A fed value becomes what the feed table says of its kind."
    return c.case(id_, title, (_CLAUSE,), release=_RELEASE)


@functools.cache
def _steady() -> Mapping[str, list[FeedRow]]:
    """For each dtype the rows of the table that do not vary for it."""
    table = load_feed_table()
    rows = {
        dtype: [row for row in table.rows.values() if row.cells[dtype].varies is None]
        for dtype in table.dtypes
    }
    return {dtype: steady for dtype, steady in rows.items() if steady}


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
