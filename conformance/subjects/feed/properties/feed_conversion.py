"""Feed conversion: kinds of values fed to placeholders of every dtype, against the feed table."""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping
from typing import Any, Final

from sessrun.conformance.authoring.forms import Matcher
from sessrun.conformance.authoring.record import ApiAuthor, Symbol
from sessrun.conformance.property import prop
from sessrun.spec.cases.model import Case
from sessrun.spec.feeds import FeedCell, FeedRow, load_feed_table
from sessrun.spec.releases import newest_named

_CLAUSE: Final = "FEED-063"
#: How many values a case feeds, all to placeholders of one dtype.
_VALUES: Final = 20
#: In so many cases are only values of which every release makes what the table says.
_OF_ANY_RELEASE: Final = 0.75
#: The rows of the table of which numpy 1, below TensorFlow 2.16 and 2.17, makes something else
#: for some dtype: ints and complex numbers beyond the dtype, texts for bool, what is cut off.
_OF_NUMPY_2: Final = """
    complex-0+1j complex-1+0j complex-1+2j complex-1e40+1j complex-nan+1j fixed-bytes
    fixed-bytes-0d fixed-bytes-digits fixed-bytes-nul fixed-str fixed-str-0d fixed-str-digits
    fixed-str-nul float--1.0 float--1.5 float--128.9 float-255.9 float-300.7 float-3e9
    float-480.0 float-5e9 float-65519.0 float-65520.0 int-1e39 int-1e400 int-2049
    int-2p24-plus-1 int-2p31 int-2p31-minus-1 int-2p32 int-2p32-minus-1 int-2p40
    int-2p53-plus-1 int-2p63 int-2p63-minus-1 int-2p64 int-2p64-minus-1 int-32767 int-65519
    int-65520 int-65535 int-65536 int-neg-1e39 int-neg-2p31 int-neg-2p31-plus-1 int-neg-2p63
    int-neg-2p63-plus-1 int-neg-32769 list-complex list-float-300.7 list-float-3e9
    list-int-128 list-int-256 list-int-2p24-plus-1 list-int-2p31 list-int-2p32 list-int-2p63
    list-int-300 list-int-complex list-int-neg-1 objects-int-300 objects-lists scalar-bytes
    scalar-str scalar-str-digits str-negative str-too-big str-underscored variable-str
"""


@prop("feed-conversion", _CLAUSE, weight=2)
def feed_conversion(draw: random.Random, id_: str) -> Case:
    """Values of every kind become the tensors that the feed table gives, or are refused."""
    dtype = draw.choice(list(_steady()))
    rows, release = _steady()[dtype], {"numpy": 2}
    if draw.random() < _OF_ANY_RELEASE:
        rows, release = [row for row in rows if _is_of_any_release(row)], {}
    c = ApiAuthor()
    sess = c.tf.Session()
    p = c.tf.placeholder(c.tf.as_dtype(dtype), name=dtype)
    node = p, c.tf.identity(p)
    for _ in range(_VALUES):
        row = draw.choice(rows)
        _feed(c, sess, node, row, row.cells[dtype])
    sess.close()
    title = "A fed value becomes what the feed table says of its kind."
    return c.case(id_, title, (_CLAUSE,), release=release)


@functools.cache
def _steady() -> Mapping[str, list[FeedRow]]:
    """For each dtype the rows of the table that do not vary for it."""
    table = load_feed_table()
    rows = {
        dtype: [row for row in table.rows.values() if row.cells[dtype].varies is None]
        for dtype in table.dtypes
    }
    return {dtype: steady for dtype, steady in rows.items() if steady}


def _is_of_any_release(row: FeedRow) -> bool:
    """Whether the dtype of the value is old enough, and numpy 1 converts the value alike."""
    return row.id not in _OF_NUMPY_2.split() and not newest_named(row.form)


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
