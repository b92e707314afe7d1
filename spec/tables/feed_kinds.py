"""The values whose feeding `feed_probe` observes: id, title and expression of each kind.

The expressions are of the case language (`spec/cases/expressions.py`), so that a case can feed
what the table was measured with. Ids are stable: other files cite them.
"""

from __future__ import annotations

from sessrun.spec.tables.feed_expressions import Kind
from sessrun.spec.tables.numpy_feeds import numpy_values
from sessrun.spec.tables.python_feeds import python_values

__all__ = ["Kind", "kinds"]


def kinds() -> list[Kind]:
    """Every kind of value, in the table's order; the ids are unique."""
    return [*python_values(), *numpy_values()]
