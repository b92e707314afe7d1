"""Text that a backend controls, made fit to be shown: no control characters, nothing invisible."""

from __future__ import annotations

import json
import unicodedata
from typing import Any, Final

from sessrun.spec import tensors

__all__ = ["number", "printable", "shortened", "utf8", "value_text"]

#: Kinds of characters that are shown as an escape: control, format (which turns the direction
#: of reading), surrogate, private, unassigned, line and paragraph separators.
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
#: How deep a value is shown, and how many elements of a tensor.
_DEPTH: Final = 40
_ELEMENTS: Final = 16


def printable(text: object, keep: str = "\n") -> str:
    r"""The text with every invisible or controlling character as `\xNN` or `\uNNNN`.

    Args:
      text: anything; what is no string is turned into one.
      keep: control characters that stay.

    """
    return "".join(
        char if char in keep or unicodedata.category(char) not in _HIDDEN else _escape(char)
        for char in str(text)
    )


def _escape(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


def shortened(text: object, limit: int) -> str:
    """The printable text in one line, cut to `limit` characters with `…` where it was longer.

    In one line, or a name could bring a line that looks like our own: a verdict, say.
    """
    clean = printable(str(text)[: limit + 1], keep="")
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def utf8(text: str) -> bytes:
    """The text in UTF-8, half a surrogate pair as an escape, which JSON reads back as it was."""
    return text.encode("utf-8", "backslashreplace")


def value_text(value: Any, limit: int = 600) -> str:
    """A JSON value as text for people, tensors decoded (`int32[2] (1, 2)`); empty for None."""
    return "" if value is None else shortened(_readable(value, 0), limit)


def _readable(value: Any, depth: int) -> str:
    if depth > _DEPTH:
        return "…"
    if isinstance(value, list):
        return f"[{', '.join(_readable(item, depth + 1) for item in value)}]"
    if not isinstance(value, dict):
        return value if depth == 0 and isinstance(value, str) else json.dumps(value)
    if len(value) == 1:
        ((key, body),) = value.items()
        if key in {"$array", "$scalar"}:
            return _tensor_text(body)
        if key.startswith("$"):
            return f"{key[1:]} {_readable(body, depth + 1)}"
    pairs = (f"{key}: {_readable(item, depth + 1)}" for key, item in value.items())
    return f"{{{', '.join(pairs)}}}"


def _tensor_text(form: Any) -> str:
    try:
        flat = tensors.decode(form).reshape(-1)
    except (tensors.TensorError, RecursionError):
        return "(no tensor)"
    items = ", ".join(str(item) for item in flat[:_ELEMENTS].tolist())
    more = f", … {flat.size - _ELEMENTS} more" if flat.size > _ELEMENTS else ""
    return f"{form['dtype']}{form['shape']} ({items}{more})"


def number(count: int, singular: str, plural: str | None = None) -> str:
    """`1 case`, `2 cases`."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"
