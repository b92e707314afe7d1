"""The matrix in `docs/feeds.md`: what a selection of dtypes makes of each kind of fed value.

Written by `feed_probe` from `spec/feed_table.json`; a test compares the two.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from sessrun.spec import tensors
from sessrun.spec.feeds import TABLE_PATH, FeedCell, FeedRow, load_feed_table

__all__ = ["BEGIN", "COLUMNS", "END", "MANUAL_PATH", "manual", "matrix"]

MANUAL_PATH: Final = TABLE_PATH.resolve().parents[1] / "docs" / "feeds.md"
BEGIN: Final = "<!-- matrix: written by python -m sessrun.spec.tables.feed_probe -->\n"
END: Final = "<!-- end of the matrix -->\n"

#: One dtype of each group that behaves alike.
COLUMNS: Final = (
    "float32",
    "float16",
    "bfloat16",
    "float8_e4m3fn",
    "complex64",
    "int32",
    "uint8",
    "int4",
    "bool",
    "string",
    "qint8",
)
_ERRORS: Final = {
    "TypeError": "T",
    "ValueError": "V",
    "OverflowError": "O",
    "InternalError": "I",
    "UnicodeDecodeError": "U",
}
_ALIAS: Final = {"same": "=", "shared": "~", None: ""}
_WIDEST: Final = 22


def manual(path: Path = MANUAL_PATH) -> str:
    """The text of the page with a newly generated matrix.

    Raises:
      ValueError: the page has not the two lines between which the matrix stands.

    """
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{path} lacks the marks of its matrix")
    return before + begin + "\n" + matrix() + "\n" + end + after


def matrix() -> str:
    """The matrix as a table of Markdown: a line for each kind of value shown."""
    head = ["fed value", *(f"`{name}`" for name in COLUMNS)]
    lines = [_line(head), _line(["---"] * len(head))]
    lines += [_line(_texts(row)) for row in load_feed_table().rows.values() if _shown(row)]
    return "".join(lines)


def _shown(row: FeedRow) -> bool:
    """Whether the page shows a row: of arrays, only those of one dimension."""
    return not (row.id.startswith("array-") and row.id.endswith(("-0d", "-2d")))


def _texts(row: FeedRow) -> list[str]:
    return [_code(row.title), *(_text(row.cells[name]) for name in COLUMNS)]


def _line(texts: list[str]) -> str:
    return f"| {' | '.join(texts)} |\n"


def _text(cell: FeedCell) -> str:
    """A letter for an error, the elements of a tensor, and the marks of the legend."""
    mark = "*" if cell.varies else ""
    if cell.error is not None:
        return f"**{_ERRORS.get(cell.error, cell.error)}**{mark}"
    assert cell.tensor is not None
    return _code(_elements(tensors.decode(cell.tensor))) + _ALIAS[cell.alias] + mark


def _elements(array: np.ndarray) -> str:
    if array.ndim > 4:
        return f"shape {array.shape[0]}x…"
    if array.size == 0:
        return f"shape {'x'.join(map(str, array.shape))}"
    text = _nested(array.tolist() if array.dtype.names is None else array.astype("i8").tolist())
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def _nested(value: Any) -> str:
    if isinstance(value, list):
        return f"[{' '.join(map(_nested, value))}]"
    return f"{value:.4g}" if isinstance(value, float | complex) else str(value)


def _code(text: str) -> str:
    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    return f"`{shown}`".replace("|", "\\|")
