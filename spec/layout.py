"""How JSON that people compare is written: a value on one line where it fits, else an item a line.

So a node of a graph or a step of a case mostly is one line, and a difference between two commits
shows the nodes and steps that changed. Indented throughout, the vectors took half as many bytes
again and fifteen times as many lines, most of which held one bracket.
"""

from __future__ import annotations

import json
from typing import Final

__all__ = ["laid_out"]

#: The columns that a value with its indentation may take on one line.
_COLUMNS: Final = 140


def laid_out(form: object, *, indent: int = 0, after: int = 0) -> str:
    """The JSON text of `form`, without a newline at its end.

    Args:
      form: what `json.dumps` takes.
      indent: the columns by which the items of an object or array that does not fit are indented,
        less one.
      after: the columns that its line needs for more than the value: a key, a comma.

    """
    line = json.dumps(form, ensure_ascii=False, separators=(",", ":"))
    if indent + after + len(line) <= _COLUMNS or not isinstance(form, dict | list) or not form:
        return line
    if isinstance(form, dict):
        keys = [json.dumps(key, ensure_ascii=False) + ":" for key in form]
        items = [
            key + laid_out(item, indent=indent + 1, after=len(key) + 1)
            for key, item in zip(keys, form.values(), strict=True)
        ]
    else:
        items = [laid_out(item, indent=indent + 1, after=1) for item in form]
    margin = "\n" + " " * indent
    first, last = "{}" if isinstance(form, dict) else "[]"
    return f"{first}{margin} " + f",{margin} ".join(items) + f"{margin}{last}"
